/** Results as Parquet; apart from the rest, so that the writer is loaded only where it is used. */
export { flowsParquet } from "./results/flowsParquet.ts"
