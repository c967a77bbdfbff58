import type { SendWork } from "@rdmakit/device"
import { type Completion, WcOpcode, WcStatus, WrOpcode } from "@rdmakit/protocol"
import { Effect } from "effect"
import { type Complaints, fillPattern, nextOf, type Side, sameOctets, sgeOf, statusName } from "./Ends.ts"
import { isAtomic, type Kind, MESSAGE_BYTES, type Step, type StreamPlan, takesReceive } from "./Plan.ts"

const opcodes: Readonly<Record<Kind, WrOpcode>> = {
  send: WrOpcode.Send,
  sendImm: WrOpcode.SendWithImm,
  write: WrOpcode.RdmaWrite,
  writeImm: WrOpcode.RdmaWriteWithImm,
  read: WrOpcode.RdmaRead,
  add: WrOpcode.AtomicFetchAndAdd,
  swap: WrOpcode.AtomicCmpAndSwp,
  atomicWrite: WrOpcode.AtomicWrite,
}
const completedAs: Readonly<Record<Kind, WcOpcode>> = {
  send: WcOpcode.Send,
  sendImm: WcOpcode.Send,
  write: WcOpcode.RdmaWrite,
  writeImm: WcOpcode.RdmaWrite,
  read: WcOpcode.RdmaRead,
  add: WcOpcode.FetchAdd,
  swap: WcOpcode.CompSwap,
  atomicWrite: WcOpcode.AtomicWrite,
}

/** Where the areas of one side begin. A side's own steps take octets from `out` and bring them to `land`. */
export interface Areas {
  readonly out: number
  readonly land: number
  /** The peer writes here, and reads there. */
  readonly in: number
  readonly far: number
  /** Two words of 8 octets: one that the peer adds to, one that it swaps. */
  readonly words: number
  readonly slots: number
  readonly bytes: number
}

export const areasOf = (own: StreamPlan, peer: StreamPlan): Areas => {
  const out = 0
  const land = out + own.areaBytes
  const into = land + own.areaBytes
  const far = into + peer.areaBytes
  const words = far + peer.areaBytes
  const slots = words + 16
  return { out, land, in: into, far, words, slots, bytes: slots + peer.receiveSlots * MESSAGE_BYTES }
}

/** One direction of a connection: who sends, who receives, and what. */
export interface Direction {
  readonly name: string
  readonly plan: StreamPlan
  readonly one: Side
  readonly other: Side
  readonly from: Areas
  readonly to: Areas
  readonly isReliable: boolean
  /** What comes comes once, and in order. */
  readonly inOrder: boolean
  readonly seed: number
}

const octetsOf = ({ memory }: Side): Uint8Array => memory.allocation.octets
const viewOf = (side: Side): DataView => new DataView(octetsOf(side).buffer)

/** Octets that are sent, and that are read. */
export const prepare = ({ plan, one, other, from, to, isReliable, seed }: Direction): void => {
  fillPattern(octetsOf(one), seed, from.out, plan.areaBytes)
  fillPattern(octetsOf(other), ~seed, to.far, plan.areaBytes)
  if (isReliable) return
  for (const [index, { place }] of plan.steps.entries()) viewOf(one).setUint32(from.out + place, index)
}

/** What the words that are added to and swapped hold before each step. */
const wordsBefore = (steps: ReadonlyArray<Step>): ReadonlyArray<{ readonly sum: bigint; readonly swapped: bigint }> => {
  let sum = 0n
  let swapped = 0n
  return steps.map(({ kind, amount, matches }, index) => {
    const before = { sum, swapped }
    if (kind === "add") sum = BigInt.asUintN(64, sum + (amount << 17n))
    if (kind === "swap" && matches) swapped = BigInt(index + 1) << 33n
    return before
  })
}

