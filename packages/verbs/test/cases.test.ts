import { Layout } from "@rdmakit/packet"
import { MILLISECOND, SECOND, type Time } from "@rdmakit/units"
import { Effect, Exit } from "effect"
import { describe, expect, it } from "vitest"
import { statusName, type WorkError, WorkFailed } from "../src/index.ts"
import { end, pair, pattern } from "./ends.ts"
import { Loopback } from "./Loopback.ts"
import { resultOf, runProgram } from "./program.ts"

const together = { concurrency: "unbounded" } as const

/** Fails unless it is a request that failed. */
const failed = (error: WorkError): WorkFailed => {
  if (error instanceof WorkFailed) return error
  throw error
}

/** What a program saw, and when it ended. */
const timed = (program: Parameters<typeof resultOf>[0], network: Loopback): Time => {
  resultOf(program, { network })
  return network.now
}

describe("B19: RNR retries", () => {
  it("without end with 7: a receive that comes ten seconds late is in time", () => {
    const network = new Loopback()
    const program = Effect.gen(function* () {
      const { left, right } = yield* pair({ connect: { rnrRetry: 7, minRnrTimer: "491.52ms" } })
      const late = Effect.sleep("10 seconds").pipe(Effect.andThen(right.qp.receive(right.memory)))
      const [received] = yield* Effect.all([late, left.qp.send(left.memory.range(0, 8))], together)
      expect(received.byteLength).toBe(8)
      expect(left.qp.state).toBe("RTS")
    })
    expect(timed(program, network)).toBeGreaterThanOrEqual(10 * SECOND)
  })

  it("none with 0: the first RNR NAK is the end", () => {
    const program = Effect.gen(function* () {
      const { left, right } = yield* pair({ connect: { rnrRetry: 0, minRnrTimer: "10us" } })
      const error = failed(yield* Effect.flip(left.qp.send(left.memory.range(0, 8))))
      expect(error).toMatchObject({ status: "RNR_RETRY_EXC_ERR", operation: "send" })
      expect(error.message).toContain("the peer's receives, too few or too late")
      expect([left.qp.state, right.qp.state]).toEqual(["ERR", "RTS"])
    })
    resultOf(program)
  })

  it("counts those it was given", () => {
    const network = new Loopback()
    const program = Effect.gen(function* () {
      const { left } = yield* pair({ connect: { rnrRetry: 3, minRnrTimer: "1.28ms" } })
      expect(failed(yield* Effect.flip(left.qp.send([]))).status).toBe("RNR_RETRY_EXC_ERR")
    })
    const end = timed(program, network)
    expect(end).toBeGreaterThan(3 * 1.28 * MILLISECOND)
    expect(end).toBeLessThan(4 * 1.28 * MILLISECOND)
  })
})

describe("B20: the RNR timer", () => {
  /** How long a send takes whose receive comes after a tenth of a millisecond. */
  const latency = (minRnrTimer: string | { code: number }): Time =>
    timed(
      Effect.gen(function* () {
        const { left, right } = yield* pair({ connect: { minRnrTimer } })
        const late = Effect.sleep("100 micros").pipe(Effect.andThen(right.qp.receive()))
        yield* Effect.all([late, left.qp.send([])], together)
      }),
      new Loopback(),
    )

  it("is longest with code 0, and a time does what it says", () => {
    expect(latency({ code: 0 })).toBeGreaterThan(655 * MILLISECOND)
    expect(latency("10us")).toBeLessThan(0.13 * MILLISECOND)
    expect(latency({ code: 13 })).toBeGreaterThan(0.96 * MILLISECOND)
    expect(latency({ code: 13 })).toBeLessThan(0.98 * MILLISECOND)
  })
})

describe("B21: the local ACK timeout", () => {
  it("20 with 7 retries: a dead peer is told of after seven to eight intervals, 30 to 34 s", () => {
    const network = new Loopback({ fate: () => "lose" })
    const program = Effect.gen(function* () {
      const { left } = yield* pair({ connect: { timeout: { code: 20 }, retryCount: 7 } })
      const error = failed(yield* Effect.flip(left.qp.write(Uint8Array.of(1), { address: 0, rkey: 1 })))
      expect(error.status).toBe("RETRY_EXC_ERR")
      expect(error.message).toContain("nobody answers")
      expect(left.qp.state).toBe("ERR")
    })
    const end = timed(program, network)
    expect(end).toBeGreaterThanOrEqual(7 * 4.294967296 * SECOND)
    expect(end).toBeLessThanOrEqual(8.1 * 4.294967296 * SECOND)
  })

  it("0 is without end: nothing is ever sent again", () => {
    const network = new Loopback({ fate: () => "lose" })
    const program = Effect.gen(function* () {
      const { left } = yield* pair({ connect: { timeout: "never" } })
      const outcome = yield* left.qp.send([]).pipe(Effect.timeoutOption("1 hour"))
      expect(outcome._tag).toBe("None")
    })
    resultOf(program, { network })
    expect(network.sent).toBe(1)
  })
})

