import type { Packet } from "@rdmakit/packet"
import type { Engine, FlowCommand, FlowEvent, Time } from "@rdmakit/protocol"
import { describe, expect, it } from "vitest"
import { type End, randomPath, runRandomFlows, SeededDraws } from "../src/index.ts"
import { StopAndWait } from "./StopAndWait.ts"

/** Stop and wait as one end of a flow. */
const flowOf = (inner: StopAndWait): Engine<FlowCommand, FlowEvent> => {
  const sizes = new Map<number, number>()
  let time = 0
  return {
    get nextSend() {
      return inner.nextSend
    },
    get nextTimeout() {
      return inner.nextTimeout
    },
    command: (now, { message, writeBytes }) => {
      sizes.set(message, writeBytes)
      inner.command(now, { message, bytes: writeBytes })
    },
    pollTransmit: (now, out) => inner.pollTransmit(now, out),
    handlePacket: (now, packet) => {
      time = now
      inner.handlePacket(now, packet)
    },
    handleTimeout: (now) => inner.handleTimeout(now),
    pollEvent: () => {
      const ended = inner.pollEvent()
      if (ended === undefined) return undefined
      const bytes = sizes.get(ended.message)!
      return { type: ended.completed ? "completed" : "failed", time, message: ended.message, bytes }
    },
  }
}

/** What is wrong with random messages over a network of 1 µs that duplicates every packet. */
const faults = (make: () => StopAndWait): string => {
  const inner = [make(), make()] as const
  return runRandomFlows({
    draws: new SeededDraws(1, 0),
    ends: [flowOf(inner[0]), flowOf(inner[1])],
    path: () => [1e6, 2e6],
    sizes: [0, 1, 1000],
    received: (end: End) => inner[end].received,
  }).join("\n")
}

describe("random flows find", () => {
  it("nothing wrong with the simplest transport", () => {
    expect(faults(() => new StopAndWait())).toBe("")
  })

  it("bytes that are taken in twice", () => {
    class Greedy extends StopAndWait {
      override handlePacket(now: Time, packet: Packet): void {
        if (packet.psn < this.expected) this.received += packet.payloadBytes
        super.handlePacket(now, packet)
      }
    }
    expect(faults(() => new Greedy())).toMatch(/sent \d+ bytes, and \d+ were taken in/)
  })

  it("messages that nobody is told of", () => {
    class Silent extends StopAndWait {
      override pollEvent() {
        super.pollEvent()
        return super.pollEvent()
      }
    }
    expect(faults(() => new Silent())).toMatch(/told \[.*\], expected \[/)
  })

  it("a contract that is broken", () => {
    class Stuck extends StopAndWait {
      override get nextSend(): Time {
        return this.number > 0 ? 0 : super.nextSend
      }
    }
    expect(faults(() => new Stuck())).toMatch(/yet at \d+ ps it sends nothing/)
  })
})

it("a seed's network is the same each time, and loses what it is told to", () => {
  const crossing = {
    from: 0,
    time: 1e12,
    ordinal: 0,
    opcode: 0,
    meta: 0,
    psn: 0,
    payloadBytes: 0,
    wireBytes: 0,
    stamp: 0,
  }
  const fates = (seed: number): ReadonlyArray<number> => {
    const path = randomPath(new SeededDraws(seed, 9))
    return Array.from({ length: 1000 }, () => path(crossing as never).length)
  }
  expect(fates(3)).toEqual(fates(3))
  const lost = Array.from({ length: 50 }, (_, seed) => fates(seed).filter((copies) => copies === 0).length)
  // One way loses none, 1 in 1000, 1 in 100, 1 in 10, or 3 in 10.
  expect(Math.min(...lost)).toBe(0)
  expect(Math.max(...lost)).toBeGreaterThan(200)
  expect(Math.max(...lost)).toBeLessThan(400)
})