const workOf = (direction: Direction, index: number, signaled: boolean): SendWork => {
  const { plan, one, other, from, to, isReliable } = direction
  const step = plan.steps[index]!
  const { kind, bytes, place, cuts, fence, solicited, amount, matches } = step
  const local = isAtomic(kind) || kind === "read" ? from.land : from.out
  const peer = other.memory.allocation.address
  const word = kind === "add" ? to.words : kind === "swap" ? to.words + 8 : undefined
  const remote = word ?? (kind === "read" ? to.far : to.in) + place
  let cut = local + place
  const source =
    kind === "atomicWrite" || cuts === undefined
      ? { sges: [], inline: octetsOf(one).slice(from.out + place, from.out + place + bytes) }
      : {
          sges: cuts.map((length) => {
            const sge = sgeOf(one, cut, length)
            cut += length
            return sge
          }),
        }
  return {
    id: index,
    opcode: opcodes[kind],
    signaled,
    solicited,
    fence: fence && isReliable,
    remoteAddress: peer + remote,
    remoteKey: other.memory.mr.rkey,
    ...source,
    ...(kind === "sendImm" || kind === "writeImm" ? { immediate: isReliable ? step.immediate : index } : {}),
    ...(kind === "add" ? { compareAdd: amount << 17n } : {}),
    ...(kind === "swap" ? swapOf(plan.steps, index, matches) : {}),
  }
}

const swapOf = (steps: ReadonlyArray<Step>, index: number, matches: boolean) => {
  const { swapped } = wordsBefore(steps)[index]!
  return { compareAdd: matches ? swapped : swapped + 1n, swap: BigInt(index + 1) << 33n }
}

/** Posts the steps as there is room, and takes the completions of those that have one. */
export const sending = (direction: Direction, complaints: Complaints): Effect.Effect<void> =>
  Effect.gen(function* () {
    const { plan, one, name } = direction
    const { steps, sendDepth } = plan
    const expected: Array<number> = []
    let retired = 0
    let lastSignaled = -1
    const take = Effect.map(nextOf(one.sendCq), (completion) => {
      const index = expected.shift()
      checkSent(direction, completion, index, complaints)
      retired = completion.id + 1
    })
    for (const [index, step] of steps.entries()) {
      if (step.pauseNs > 0) yield* Effect.sleep(`${step.pauseNs} nanos`)
      while (index - retired >= sendDepth) yield* take
      const isSignaled = step.signaled || index - lastSignaled >= sendDepth || index === steps.length - 1
      if (isSignaled) {
        lastSignaled = index
        expected.push(index)
      }
      one.qp.postSend(workOf(direction, index, isSignaled))
    }
    while (expected.length > 0) yield* take
    complaints.expect(one.qp.engine.sendOutstanding === 0, () => `${name}: sends are left when all have completed`)
  })

const checkSent = (
  { name, plan }: Direction,
  completion: Completion,
  index: number | undefined,
  complaints: Complaints,
) => {
  const { id, status, opcode, byteLength } = completion
  complaints.expect(id === index, () => `${name}: send ${id} completed, expected ${index}`)
  const step = plan.steps[id]
  complaints.expect(status === WcStatus.Success, () => `${name}: send ${id} (${step?.kind}): ${statusName(status)}`)
  if (step === undefined || status !== WcStatus.Success) return
  complaints.expect(opcode === completedAs[step.kind], () => `${name}: send ${id} (${step.kind}) has opcode ${opcode}`)
  const carries = step.kind === "read" || step.kind === "add" || step.kind === "swap"
  complaints.expect(!carries || byteLength === step.bytes, () => `${name}: ${step.kind} ${id} has ${byteLength} bytes`)
}

/** What the receiving half of a stream has done. */
export interface Receipts {
  /** Receives posted, and those that have completed. */
  posted: number
  completed: number
}

/**
 * Posts receives, of which there are a few more than what comes, and takes what comes. Of a reliable stream it ends with
 * the last; what is not reliable goes on until it is interrupted.
 */
export const receiving = (direction: Direction, receipts: Receipts, complaints: Complaints): Effect.Effect<void> =>
  Effect.gen(function* () {
    const { plan, other, isReliable, inOrder, name } = direction
    const wanted = plan.steps.flatMap((step, index) => (takesReceive(step.kind) ? [index] : []))
    if (plan.receivesLateNs > 0) yield* Effect.sleep(`${plan.receivesLateNs} nanos`)
    if (other.shared === undefined) for (let slot = 0; slot < plan.receiveSlots; slot++) postSlot(direction, receipts)
    let last = -1
    for (let at = 0; at < wanted.length || !isReliable; at++) {
      const completion = yield* nextOf(other.recvCq)
      const { id, status } = completion
      receipts.completed++
      complaints.expect(status === WcStatus.Success, () => `${name}: receive ${id}: ${statusName(status)}`)
      if (other.shared === undefined) {
        complaints.expect(
          id === receipts.completed - 1,
          () => `${name}: receive ${id}, expected ${receipts.completed - 1}`,
        )
      }
      const index = isReliable ? wanted[at]! : stepOf(direction, completion)
      complaints.expect(
        (index > last || !inOrder) && wanted.includes(index),
        () => `${name}: message ${index} came after ${last}`,
      )
      last = index
      checkReceived(direction, completion, index, complaints)
      if (other.shared === undefined) postSlot(direction, receipts)
      else other.shared.post(id)
    }
  })

