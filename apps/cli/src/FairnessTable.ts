import { type HostFairness, receiverNames } from "@rdmakit/scenario"
import { grouped } from "./Figures.ts"
import { tableLines } from "./Table.ts"

/** As programs read it: times in seconds. */
export const fairnessJson = (hosts: ReadonlyArray<HostFairness>) =>
  hosts.map(({ convergencePs, ...rest }) => ({
    ...rest,
    convergenceSeconds: convergencePs === null ? null : convergencePs / 1e12,
  }))

/** With more links than this the summary has them, and the terminal does not. */
const TOLD_HOSTS = 4

const HEAD = [
  { header: "to host" },
  { header: "flows" },
  { header: "Jain's index" },
  { header: "least" },
  { header: "converged in, us" },
]

/** A line for each link to a host that flows shared, if there are few: where all meet, or in some places. */
export const fairnessLines = (
  hosts: ReturnType<typeof fairnessJson>,
  columns: number,
  bold: (text: string) => string,
): ReadonlyArray<string> => {
  if (hosts.length === 0 || hosts.length > TOLD_HOSTS) return []
  const names = receiverNames(hosts)
  const cells = hosts.map(({ flows, meanIndex, leastIndex, convergenceSeconds }, row) => [
    names[row]!,
    grouped(flows),
    meanIndex.toFixed(3),
    leastIndex.toFixed(3),
    convergenceSeconds === null ? "-" : (convergenceSeconds * 1e6).toFixed(1),
  ])
  return ["", bold("Fairness among flows to one host"), ...tableLines(HEAD, cells, { columns, header: bold })]
}
