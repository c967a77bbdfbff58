/** The page that shows a run; apart from the rest, so that what draws it is loaded only where it is used. */
export { type ReportInput, reportPage } from "./results/report/Page.ts"
