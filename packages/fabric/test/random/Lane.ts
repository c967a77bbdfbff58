import type { Device } from "@rdmakit/device"
import { QpState, WcStatus, WrOpcode } from "@rdmakit/protocol"
import { Effect, Fiber } from "effect"
import {
  type Complaints,
  connectSides,
  drained,
  makeSide,
  nextOf,
  type SharedSlots,
  type Side,
  sgeOf,
  statusName,
  unmakeSide,
} from "./Ends.ts"
import type { LanePlan, Poison } from "./Plan.ts"
import { areasOf, checkMemory, type Direction, prepare, type Receipts, receiving, sending } from "./Stream.ts"

/** What is not reliable has come by then, or never will. */
const LAST = "20 millis"

/**
 * Runs a lane to its end, and takes it apart.
 *
 * @param inOrder the network repeats and reorders nothing: what is not reliable comes at most once and in order as well
 * @param clean nor does it lose anything
 */
export const runLane = (
  plan: LanePlan,
  devices: ReadonlyArray<Device>,
  shared: ReadonlyMap<number, SharedSlots>,
  inOrder: boolean,
  clean: boolean,
  complaints: Complaints,
): Effect.Effect<void> =>
  Effect.gen(function* () {
    const { there, back, type, seed } = plan
    const isReliable = type === "rc"
    const common = { isReliable, inOrder: isReliable || inOrder }
    const from = areasOf(there, back)
    const to = areasOf(back, there)
    const make = (host: number, areas: typeof from, own: typeof there, peer: typeof there): Side =>
      makeSide(devices[host]!, {
        type,
        memoryBytes: areas.bytes,
        // Room for what ends it.
        sendDepth: own.sendDepth + 8,
        receiveDepth: peer.receiveSlots + 2,
        shared: plan.shared ? shared.get(host) : undefined,
      })
    const left = make(plan.left, from, there, back)
    const right = make(plan.right, to, back, there)
    connectSides(left, right, plan)
    const directions: ReadonlyArray<Direction> = [
      {
        name: `${type} ${left.qp.qpn}→${right.qp.qpn}`,
        plan: there,
        one: left,
        other: right,
        from,
        to,
        ...common,
        seed,
      },
      {
        name: `${type} ${right.qp.qpn}→${left.qp.qpn}`,
        plan: back,
        one: right,
        other: left,
        from: to,
        to: from,
        ...common,
        seed: seed + 1,
      },
    ]
    const receipts = directions.map((): Receipts => ({ posted: 0, completed: 0 }))
    for (const direction of directions) prepare(direction)
    const receivers = yield* Effect.forEach(directions, (direction, at) =>
      Effect.forkChild(receiving(direction, receipts[at]!, complaints)),
    )
    yield* Effect.forEach(directions, (direction) => sending(direction, complaints), { concurrency: 2, discard: true })
    if (isReliable) yield* Effect.forEach(receivers, Fiber.join, { discard: true })
    else {
      yield* Effect.sleep(LAST)
      yield* Effect.forEach(receivers, Fiber.interrupt, { discard: true })
    }
    for (const direction of directions) checkMemory(direction, complaints)
    if (plan.poison !== undefined) yield* endBadly(directions[0]!, plan.poison, receipts[0]!, clean, complaints)
    yield* endWell(directions, receipts, complaints)
    unmakeSide(left)
    unmakeSide(right)
  })

const expectedStatus: Readonly<Record<Poison["kind"], WcStatus>> = {
  rkey: WcStatus.RemAccessErr,
  bounds: WcStatus.RemAccessErr,
  lkey: WcStatus.LocProtErr,
  // As Linux's rxe, where the IBTA has an invalid request.
  long: WcStatus.RemOpErr,
  atomic: WcStatus.RemAccessErr,
}

