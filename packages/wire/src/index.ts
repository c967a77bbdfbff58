export type { Field, FieldValue, Layout, View } from "./Layout.ts"
export { EmitError } from "./Octets.ts"
export type { Failed, Parse, Parsed, Result, What, WireError } from "./Result.ts"
export { formatError } from "./Result.ts"