const postSlot = ({ plan, other, to }: Direction, receipts: Receipts): void => {
  const id = receipts.posted++
  const at = to.slots + (id % plan.receiveSlots) * MESSAGE_BYTES
  const cut = id % 3 === 0 ? 1000 : MESSAGE_BYTES
  const sges = [sgeOf(other, at, cut), sgeOf(other, at + cut, MESSAGE_BYTES - cut)]
  other.qp.postRecv({ id, sges })
}

/** Where a receive's octets lie. */
const slotOf = ({ plan, other, to }: Direction, id: number): readonly [Uint8Array, number] =>
  other.shared === undefined
    ? [octetsOf(other), to.slots + (id % plan.receiveSlots) * MESSAGE_BYTES]
    : [other.shared.memory.allocation.octets, id * other.shared.slotBytes]

/** Which message of what is not reliable has come: it says so itself. */
const stepOf = (direction: Direction, { id, immediate }: Completion): number => {
  if (immediate !== undefined) return immediate
  const [octets, at] = slotOf(direction, id)
  return new DataView(octets.buffer).getUint32(octets.byteOffset + at)
}

const checkReceived = (direction: Direction, completion: Completion, index: number, complaints: Complaints): void => {
  const { plan, one, from, isReliable, name } = direction
  const step = plan.steps[index]
  if (step === undefined || completion.status !== WcStatus.Success) return
  const { kind, bytes, place, immediate } = step
  const what = `${name}: ${kind} ${index}`
  const isWrite = kind === "writeImm"
  const expected = kind === "send" ? undefined : isReliable ? immediate : index
  complaints.expect(
    completion.byteLength === bytes,
    () => `${what} came with ${completion.byteLength} bytes, not ${bytes}`,
  )
  complaints.expect(completion.immediate === expected, () => `${what} came with immediate ${completion.immediate}`)
  const opcode = isWrite ? WcOpcode.RecvRdmaWithImm : WcOpcode.Recv
  complaints.expect(completion.opcode === opcode, () => `${what} came with opcode ${completion.opcode}`)
  if (isWrite) return
  const [octets, at] = slotOf(direction, completion.id)
  complaints.expect(sameOctets(octets, at, octetsOf(one), from.out + place, bytes), () => `${what}: wrong octets`)
}

/** Compares what the steps have left in both memories with what they should have. */
export const checkMemory = (direction: Direction, complaints: Complaints): void => {
  const { plan, one, other, from, to, isReliable, name } = direction
  const { steps, areaBytes } = plan
  const written = new Uint8Array(areaBytes)
  const landed = new Uint8Array(areaBytes)
  const words = wordsBefore(steps)
  for (const [index, { kind, bytes, place }] of steps.entries()) {
    const out = octetsOf(one).subarray(from.out + place, from.out + place + bytes)
    if (kind === "write" || kind === "writeImm" || kind === "atomicWrite") written.set(out, place)
    if (kind === "read") landed.set(octetsOf(other).subarray(to.far + place, to.far + place + bytes), place)
    if (kind === "add") new DataView(landed.buffer).setBigUint64(place, words[index]!.sum, true)
    if (kind === "swap") new DataView(landed.buffer).setBigUint64(place, words[index]!.swapped, true)
  }
  complaints.expect(sameOctets(octetsOf(one), from.land, landed, 0, areaBytes), () => `${name}: wrong octets came back`)
  const there = octetsOf(other).subarray(to.in, to.in + areaBytes)
  complaints.expect(
    isReliable
      ? sameOctets(there, 0, written, 0, areaBytes)
      : there.every((octet, at) => octet === 0 || octet === written[at]),
    () => `${name}: wrong octets were written`,
  )
}
