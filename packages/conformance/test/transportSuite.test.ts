import type { Packet } from "@rdmakit/packet"
import { NEVER, type Time } from "@rdmakit/protocol"
import { describe, expect, it } from "vitest"
import { ContractViolation, type TransportExpectations, transportChecks, transportSuite } from "../src/index.ts"
import { type Ended, type Send, StopAndWait } from "./StopAndWait.ts"

const underTest = (make: () => StopAndWait) => ({
  name: "stop and wait",
  connect: () => [make(), make()] as const,
  send: (message: number, bytes: number): Send => ({ message, bytes }),
  outcome: (event: Ended) => event,
  received: (end: StopAndWait) => end.received,
})

const expectations: TransportExpectations = { failsWithinPs: 1e9 }

transportSuite(
  underTest(() => new StopAndWait()),
  expectations,
)

/** What the suite finds wrong, all messages together. */
const faults = (make: () => StopAndWait, expected = expectations): string =>
  transportChecks(underTest(make), expected)
    .flatMap(({ run }) => {
      try {
        run()
        return []
      } catch (error) {
        expect(error).toBeInstanceOf(ContractViolation)
        return [(error as Error).message]
      }
    })
    .join("\n")

describe("the transport suite finds", () => {
  it("nothing wrong with the simplest transport", () => {
    expect(faults(() => new StopAndWait())).toBe("")
  })

  it("duplicates that are taken in", () => {
    class Greedy extends StopAndWait {
      override handlePacket(now: Time, packet: Packet): void {
        if (packet.psn < this.expected && packet.payloadBytes > 0) this.received += packet.payloadBytes
        super.handlePacket(now, packet)
      }
    }
    expect(faults(() => new Greedy())).toMatch(/the receiver counts \d+ bytes, but \d+ have reached it/)
  })

  it("messages that complete before they have arrived", () => {
    class Hasty extends StopAndWait {
      override pollTransmit(now: Time, packet: Packet): boolean {
        const sent = super.pollTransmit(now, packet)
        if (this.out) this.end(true)
        return sent
      }
    }
    expect(faults(() => new Hasty())).toMatch(/message \d+ completed, but of \d+ bytes the receiver has only \d+/)
  })

  it("events that have no end", () => {
    class Endless extends StopAndWait {
      override pollEvent(): Ended | undefined {
        return this.received > 0 ? { message: 0, completed: true } : super.pollEvent()
      }
    }
    expect(faults(() => new Endless())).toMatch(/at \d+ ps, its events have not come to an end/)
  })

  it("messages that end twice, or in another order", () => {
    class Twice extends StopAndWait {
      override end(completed: boolean): void {
        this.events.push({ message: this.queue[0]!.message, completed })
        super.end(completed)
      }
    }
    expect(faults(() => new Twice())).toMatch(/message 0 ended twice/)
    class Stack extends StopAndWait {
      override command(now: Time, command: Send): void {
        super.command(now, command)
        if (this.queue.length > 2) this.queue.splice(1, 0, this.queue.pop()!)
      }
    }
    expect(faults(() => new Stack())).toMatch(/messages ended in the order 0, 18, 17/)
    expect(faults(() => new Stack(), { ...expectations, ordered: false })).toBe("")
  })

  it("losses that are not made up for", () => {
    class Patient extends StopAndWait {
      override pollTransmit(now: Time, packet: Packet): boolean {
        const sent = super.pollTransmit(now, packet)
        this.nextTimeout = NEVER
        return sent
      }
    }
    expect(faults(() => new Patient(), {})).toMatch(/0 of 1 messages ended, then it fell silent/)
    expect(faults(() => new Patient(), { recovers: false })).toBe("")
  })

  it("packets sent before nextSend, or not at it", () => {
    class Early extends StopAndWait {
      override get nextSend(): Time {
        return this.queue.length > 0 && !this.out ? 3e12 : NEVER
      }
    }
    expect(faults(() => new Early())).toMatch(/nextSend is 3000000000000 ps, yet it sends data at 2000000000000 ps/)
    class Late extends StopAndWait {
      override pollTransmit(now: Time, packet: Packet): boolean {
        return this.number > 1 ? false : super.pollTransmit(now, packet)
      }
    }
    expect(faults(() => new Late())).toMatch(/nextSend is 0 ps, yet at 2\d+ ps it sends nothing/)
  })

  it("a packet that is touched but not sent", () => {
    class Nosy extends StopAndWait {
      override pollTransmit(now: Time, packet: Packet): boolean {
        packet.wireBytes = 64
        return super.pollTransmit(now, packet)
      }
    }
    expect(faults(() => new Nosy())).toMatch(/it sends nothing, yet the packet is touched/)
  })

  it("a cursor that is kept", () => {
    class Keeper extends StopAndWait {
      private kept: Packet | undefined
      override handlePacket(now: Time, packet: Packet): void {
        if (packet.payloadBytes !== 1000) super.handlePacket(now, packet)
        else this.kept = packet
      }
      override pollTransmit(now: Time, packet: Packet): boolean {
        const { kept } = this
        this.kept = undefined
        if (kept !== undefined) super.handlePacket(now, kept)
        return super.pollTransmit(now, packet)
      }
    }
    expect(faults(() => new Keeper())).not.toBe("")
  })

  it("timers that stand still, that are left on, that move when disturbed", () => {
    class Stuck extends StopAndWait {
      override handleTimeout(): void {}
    }
    expect(faults(() => new Stuck())).toMatch(/handleTimeout left nextTimeout at \d+ ps, now/)
    class On extends StopAndWait {
      override end(completed: boolean): void {
        super.end(completed)
        this.nextTimeout = 1e18
      }
      override handleTimeout(): void {
        this.nextTimeout = 1e18
      }
    }
    expect(faults(() => new On())).toMatch(/come to an end|nextTimeout/)
    class Nervous extends StopAndWait {
      override handleTimeout(now: Time): void {
        super.handleTimeout(Math.max(now, this.nextTimeout))
      }
    }
    expect(faults(() => new Nervous())).not.toBe("")
  })

  it("packets that leak", () => {
    class Leaky extends StopAndWait {
      override handlePacket(now: Time, packet: Packet): void {
        packet.detachTelemetry()
        super.handlePacket(now, packet)
      }
      override pollTransmit(now: Time, packet: Packet): boolean {
        const sent = super.pollTransmit(now, packet)
        if (sent) packet.addTelemetry()
        return sent
      }
    }
    expect(faults(() => new Leaky())).toMatch(/idle, \d+ telemetry blocks are still out/)
  })

  it("an end that is not reported, or not one", () => {
    expect(faults(() => new StopAndWait(), { failsWithinPs: 1e6 })).toMatch(/it took \d+ ps to report, more than/)
    class Undead extends StopAndWait {
      override command(_now: Time, command: Send): void {
        this.queue.push(command)
      }
    }
    expect(faults(() => new Undead())).toMatch(/it sends again, though it has reported/)
  })

  it("what differs from run to run", () => {
    let runs = 0
    class Moody extends StopAndWait {
      private readonly run = runs++
      override pollTransmit(now: Time, packet: Packet): boolean {
        const sent = super.pollTransmit(now, packet)
        if (sent) packet.wireBytes = 100 + this.run
        return sent
      }
    }
    expect(faults(() => new Moody())).toMatch(/two runs of the same input sent different packets|early timeouts/)
  })
})
