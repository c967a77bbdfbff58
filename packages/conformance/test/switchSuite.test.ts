import { Ecn, type Packet } from "@rdmakit/packet"
import { Drop, type Switch } from "@rdmakit/protocol"
import { describe, expect, it } from "vitest"
import { type SwitchExpectations, type SwitchSetup, switchChecks, switchSuite } from "../src/index.ts"

/** Static thresholds: every (port, priority) pauses at 20,000 bytes and resumes at 10,000. */
class StaticSwitch implements Switch {
  readonly dequeue = "lazy"
  readonly perPacket = false
  protected readonly setup: SwitchSetup
  protected readonly held = new Map<number, number>()
  protected readonly paused = new Set<number>()

  constructor(setup: SwitchSetup) {
    this.setup = setup
  }
  route(_now: number, packet: Packet): number {
    const ports = this.setup.nextHops(packet.destination)
    return ports.length === 0 ? Drop.NoRoute : ports[packet.flow % ports.length]!
  }
  admit(now: number, packet: Packet, ingress: number, _egress: number): number {
    const queue = packet.priority
    const key = ingress * 8 + queue
    this.held.set(key, (this.held.get(key) ?? 0) + packet.wireBytes)
    if (this.held.get(key)! >= 20_000 && !this.paused.has(key)) {
      this.paused.add(key)
      this.setup.ports.sendPfc(now, ingress, queue, true)
    }
    return queue
  }
  dequeued(now: number, packet: Packet, _egress: number, queue: number): void {
    if (queue === 0) return
    const ingress = packet.ingressPort
    const key = ingress * 8 + queue
    this.held.set(key, this.held.get(key)! - packet.wireBytes)
    if (this.held.get(key)! <= 10_000 && this.paused.delete(key)) this.setup.ports.sendPfc(now, ingress, queue, false)
  }
}

switchSuite({ name: "a switch with static thresholds", make: (setup) => new StaticSwitch(setup) })

/** Names of the checks that a switch fails. */
const failed = (make: (setup: SwitchSetup) => Switch, expectations: SwitchExpectations = {}): ReadonlyArray<string> =>
  switchChecks({ name: "faulty", make }, expectations)
    .filter(({ run }) => {
      try {
        run()
        return false
      } catch {
        return true
      }
    })
    .map(({ name }) => name)

describe("the suite finds", () => {
  it("a route to a port that is no next hop", () => {
    class Astray extends StaticSwitch {
      override route(): number {
        return this.setup.portIds[0]!
      }
    }
    expect(failed((setup) => new Astray(setup))).toContain("routes to the next hops it was given, and to nothing else")
  })

  it("a flow that wanders", () => {
    class Wandering extends StaticSwitch {
      private turn = 0
      override route(_now: number, packet: Packet): number {
        const ports = this.setup.nextHops(packet.destination)
        return ports.length === 0 ? Drop.NoRoute : ports[this.turn++ % ports.length]!
      }
    }
    expect(failed((setup) => new Wandering(setup))).toEqual([
      "keeps a flow on its route, unless it says that it chooses for each packet",
    ])
  })

  it("bytes that are never given back", () => {
    class Leaking extends StaticSwitch {
      override dequeued(now: number, packet: Packet, egress: number, queue: number): void {
        super.dequeued(now, packet, egress, queue)
        const key = packet.ingressPort * 8 + queue
        if (queue !== 0) this.held.set(key, this.held.get(key)! + 1)
      }
    }
    expect(failed((setup) => new Leaking(setup))).toContain(
      "gives back every byte: the twentieth load meets the switch that the first one met",
    )
  })

  it("a pause without end", () => {
    class Deaf extends StaticSwitch {
      override dequeued(): void {}
    }
    // What it paused never moves again, so that nothing is left waiting but the neighbours.
    expect(failed((setup) => new Deaf(setup))).toContain("resumes whatever it paused")
  })

  it("a drop where there was room, and a reason that is none", () => {
    class Dropping extends StaticSwitch {
      private count = 0
      override admit(now: number, packet: Packet, ingress: number, egress: number): number {
        return this.count++ === 50 ? Drop.IngressFull : super.admit(now, packet, ingress, egress)
      }
    }
    class Nameless extends StaticSwitch {
      override admit(): number {
        return -9
      }
    }
    expect(failed((setup) => new Dropping(setup))).toContain("drops nothing while its headroom is enough")
    expect(failed((setup) => new Nameless(setup)).length).toBeGreaterThan(4)
  })

  it("marks on an idle network, pauses from a lossy switch, and a second pause in a row", () => {
    class Marking extends StaticSwitch {
      override dequeued(now: number, packet: Packet, egress: number, queue: number): void {
        packet.ecn = Ecn.Experienced
        super.dequeued(now, packet, egress, queue)
      }
    }
    class Stuttering extends StaticSwitch {
      override admit(now: number, packet: Packet, ingress: number, egress: number): number {
        this.paused.clear()
        return super.admit(now, packet, ingress, egress)
      }
    }
    expect(failed((setup) => new Marking(setup))).toEqual([
      "passes a lone packet on at once: no drop, no pause, no mark",
    ])
    expect(failed((setup) => new StaticSwitch(setup), { lossless: false })).toEqual([
      "drops when it is overloaded, and pauses nobody",
    ])
    expect(failed((setup) => new Stuttering(setup)).length).toBeGreaterThan(3)
  })

  it("chance that no seed rules", () => {
    let draws = 0
    class Moody extends StaticSwitch {
      override route(now: number, packet: Packet): number {
        return ++draws % 1000 === 0 ? Drop.NoRoute : super.route(now, packet)
      }
    }
    expect(failed((setup) => new Moody(setup))).toContain("does the same again when it is made again")
  })
})
