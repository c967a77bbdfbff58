/** The page that shows a run, and what other pages are drawn with; apart from the rest, so that it is loaded only where it is used. */
export { type Axis, type ChartSpec, lineChart } from "./results/report/Chart.ts"
export type { Line, Point } from "./results/report/Figures.ts"
export { legendHtml, type ReportInput, reportPage, tableHtml } from "./results/report/Page.ts"
export { style } from "./results/report/style.ts"
export { escapeHtml, jsonForPage } from "./results/report/text.ts"
