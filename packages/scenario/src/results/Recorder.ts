import type { Run, Watch, World } from "@rdmakit/fabric"
import { Histogram, type PauseTime, TimeSeries } from "@rdmakit/metrics"
import { type FlowEngine, NEVER, type Time } from "@rdmakit/protocol"
import { pauseTimeOf, startOf } from "./linkFigures.ts"

export interface RecorderOptions {
  /** Between samples, ps, at first: it doubles when there are more samples or rows than are kept. Default 100 ns. */
  readonly period?: Time
  /** Samples that are kept. Default 1,024. */
  readonly samplesMax?: number
  /** Rows that are kept, of flows and of queues: one for each at each sample. Default 2^18. */
  readonly rowsMax?: number
}

const PERIOD_PS = 100_000
const SAMPLES_MAX = 1024
const ROWS_MAX = 2 ** 18
/** Queue lengths are kept to 1 %. */
const DIGITS = 2

/**
 * Records what a report shows of a run as it goes: rates and windows of the flows under way, the queues of switches,
 * pauses. It looks at the run between events and changes nothing about it. While no flow is under way it does not look,
 * so times are those of traffic, and memory is bounded however long the run is.
 */
export class Recorder implements Watch {
  next: Time
  /** Between two samples now, ps. */
  period: Time
  /** By flow: rate its controller is set to (bit/s) and window (bytes, Infinity without one). */
  readonly flows: TimeSeries
  /** By port of a switch: bytes waiting, PFC frames apart. Ports where nothing waits have no row. */
  readonly queues: TimeSeries
  /** Under key 0: time that all ports together have been paused so far, ps. */
  readonly paused: TimeSeries
  /** For how long the queue of any one switch port was how long. */
  readonly queueBytes = new Histogram(DIGITS)
  /** For how long the longest queue of all was how long. */
  readonly longestBytes = new Histogram(DIGITS)
  /** Longest queue seen at each port, bytes. */
  readonly peakBytes: Float64Array
  readonly pauses: PauseTime
  readonly world: World
  /** When the first flow starts, ps: samples are taken at whole periods after it. */
  readonly start: Time
  private readonly switchPorts: ReadonlyArray<number>
  private readonly underWay: Array<number> = []
  private nextFlow = 0

  /** Watches a run that has not made its first step. */
  constructor(run: Run, options: RecorderOptions = {}) {
    const { world } = run
    const { samplesMax = SAMPLES_MAX, rowsMax = ROWS_MAX } = options
    this.world = world
    this.period = options.period ?? PERIOD_PS
    this.start = startOf(world)
    this.next = world.flows.count > 0 ? this.start + this.period : NEVER
    this.flows = new TimeSeries({ columns: 2, samplesMax, rowsMax })
    this.queues = new TimeSeries({ columns: 1, samplesMax, rowsMax })
    this.paused = new TimeSeries({ columns: 1, samplesMax, rowsMax })
    this.peakBytes = new Float64Array(world.ports.count)
    this.pauses = pauseTimeOf(world)
    this.switchPorts = Array.from({ length: world.ports.count }, (_, port) => port).filter(
      (port) => world.nic(world.ports.node[port]!) === undefined,
    )
    run.watch(this)
  }

  look(now: Time): void {
    const { flows, world } = this
    const { created, start, count } = world.flows
    while (this.nextFlow < count && created[this.nextFlow] !== NEVER) this.underWay.push(this.nextFlow++)
    this.forgetEnded()
    if (this.underWay.length === 0) {
      this.next = this.nextFlow < count ? this.gridAfter(Math.max(now, start[this.nextFlow]!)) : NEVER
      return
    }
    flows.begin(now)
    for (const flow of this.underWay) {
      const endpoint = world.endpoints.at(2 * flow) as FlowEngine | undefined
      if (endpoint !== undefined) flows.add(flow, endpoint.controller.rate, endpoint.controller.window)
    }
    this.lookAtQueues(now)
    this.paused.begin(now)
    this.paused.add(0, world.kernel.pauses.pauses === 0 ? 0 : world.kernel.pauses.totalPs(now))
    if (flows.full || this.queues.full) this.thin()
    this.next = this.gridAfter(now)
  }

  private forgetEnded(): void {
    const { underWay, world } = this
    let kept = 0
    for (const flow of underWay) if (world.isUnderWay(flow)) underWay[kept++] = flow
    underWay.length = kept
  }

  private lookAtQueues(now: Time): void {
    const { kernel } = this.world
    const { queues, switchPorts, period } = this
    queues.begin(now)
    let longest = 0
    let waiting = 0
    if (kernel.waiting > 0) {
      for (const port of switchPorts) {
        const all = kernel.queueBytes(port)
        if (all === 0) continue
        const bytes = all - kernel.queueBytesOf(port, 0)
        if (bytes === 0) continue
        waiting++
        queues.add(port, bytes)
        this.queueBytes.record(bytes, period)
        if (bytes > this.peakBytes[port]!) this.peakBytes[port] = bytes
        if (bytes > longest) longest = bytes
      }
    }
    this.queueBytes.record(0, period * (switchPorts.length - waiting))
    this.longestBytes.record(longest, period)
  }

  private thin(): void {
    do {
      this.period *= 2
      for (const series of [this.flows, this.queues, this.paused]) series.thin(this.start, this.period)
    } while (this.flows.full || this.queues.full)
  }

  /** The first whole period after a moment. */
  private gridAfter(now: Time): Time {
    return this.start + (Math.floor((now - this.start) / this.period) + 1) * this.period
  }
}
