import { PacketPool } from "@rdmakit/packet"
import { type SendRequest, WcStatus, WrOpcode } from "@rdmakit/protocol"
import fc from "fast-check"
import { expect, it } from "vitest"
import type { VerbsOptions } from "../../src/index.ts"
import { BASE } from "./memory.ts"
import { type End, remote, sge, verbsPair, words } from "./pair.ts"

/*
 * Both ends' memories are laid out alike: what is sent from, what is received into, what is written to, what is read
 * from, what is read into, and the counter that atomics change.
 */
const SLOT = 1200
const SLOTS = 12
const area = (index: number): number => index * SLOT * SLOTS
const SOURCE = area(0)
const RECEIVED = area(1)
const WRITTEN = area(2)
const READ_FROM = area(3)
const READ_INTO = area(4)
const COUNTER = area(5)
const ORIGINALS = COUNTER + 64
const MEMORY = area(6)

interface Work {
  readonly kind: "send" | "sendImm" | "write" | "writeImm" | "read" | "add"
  readonly bytes: number
  readonly signaled: boolean
  readonly fence: boolean
}

const work: fc.Arbitrary<Work> = fc.record({
  kind: fc.constantFrom("send", "sendImm", "write", "writeImm", "read", "add"),
  bytes: fc.oneof(fc.constantFrom(0, 1, 256, 257, 512, 1200), fc.nat(SLOT)),
  signaled: fc.boolean(),
  fence: fc.boolean(),
})

/** What becomes of packets, in turn: lost, sent twice, overtaken, or on time. */
const fate = fc.oneof(
  { weight: 1, arbitrary: fc.constant<ReadonlyArray<number>>([]) },
  { weight: 1, arbitrary: fc.constant<ReadonlyArray<number>>([1e6, 3e6]) },
  { weight: 2, arbitrary: fc.nat(12).map((late): ReadonlyArray<number> => [1e6 + late * 5e5]) },
  { weight: 8, arbitrary: fc.constant<ReadonlyArray<number>>([1e6]) },
)

const receives = (kind: Work["kind"]): boolean => kind === "send" || kind === "sendImm" || kind === "writeImm"

const requestOf = ({ bytes, fence, kind, signaled }: Work, index: number): Partial<SendRequest> => {
  const slot = index * SLOT
  const from = {
    sges: [sge(SOURCE + slot, Math.min(7, bytes)), sge(SOURCE + slot + Math.min(7, bytes), bytes - Math.min(7, bytes))],
  }
  const common = { signaled, fence, immediate: 0x89ab_cd00 + index }
  if (kind === "send") return { ...common, ...from, opcode: WrOpcode.Send }
  if (kind === "sendImm") return { ...common, ...from, opcode: WrOpcode.SendWithImm }
  if (kind === "write") return { ...common, ...from, ...remote(WRITTEN + slot), opcode: WrOpcode.RdmaWrite }
  if (kind === "writeImm") return { ...common, ...from, ...remote(WRITTEN + slot), opcode: WrOpcode.RdmaWriteWithImm }
  if (kind === "read") {
    return { ...common, opcode: WrOpcode.RdmaRead, sges: [sge(READ_INTO + slot, bytes)], ...remote(READ_FROM + slot) }
  }
  return {
    ...common,
    opcode: WrOpcode.AtomicFetchAndAdd,
    compareAdd: 1n,
    sges: [sge(ORIGINALS + 8 * index, 8)],
    ...remote(COUNTER),
  }
}