describe("B22: what may be changed in RTS", () => {
  it("the RNR timer, and not the ACK timeout", () =>
    resultOf(
      Effect.gen(function* () {
        const { left } = yield* pair()
        const error = yield* Effect.flip(left.qp.modify("RTS", { timeout: "134ms" }))
        expect(error).toMatchObject({ _tag: "VerbsError", errno: "EINVAL", verb: "modify_qp", attribute: "timeout" })
        yield* left.qp.modify("RTS", { minRnrTimer: "1.28ms" })
        expect(yield* left.qp.query).toMatchObject({
          minRnrTimer: { code: 14, text: "1.28ms" },
          timeout: { code: 14, text: "67.108864ms" },
        })
      }),
    ))
})

describe("B25: the hop limit", () => {
  const attempt = (hopLimit: number) =>
    Effect.gen(function* () {
      const { left, right } = yield* pair({ connect: { path: { hopLimit }, timeout: "1ms", retryCount: 2 } })
      return yield* left.qp.write(Uint8Array.of(1), right.memory)
    })

  it("1 reaches nobody behind a router: RETRY_EXC", () => {
    const program = Effect.flip(attempt(1)).pipe(
      Effect.map((error) => (error instanceof WorkFailed ? error.status : "")),
    )
    expect(resultOf(program, { routers: 1 })).toBe("RETRY_EXC_ERR")
  })
  it("2 does, and so does 1 on the same link", () => {
    resultOf(attempt(2), { routers: 1 })
    resultOf(attempt(1))
  })
})

describe("B28: an lkey in place of an rkey", () => {
  it("is refused by the peer, whatever the numbers", () =>
    resultOf(
      Effect.gen(function* () {
        const { left, right } = yield* pair()
        expect(right.memory.lkey).not.toBe(right.memory.rkey)
        const there = { address: right.memory.address, rkey: right.memory.lkey }
        const error = failed(yield* Effect.flip(left.qp.write(Uint8Array.of(1), there)))
        expect(error.status).toBe("REM_ACCESS_ERR")
        expect(error.message).toContain("the rkey (no lkey)")
        expect(right.qp.state).toBe("ERR")
        expect(right.memory.octets[0]).toBe(0)
      }),
    ))
})

describe("B30: remote writing without local writing", () => {
  it.each(["remote-write", "remote-atomic"] as const)("%s alone is EINVAL", (flag) =>
    resultOf(
      Effect.gen(function* () {
        const { domain } = yield* end(0)
        expect(yield* Effect.flip(domain.memory(64, [flag]))).toMatchObject({
          _tag: "VerbsError",
          errno: "EINVAL",
          verb: "reg_mr",
          attribute: "access",
        })
        yield* domain.memory(64, [flag, "local-write"])
      }),
    ),
  )
})

describe("B32: the order of flushing", () => {
  it("what follows the first error is flushed in order, and the diagnosis is the first that was not flushed", () =>
    resultOf(
      Effect.gen(function* () {
        const { left, right } = yield* pair()
        const { qp, memory, cq } = left
        const local = [memory.range(0, 4)]
        const good = { signaled: true, opcode: 0, sges: local, remoteKey: right.memory.rkey } as const
        const remoteAddress = right.memory.address
        qp.postSend({ ...good, id: 1, remoteAddress })
        qp.postSend({ ...good, id: 2, remoteAddress, remoteKey: right.memory.lkey })
        qp.postSend({ ...good, id: 3, remoteAddress, signaled: false })
        qp.postSend({ ...good, id: 4, remoteAddress })
        for (const id of [11, 12, 13]) qp.postReceive({ id, sges: local })
        const seen: Array<[number, string, number]> = []
        for (let count = 0; count < 7; count++) {
          const completion = yield* cq.next
          seen.push([completion.id, statusName(completion.status), completion.qpn])
        }
        const sends = seen.filter(([id]) => id < 10)
        expect(sends).toEqual([
          [1, "SUCCESS", qp.number],
          [2, "REM_ACCESS_ERR", qp.number],
          [3, "WR_FLUSH_ERR", qp.number],
          [4, "WR_FLUSH_ERR", qp.number],
        ])
        expect(seen.filter(([id]) => id > 10).map(([id, status]) => [id, status])).toEqual(
          [11, 12, 13].map((id) => [id, "WR_FLUSH_ERR"]),
        )
        // What is posted afterwards is flushed too.
        const later = failed(yield* Effect.flip(qp.send(local)))
        expect(later).toMatchObject({ status: "WR_FLUSH_ERR", diagnosis: "REM_ACCESS_ERR" })
        expect(later.message).toContain("REM_ACCESS_ERR")
      }),
    ))

  it("at the responder the asynchronous event says why", () =>
    resultOf(
      Effect.gen(function* () {
        const { left, right } = yield* pair()
        const bad = { address: right.memory.address, rkey: right.memory.rkey ^ 0xff }
        const [error] = yield* Effect.all(
          [Effect.flip(right.qp.receive(right.memory)), Effect.flip(left.qp.write(Uint8Array.of(1), bad))],
          together,
        )
        expect(error).toMatchObject({ status: "WR_FLUSH_ERR", diagnosis: "WR_FLUSH_ERR", event: "QP_ACCESS_ERR" })
        expect(failed(error).message).toContain("QP_ACCESS_ERR")
      }),
    ))
})

