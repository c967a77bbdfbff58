import type { Device } from "@rdmakit/device"
import { Access, QpState, WcOpcode, WcStatus, WrOpcode } from "@rdmakit/protocol"
import { Effect } from "effect"
import {
  type Complaints,
  connectSides,
  fillPattern,
  makeSide,
  nextOf,
  type Side,
  sameOctets,
  sgeOf,
  statusName,
  unmakeSide,
} from "./Ends.ts"
import type { WindowPlan } from "./Plan.ts"

const BYTES = 16_384
const nextKey = (key: number): number => ((key & 0xffffff00) | ((key + 1) & 0xff)) >>> 0

/**
 * A window is bound, written through, and made void by its owner or its user, round after round; then it is of no use.
 *
 * @param clean the network loses nothing
 */
export const runWindows = (
  plan: WindowPlan,
  devices: ReadonlyArray<Device>,
  clean: boolean,
  complaints: Complaints,
): Effect.Effect<void> =>
  Effect.gen(function* () {
    const options = { type: "rc", memoryBytes: BYTES, sendDepth: 4, receiveDepth: 4, shared: undefined } as const
    const user = makeSide(devices[plan.left]!, options)
    const owner = makeSide(devices[plan.right]!, options)
    connectSides(user, owner, { pathMtuBytes: 1024, gidIndex: 1, serviceLevel: 0, depth: 4 })
    fillPattern(user.memory.allocation.octets, plan.seed)
    const window = owner.pd.allocMw(2)
    const done = (side: Side, what: string) =>
      Effect.map(nextOf(side.sendCq), ({ status }) =>
        complaints.expect(status === WcStatus.Success, () => `window: ${what} ended with ${statusName(status)}`),
      )
    const write = (offset: number, bytes: number, remoteKey: number): void =>
      user.qp.postSend({
        id: 1,
        signaled: true,
        opcode: WrOpcode.RdmaWrite,
        sges: [sgeOf(user, offset, bytes)],
        remoteAddress: owner.memory.allocation.address + offset,
        remoteKey,
      })
    let key = window.rkey
    for (const [round, { bytes, end, pauseNs }] of plan.rounds.entries()) {
      const offset = round * 16
      key = nextKey(key)
      owner.qp.postSend({
        id: 2,
        signaled: true,
        opcode: WrOpcode.BindMw,
        sges: [],
        bind: {
          window,
          remoteKey: key,
          region: owner.memory.mr,
          address: owner.memory.allocation.address + offset,
          length: bytes,
          access: Access.RemoteWrite,
        },
      })
      yield* done(owner, "bind")
      if (pauseNs > 0) yield* Effect.sleep(`${pauseNs} nanos`)
      write(offset, bytes, key)
      yield* done(user, "write")
      const [ours, theirs] = [user.memory.allocation.octets, owner.memory.allocation.octets]
      complaints.expect(sameOctets(ours, offset, theirs, offset, bytes), () => `window: round ${round}: wrong octets`)
      if (end === "local") {
        owner.qp.postSend({ id: 3, signaled: true, opcode: WrOpcode.LocalInv, sges: [], invalidateKey: key })
        yield* done(owner, "local invalidate")
        continue
      }
      owner.qp.postRecv({ id: 4, sges: [] })
      user.qp.postSend({ id: 5, signaled: true, opcode: WrOpcode.SendWithInv, sges: [], invalidateKey: key })
      const { status, opcode, invalidatedKey } = yield* nextOf(owner.recvCq)
      complaints.expect(
        status === WcStatus.Success && opcode === WcOpcode.Recv && invalidatedKey === key,
        () => `window: receive with ${statusName(status)}, key ${invalidatedKey}, expected ${key}`,
      )
      yield* done(user, "send with invalidate")
    }
    write(0, 8, key)
    const { status: last } = yield* nextOf(user.sendCq)
    complaints.expect(
      last === WcStatus.RemAccessErr || (!clean && last === WcStatus.RetryExcErr),
      () => `window: write by a key that is void ended with ${statusName(last)}`,
    )
    complaints.expect(
      user.qp.state === QpState.Err && owner.qp.state === QpState.Err,
      () => "window: who is not in error?",
    )
    window.dealloc()
    unmakeSide(user)
    unmakeSide(owner)
  })
