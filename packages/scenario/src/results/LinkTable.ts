import type { Run, RunOutcome, World } from "@rdmakit/fabric"
import { linkUse, type PauseTime, quantile } from "@rdmakit/metrics"
import { bytesOnLink, pauseTimeOf, startOf } from "./linkFigures.ts"
import type { Recorder } from "./Recorder.ts"

const HEADER =
  "from,to,interface,rate_bps,sent_bytes,use_fraction,paused_ps,queue_p50_bytes,queue_p99_bytes,queue_max_bytes\n"
const PIECE_LINES = 10_000

/**
 * What each link of a run carried, each way apart. It hears of pauses as they happen, so it is made before the run's
 * first step; it changes nothing about the run.
 */
export class LinkTable {
  private readonly world: World
  private readonly recorder: Recorder | undefined
  private readonly pauses: PauseTime

  /** @param recorder of the same run, for its queues; without one the table has none */
  constructor({ world }: Run, recorder?: Recorder) {
    this.world = world
    this.recorder = recorder
    this.pauses = recorder?.pauses ?? pauseTimeOf(world)
  }

  /**
   * The table that `links.csv` holds, piece by piece, with units in its header: a line for each port, in the order of
   * the links, the end that was named first before the other.
   *
   * - `from`, `to`, `interface`: the node that sends, the one at the other end, and the port's number at the first,
   *   from 1 as in `queue.csv`.
   * - `sent_bytes`: bytes on the wire in the simulated time, from the first flow's start on; `use_fraction` what that
   *   is of what the link could have carried, 0 to 1, empty over no time.
   * - `paused_ps`: for how long at least one priority of the port was paused. Where copies of packets were on their way
   *   after the last flow's end, and pauses came, as much of it as fits into the simulated time.
   * - `queue_…_bytes`: bytes waiting at the port at the samples of the recorder, PFC frames apart: the nearest ranks
   *   of those that were kept, and the most of all that were taken. Empty at hosts, and where nothing was sampled.
   */
  *pieces({ simulatedPs }: RunOutcome): Generator<string> {
    const { world, pauses } = this
    const { ports } = world
    const end = startOf(world) + simulatedPs
    const queueCells = this.queueCells()
    yield HEADER
    for (let first = 0; first < ports.count; first += PIECE_LINES) {
      let piece = ""
      for (let port = first; port < Math.min(first + PIECE_LINES, ports.count); port++) {
        const rateBps = ports.rateBps[port]!
        const bytes = bytesOnLink(world, port, simulatedPs)
        const use = linkUse(bytes, rateBps, simulatedPs)
        const place = `${ports.node[port]},${ports.peerNode(port)},${ports.iface[port]}`
        const carried = `${rateBps},${bytes},${Number.isNaN(use) ? "" : use.toFixed(6)}`
        piece += `${place},${carried},${pauses.paused(port, end)},${queueCells(port)}\n`
      }
      yield piece
    }
  }

  /** The last three cells of a port's line. */
  private queueCells(): (port: number) => string {
    const { recorder, world } = this
    const samples = recorder?.queues.samples ?? 0
    if (recorder === undefined || samples === 0) return () => ",,"
    const { queues, peakBytes } = recorder
    const waiting = new Map<number, Array<number>>()
    for (let row = 0; row < queues.rows; row++) {
      const bytes = waiting.get(queues.keyOf(row))
      if (bytes === undefined) waiting.set(queues.keyOf(row), [queues.valueOf(row)])
      else bytes.push(queues.valueOf(row))
    }
    // Samples at which nothing waits have no row, and come first in order.
    const order = Float64Array.from({ length: samples }, (_, index) => index)
    const ranks = [0.5, 0.99].map((share) => quantile(order, share, "nearest-rank"))
    return (port) => {
      if (world.nic(world.ports.node[port]!) !== undefined) return ",,"
      const sorted = Float64Array.from(waiting.get(port) ?? []).sort()
      const empty = samples - sorted.length
      return [...ranks.map((rank) => (rank < empty ? 0 : sorted[rank - empty]!)), peakBytes[port]].join(",")
    }
  }
}
