// A scheduler of one's own: the queue pair that came first sends whenever it may, those behind it in its gaps.
// `nicSuite` says whether it keeps the contract.
import { HostNic, type NicQueuePair, NOWHERE } from "@rdmakit/nic"
import { NEVER, type Time } from "@rdmakit/protocol"

export class FirstComeNic<Command, Event> extends HostNic<Command, Event> {
  /** Queue pairs that have something to send, by port, in the order in which they came. */
  private readonly waiting: Array<Array<NicQueuePair<Command, Event>> | undefined> = []

  private at(port: number): Array<NicQueuePair<Command, Event>> {
    this.waiting[port] ??= []
    return this.waiting[port]
  }

  // Something happened to a queue pair: it comes, or goes. What is paced or waits for its window keeps its place.
  protected readonly touched = (_now: Time, endpoint: NicQueuePair<Command, Event>): void => {
    endpoint.rateChanged = false
    const list = this.at(endpoint.port)
    if (endpoint.place === NOWHERE && endpoint.hasData) {
      endpoint.place = 0
      list.push(endpoint)
    } else if (endpoint.place !== NOWHERE && !endpoint.hasData) {
      endpoint.place = NOWHERE
      list.splice(list.indexOf(endpoint), 1)
    }
  }

  // The port is free: the first that may send does. Else the port sleeps until the first pacing time.
  protected readonly pullData = (now: Time, port: number, paused: number): number => {
    let wake = NEVER
    for (const endpoint of this.at(port)) {
      if (!endpoint.hasData || endpoint.windowBound || ((paused >> endpoint.priority) & 1) !== 0) continue
      if (endpoint.paceTime > now) {
        wake = Math.min(wake, endpoint.paceTime)
        continue
      }
      const handle = this.take(now, endpoint)
      if (handle >= 0) return handle
    }
    if (wake < this.ports.wakeTime(port)) this.ports.wakeAt(port, wake)
    return -1
  }

  protected readonly dataQuiet = (port: number): boolean => this.at(port).length === 0

  // Links have changed: each queue pair is added anew, here or at another port.
  clear(port: number): void {
    for (const endpoint of this.at(port)) endpoint.place = NOWHERE
    this.waiting[port] = []
  }
}