/** Runs work of both ends over a bad network, and checks all of what came of it. */
const check = (
  works: readonly [ReadonlyArray<Work>, ReadonlyArray<Work>],
  fates: ReadonlyArray<ReadonlyArray<number>>,
  options: VerbsOptions,
  late: boolean,
  psn: number,
): void => {
  let turn = 0
  const losses = new Map<string, number>()
  const pool = new PacketPool()
  const { completions, ends, memories, pair, receive, send } = verbsPair({
    pool,
    options,
    memoryBytes: MEMORY,
    settings: { sendPsn: psn, receivePsn: psn },
    // Seven retries are not for ever: a packet is lost twice at most, and after a while the network is good.
    path: (crossing) => {
      const chosen = turn < 400 ? fates[turn++ % fates.length]! : [1e6]
      const lost = (losses.get(words(crossing)) ?? 0) + 1
      if (chosen.length > 0 || lost > 2) return chosen.length > 0 ? chosen : [1e6]
      losses.set(words(crossing), lost)
      return []
    },
  })
  const postReceives = (end: End): void => {
    works[end === 0 ? 1 : 0].forEach(({ kind }, index) => {
      if (receives(kind)) receive(end, sge(RECEIVED + index * SLOT, SLOT))
    })
  }
  for (const end of [0, 1] as const) {
    for (let index = 0; index < SLOTS; index++) {
      memories[end].paint(BASE + SOURCE + index * SLOT, SLOT, 10 * end + index)
      memories[end].paint(BASE + READ_FROM + index * SLOT, SLOT, 100 + 10 * end + index)
    }
    if (!late) postReceives(end)
  }
  const ids = works.map((list, end) => list.map((one, index) => send(end as End, requestOf(one, index))))
  if (late) {
    pair.run(5e6)
    postReceives(0)
    postReceives(1)
  }
  pair.run()

  for (const end of [0, 1] as const) {
    const peer = end === 0 ? 1 : 0
    const list = works[end]
    // Every signaled request completes once, in order; none fails.
    const sent = completions(end, "send")
    expect(sent.map(({ id }) => id)).toEqual(ids[end]!.filter((_, index) => list[index]!.signaled))
    expect(sent.every(({ status }) => status === WcStatus.Success)).toBe(true)
    expect(ends[end].sendOutstanding).toBe(0)
    expect(ends[end].receiveOutstanding).toBe(0)
    // Receives complete in the order of what fills them, with the right octets.
    const arrivals = list.flatMap((one, index) => (receives(one.kind) ? [{ ...one, index }] : []))
    expect(completions(peer, "receive").map(({ byteLength, immediate }) => [byteLength, immediate])).toEqual(
      arrivals.map(({ bytes, index, kind }) => [bytes, kind === "send" ? undefined : 0x89ab_cd00 + index]),
    )
    let adds = 0
    list.forEach(({ bytes, kind }, index) => {
      const slot = index * SLOT
      const source = memories[end].slice(BASE + SOURCE + slot, bytes)
      if (kind === "send" || kind === "sendImm") {
        expect(memories[peer].slice(BASE + RECEIVED + slot, bytes)).toEqual(source)
      } else if (kind === "write" || kind === "writeImm") {
        expect(memories[peer].slice(BASE + WRITTEN + slot, bytes)).toEqual(source)
      } else if (kind === "read") {
        const there = memories[peer].slice(BASE + READ_FROM + slot, bytes)
        expect(memories[end].slice(BASE + READ_INTO + slot, bytes)).toEqual(there)
      } else {
        // Carried out once, in order: it found what those before it had left.
        expect(memories[end].number(BASE + ORIGINALS + 8 * index)).toBe(BigInt(adds++))
      }
    })
    expect(memories[peer].number(BASE + COUNTER)).toBe(BigInt(adds))
    const atomics = memories[peer].touches.filter(({ what }) => what === "atomic")
    expect(atomics.length).toBe(adds)
  }
  expect(pool.alive).toBe(0)
  expect(pool.payloads.alive).toBe(0)
}

const list = fc.array(work, { maxLength: SLOTS })
const fates = fc.array(fate, { minLength: 1, maxLength: 60 })
const psn = fc.constantFrom(0, 0x100, 0xfffffd, 0xffffff)

it("whatever is lost, duplicated or overtaken: once, in order, the right octets, and nothing is left", () => {
  fc.assert(
    fc.property(
      list,
      list,
      fates,
      fc.boolean(),
      psn,
      fc.constantFrom(1, 3, 64),
      (one, other, way, late, first, every) => check([one, other], way, { ackEvery: every }, late, first),
    ),
    { numRuns: 300 },
  )
})

it("the same with end-to-end credits, few packets in flight and early retransmissions", () => {
  fc.assert(
    fc.property(list, list, fates, fc.boolean(), psn, (one, other, way, late, first) =>
      check(
        [one, other],
        way,
        { endToEndCredits: true, inFlightPackets: 3, earlyRetransmissionPs: 40e6, ackEvery: 2 },
        late,
        first,
      ),
    ),
    { numRuns: 200 },
  )
})

it("the same with selective repeat", () => {
  fc.assert(
    fc.property(list, list, fates, fc.boolean(), psn, fc.constantFrom(2, 8, 64), (one, other, way, late, first, most) =>
      check(
        [one, other],
        way,
        { recovery: "selective-repeat", inFlightPackets: most, reorderPackets: 64 },
        late,
        first,
      ),
    ),
    { numRuns: 300 },
  )
})