describe("packet sequence numbers and lengths", () => {
  it("B11: numbers wrap at 2^24, and more bits are cut off", () => {
    const seen: Array<number> = []
    const fate = (packet: { readonly psn: number; readonly opcode: number }) => {
      if (packet.opcode < 0x0d) seen.push(packet.psn)
      return "deliver" as const
    }
    const program = Effect.gen(function* () {
      const { left, right } = yield* pair({ left: { psn: 0x1fffffe }, connect: { pathMtuBytes: 1024 } })
      expect(left.qp.endpoint.psn).toBe(0xfffffe)
      left.memory.octets.set(pattern(4096))
      yield* left.qp.write(left.memory.range(0, 4096), right.memory)
      yield* left.qp.write(left.memory.range(0, 1), right.memory)
      expect(right.memory.octets.subarray(0, 4096)).toEqual(pattern(4096))
    })
    resultOf(program, { fate })
    expect(seen).toEqual([0xfffffe, 0xffffff, 0, 1, 2])
  })

  it("B12: no bytes need one packet, and no key", () => {
    let sent = 0
    const program = Effect.gen(function* () {
      const { left, right } = yield* pair()
      const nowhere = { address: 12345, rkey: 0xdead }
      yield* left.qp.write([], nowhere)
      yield* left.qp.read([], nowhere)
      const [received] = yield* Effect.all([right.qp.receive(), left.qp.send([])], together)
      expect(received.byteLength).toBe(0)
    })
    resultOf(program, {
      fate: ({ opcode }) => {
        if (opcode < 0x0d) sent++
        return "deliver"
      },
    })
    expect(sent).toBe(3)
  })

  it("B17: the traffic class is the one asked for", () => {
    const classes = new Set<number>()
    const program = Effect.gen(function* () {
      const { left, right } = yield* pair({ connect: { path: { trafficClass: 106 } } })
      yield* left.qp.write(Uint8Array.of(1), right.memory)
    })
    resultOf(program, {
      fate: ({ pool, extension }) => {
        classes.add(pool.extension[(extension << Layout.EXTENSION_SHIFT) + Layout.EXT.trafficClass]!)
        return "deliver"
      },
    })
    expect([...classes]).toContain(106)
  })
})

it("a SEND too long for its receive fails on both sides as it does with rxe", () =>
  resultOf(
    Effect.gen(function* () {
      const { left, right } = yield* pair()
      const [there, here] = yield* Effect.all(
        [
          Effect.flip(right.qp.receive(right.memory.range(0, 64))),
          Effect.flip(left.qp.send(left.memory.range(0, 2000))),
        ],
        together,
      )
      expect([failed(there).status, failed(here).status]).toEqual(["LOC_QP_OP_ERR", "REM_OP_ERR"])
      expect(failed(there).message).toContain("a receive too short for what came")
      expect([left.qp.state, right.qp.state]).toEqual(["ERR", "ERR"])
    }),
  ))

it("a program that fails gives back what it had", () => {
  const exit = runProgram(
    Effect.gen(function* () {
      const { left, right } = yield* pair()
      yield* left.qp.write(left.memory, { address: right.memory.address + 1, rkey: right.memory.rkey })
    }),
  )
  expect(Exit.isFailure(exit)).toBe(true)
})
