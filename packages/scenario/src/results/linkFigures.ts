/** How what links carried is reckoned, for every result that shows it. */
import type { World } from "@rdmakit/fabric"
import { PauseTime } from "@rdmakit/metrics"
import type { Time } from "@rdmakit/protocol"

/** When the first flow starts, ps: simulated time is reckoned from there. */
export const startOf = ({ flows }: World): Time => (flows.count > 0 ? flows.start[0]! : 0)

/** For how long each port has been paused, from now on; made before the run's first step. */
export const pauseTimeOf = (world: World): PauseTime => {
  const { kernel, ports } = world
  const pauses = new PauseTime(ports.count, startOf(world))
  const { onPause } = kernel
  kernel.onPause = (now, port, priority, pause) => {
    onPause?.(now, port, priority, pause)
    pauses.change(now, port, priority, pause)
  }
  return pauses
}

/**
 * Bytes that a port put on its link until `elapsed` after the start. A kernel counts a packet when its first byte is
 * sent: what a run that was cut off has not sent of it yet is left out, and so is what no longer fits into a time after
 * which packets went on.
 */
export const bytesOnLink = (world: World, port: number, elapsed: Time): number => {
  const { kernel, ports } = world
  const end = startOf(world) + elapsed
  const bytesPerPs = ports.rateBps[port]! / 8e12
  const beyond = end >= kernel.now ? Math.max(0, kernel.sendingUntil(port) - end) : 0
  return Math.min(kernel.sentBytes(port) - Math.round(beyond * bytesPerPs), Math.floor(elapsed * bytesPerPs))
}
