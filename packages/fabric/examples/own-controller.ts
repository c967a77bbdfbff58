import { Fabric, simulateFlows, Topology } from "@rdmakit/fabric"
import { type Ack, type ControllerFactory, NEVER, type PathInfo } from "@rdmakit/protocol"
import { CongestionControl } from "@rdmakit/protocol/layer"
import { star } from "@rdmakit/topology"
import { formatTime } from "@rdmakit/units"
import { Effect, Layer } from "effect"

// Additive increase, multiplicative decrease, once a round trip: whether any packet of it met a congested queue.
class Aimd {
  readonly nextTimer = NEVER
  rate: number
  window: number
  private readonly path: PathInfo
  private marked = false
  private roundEnd = 0

  constructor(path: PathInfo) {
    this.path = path
    this.rate = path.lineRateBps
    this.window = path.windowBytes
  }

  onAck(_now: number, ack: Ack): boolean {
    this.marked ||= ack.congestion
    if (ack.sequence <= this.roundEnd) return false
    this.roundEnd = ack.sent
    const { mtuBytes, windowBytes, lineRateBps } = this.path
    this.window = this.marked ? Math.max(mtuBytes, this.window / 2) : Math.min(windowBytes, this.window + mtuBytes)
    this.rate = (lineRateBps * this.window) / windowBytes
    this.marked = false
    return true
  }

  onSent(): void {}
  onCnp = (): boolean => false
  onLoss = (): boolean => false
  onTimer = (): boolean => false
  metrics = (): Record<string, number> => ({ windowBytes: this.window })
}

const aimd: ControllerFactory = { name: "aimd", needs: ["ecn"], make: (_now, path) => new Aimd(path) }

// Sixteen hosts send a megabyte to the seventeenth.
const incast = Array.from({ length: 16 }, (_, source) => ({ source, destination: 16, size: "1MB" }))

const network = Fabric.layer.pipe(
  Layer.provide(Layer.succeed(CongestionControl, aimd)),
  Layer.provide(Layer.succeed(Topology, star(17, { rate: "100Gbps", delay: "1us" }))),
)

export const outcome = await Effect.runPromise(Effect.provide(simulateFlows(incast), network))

for (let flow = 0; flow < outcome.flows.count; flow++) {
  const slowdown = outcome.flows.completionTime(flow) / outcome.idealPs[flow]!
  console.log(`flow ${flow}: ${formatTime(outcome.flows.completionTime(flow))}, slowdown ${slowdown.toFixed(1)}`)
}
