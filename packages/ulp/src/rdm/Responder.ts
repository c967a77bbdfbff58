import type { EfaRdmAtomic, EfaRdmRead, EfaRdmWrite } from "@rdmakit/wire/efa-rdm"
import { applyAtomic, atomicBytes, isAtomic } from "./Atomics.ts"
import type { Peer } from "./Peer.ts"
import type { Rdm } from "./Rdm.ts"
import { AtomicReceipt, WriteTake } from "./RemoteReceive.ts"
import { ATOMIC_RESPONSE_BYTES, AtomicAnswer, ReadAnswer } from "./RemoteSend.ts"
import { resolveTargets, TARGETS_MAX, targetBytes } from "./Targets.ts"

/**
 * Does what peers ask of this side's memory. Each call is false when there is no room for an answer. What may not be done
 * is counted, and not answered: version 4 has no packet for that.
 */
export class Responder {
  private readonly rdm: Rdm

  constructor(rdm: Rdm) {
    this.rdm = rdm
  }

  write(peer: Peer, write: EfaRdmWrite, payload: Uint8Array): boolean {
    const { rdm } = this
    const into = resolveTargets(rdm.settings.memory, write.targets, "write")
    if (into === undefined) {
      rdm.counters.accessRefused++
      return true
    }
    const isWhole = write.protocol === "eager"
    const bytes = isWhole ? BigInt(payload.length) : write.messageBytes
    const sources = write.protocol === "longRead" ? write.sources : undefined
    const readable = sources === undefined || (sources.length <= TARGETS_MAX && targetBytes(sources) === bytes)
    if (bytes !== BigInt(into.bytes) || payload.length > into.bytes || !readable) {
      rdm.counters.malformed++
      return true
    }
    if (rdm.incoming.full) return false
    new WriteTake(rdm, peer, into, write.cqData).begin(write, payload)
    return true
  }

  read(peer: Peer, read: EfaRdmRead): boolean {
    const { rdm } = this
    const data = resolveTargets(rdm.settings.memory, read.targets, "read")
    if (data === undefined) {
      rdm.counters.accessRefused++
      return true
    }
    if (read.messageBytes !== BigInt(data.bytes) || (data.bytes > 0 && read.windowBytes === 0)) {
      rdm.counters.malformed++
      return true
    }
    if (rdm.outgoing.full) return false
    new ReadAnswer(rdm, peer, data, read.receiveId, read.windowBytes)
    return true
  }

  /** An atomic whose turn it is. */
  readonly atomic = (peer: Peer, atomic: EfaRdmAtomic, payload: Uint8Array): boolean => {
    const { rdm } = this
    const { datatype, operation, protocol } = atomic
    const memory = resolveTargets(rdm.settings.memory, atomic.targets, "atomic")
    if (memory === undefined) {
      rdm.counters.accessRefused++
      return true
    }
    const { bytes } = memory
    const compares = protocol === "compare"
    const isSound =
      isAtomic(protocol, datatype, operation) &&
      bytes % atomicBytes(datatype)! === 0 &&
      payload.length === (compares ? 2 : 1) * bytes &&
      bytes + ATOMIC_RESPONSE_BYTES <= rdm.settings.mtuBytes
    if (!isSound) {
      rdm.counters.malformed++
      return true
    }
    if (protocol !== "write" && rdm.outgoing.full) return false
    if (atomic.deliveryComplete && rdm.incoming.full) return false
    const before = new Uint8Array(bytes)
    memory.take(0, bytes, before, 0)
    const after = before.slice()
    applyAtomic(datatype, operation, after, payload.subarray(0, bytes), compares ? payload.subarray(bytes) : undefined)
    memory.put(0, after)
    if (atomic.protocol !== "write") new AtomicAnswer(rdm, peer, before, atomic.receiveId)
    else if (atomic.deliveryComplete) new AtomicReceipt(rdm, peer, atomic.sendId, atomic.messageId)
    return true
  }
}
