import type { AddressHandle as DeviceHandle } from "@rdmakit/device"
import { type AddressVector, type GidEntry, hasFields } from "@rdmakit/protocol"
import type { Effect } from "effect"
import type { DeviceState } from "./DeviceState.ts"
import { chooseGid, parseGid } from "./Gid.ts"
import { Lifetime } from "./Lifetime.ts"
import { type VerbsError, wrongType } from "./VerbsError.ts"

/** Where packets go (struct ibv_ah_attr). */
export interface Address {
  /** Of the peer, or of a multicast group: 16 octets, or text as `parseGid` reads it. */
  readonly gid: Uint8Array | string
  /** Default: what `chooseGid` finds for `gid`. */
  readonly sourceGidIndex?: number
  /** 8 bits, DSCP and ECN: 106 is DSCP 26 with ECT(0). Default 0. */
  readonly trafficClass?: number
  /** Routers that it may pass, and one: 1 reaches no other network. Default 64. */
  readonly hopLimit?: number
  /** 20 bits, of IPv6; it spreads flows. Default 0. */
  readonly flowLabel?: number
  /** Priority, 0 to 7. Default 0. */
  readonly serviceLevel?: number
  /** 1, the only one, is the default. */
  readonly port?: number
}

const HOP_LIMIT = 64

/** With everything that was left out. @throws VerbsError EINVAL for a text that is no GID, ENOENT when no GID of the port will do */
export const vectorOf = (
  address: Address,
  gids: ReadonlyArray<GidEntry>,
  verb = "create_ah",
  attribute = "address",
): AddressVector => {
  if (!hasFields(address)) throw wrongType(verb, attribute, address, "give { gid }, and what else differs")
  if (typeof address.gid !== "string" && !(address.gid instanceof Uint8Array))
    throw wrongType(verb, `${attribute}.gid`, address.gid, "give 16 octets, or text")
  const destinationGid = typeof address.gid === "string" ? parseGid(address.gid) : address.gid
  return {
    port: address.port ?? 1,
    sourceGidIndex: address.sourceGidIndex ?? chooseGid(gids, { peer: destinationGid }),
    destinationGid,
    trafficClass: address.trafficClass ?? 0,
    hopLimit: address.hopLimit ?? HOP_LIMIT,
    flowLabel: address.flowLabel ?? 0,
    serviceLevel: address.serviceLevel ?? 0,
  }
}

/** Where datagrams go (struct ibv_ah). It ends with its scope. */
export class AddressHandle {
  readonly handle: DeviceHandle
  readonly lifetime: Lifetime

  constructor(state: DeviceState, handle: DeviceHandle) {
    this.handle = handle
    this.lifetime = new Lifetime(state.lifetimes, () => handle.destroy())
  }

  /** As it was made, with everything that was left out. */
  get vector(): AddressVector {
    return this.handle.vector
  }

  /** Ends it before its scope does. */
  get destroy(): Effect.Effect<void, VerbsError> {
    return this.lifetime.end
  }
}