/** A request that must fail, and others behind it that come back flushed. */
const endBadly = (
  { one, other, from, to, name }: Direction,
  { kind, behind }: Poison,
  receipts: Receipts,
  clean: boolean,
  complaints: Complaints,
): Effect.Effect<void> =>
  Effect.gen(function* () {
    // A peer that is in error says so once: where that is lost there is silence.
    const isLost = (status: WcStatus): boolean => !clean && kind !== "lkey" && status === WcStatus.RetryExcErr
    const sge = sgeOf(one, from.slots, kind === "atomic" ? 8 : 9000)
    const end = other.memory.allocation.address + to.bytes
    const { rkey } = other.memory.mr
    // Too long for any receive: those of a shared queue are as long as messages may be.
    const long = [sgeOf(one, 0, Math.min(from.bytes, 9000)), sgeOf(one, 0, Math.min(from.bytes, 9000))]
    one.qp.postSend({
      id: 1000,
      signaled: true,
      opcode:
        kind === "lkey" || kind === "long"
          ? WrOpcode.Send
          : kind === "atomic"
            ? WrOpcode.AtomicFetchAndAdd
            : WrOpcode.RdmaWrite,
      sges: kind === "long" ? long : [kind === "lkey" ? { ...sge, lkey: sge.lkey ^ 0x55 } : sge],
      remoteAddress: kind === "bounds" ? end - 100 : other.memory.allocation.address,
      remoteKey: kind === "bounds" ? rkey : rkey ^ 0x5500,
      compareAdd: 1n,
    })
    for (let id = 1001; id <= 1000 + behind; id++) {
      one.qp.postSend({ id, signaled: false, opcode: WrOpcode.Send, sges: [] })
    }
    for (let id = 1000; id <= 1000 + behind; id++) {
      const { id: got, status } = yield* nextOf(one.sendCq)
      const expected = id === 1000 ? expectedStatus[kind] : WcStatus.WrFlushErr
      complaints.expect(
        got === id && (status === expected || (id === 1000 && isLost(status))),
        () =>
          `${name}: ${kind}: send ${got} ended with ${statusName(status)}, expected ${id} with ${statusName(expected)}`,
      )
    }
    complaints.expect(
      one.qp.state === QpState.Err,
      () => `${name}: ${kind} left the requester in state ${one.qp.state}`,
    )
    const theirs = kind === "lkey" ? QpState.Rts : QpState.Err
    complaints.expect(other.qp.state === theirs, () => `${name}: ${kind} left the responder in state ${other.qp.state}`)
    if (kind !== "long") return
    const failed = yield* nextOf(other.recvCq)
    receipts.completed++
    complaints.expect(
      failed.status === WcStatus.LocQpOpErr,
      () => `${name}: the receive that was too short ended with ${statusName(failed.status)}`,
    )
  })

/** Both sides go to the error state: what is still posted comes back, each once and in order. */
const endWell = (
  directions: ReadonlyArray<Direction>,
  receipts: ReadonlyArray<Receipts>,
  complaints: Complaints,
): Effect.Effect<void> =>
  Effect.gen(function* () {
    for (const { one } of directions) one.qp.modify({ state: QpState.Err })
    yield* Effect.sleep("1 millis")
    for (const [at, { one, other, name }] of directions.entries()) {
      const sends = drained(other.sendCq)
      complaints.expect(sends.length === 0, () => `${name}: send ${sends[0]?.id} completed once more`)
      const { posted, completed } = receipts[at]!
      const flushed = drained(other.recvCq)
      if (other.shared !== undefined) {
        // One that a message was coming into, which came no further.
        const most = one.qp.type === "uc" ? 1 : 0
        complaints.expect(
          flushed.length <= most,
          () => `${name}: ${flushed.length} receives of the shared queue came back`,
        )
        for (const { id } of flushed) other.shared.post(id)
        continue
      }
      const expected = Array.from({ length: posted - completed }, (_, n) => completed + n)
      const statuses = new Set(flushed.map(({ status }) => statusName(status)))
      statuses.delete("WrFlushErr")
      complaints.expect(
        flushed.map(({ id }) => id).join() === expected.join() && statuses.size === 0,
        () => `${name}: receives ${flushed.map(({ id }) => id)} came back, expected ${expected}; ${[...statuses]}`,
      )
    }
  })
