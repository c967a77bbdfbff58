import { type AddressVector, type Completion, type PeerPath, shown } from "@rdmakit/protocol"
import { formatIpv4, formatIpv6, ipv4OfGid } from "@rdmakit/wire/address"
import type { DeviceCore } from "./DeviceCore.ts"
import { DeviceError } from "./DeviceError.ts"
import { checkFields, checkOctets } from "./Given.ts"
import type { ProtectionDomain } from "./ProtectionDomain.ts"

/** Paths kept for queue pairs that have sent by one handle. */
const PATHS_MAX = 64
const GRH_BYTES = 40

/** Where datagrams go (struct ibv_ah). */
export class AddressHandle {
  readonly pd: ProtectionDomain
  readonly vector: AddressVector
  private readonly core: DeviceCore
  private readonly path: PeerPath
  private readonly paths = new Map<number, PeerPath>()
  private alive = true

  constructor(core: DeviceCore, pd: ProtectionDomain, vector: AddressVector) {
    checkVector(core, "create_ah", "vector", vector)
    core.resources.claim("addressHandles", core.limits.maxAh, "create_ah")
    const path = core.world.resolve(vector, 0)
    if (path === undefined) {
      core.resources.free("addressHandles")
      throw unreachable("create_ah", "vector", vector)
    }
    this.core = core
    this.pd = pd
    this.vector = vector
    this.path = path
    core.handles.set(path.peer, (core.handles.get(path.peer) ?? 0) + 1)
    pd.retain()
  }

  /** Its path, for a queue pair whose packets choose their ways themselves. @throws DeviceError EINVAL when it is gone */
  get sharedPath(): PeerPath {
    this.refuseGone()
    return this.path
  }

  /** The path of a queue pair's datagrams. @throws DeviceError EINVAL when it is gone, EHOSTUNREACH */
  pathFor(qpn: number): PeerPath {
    this.refuseGone()
    let path = this.paths.get(qpn)
    if (path === undefined) {
      path = this.core.world.resolve(this.vector, qpn)
      if (path === undefined) throw unreachable("post_send", "datagram.address", this.vector)
      // The handle's own path holds the peer for all of them.
      this.core.world.release?.(path)
      if (this.paths.size >= PATHS_MAX) this.paths.clear()
      this.paths.set(qpn, path)
    }
    return path
  }

  /** @throws DeviceError EINVAL the second time */
  destroy(): void {
    if (!this.alive) {
      throw new DeviceError("EINVAL", "destroy_ah", undefined, "the handle is gone already", "destroy it once")
    }
    const { core, path } = this
    this.alive = false
    this.paths.clear()
    const left = core.handles.get(path.peer)! - 1
    if (left === 0) core.handles.delete(path.peer)
    else core.handles.set(path.peer, left)
    if (core.shared !== undefined) {
      core.shared.forget(core.world.now, path)
      core.world.kick(core.shared.carrier)
    }
    core.world.release?.(path)
    core.resources.free("addressHandles")
    this.pd.release()
  }

  private refuseGone(): void {
    if (this.alive) return
    throw new DeviceError(
      "EINVAL",
      "post_send",
      "datagram.address",
      "the handle is gone",
      "destroy it after its last send",
    )
  }
}

const addressText = (gid: Uint8Array): string => {
  const ipv4 = ipv4OfGid(gid)
  return ipv4 === undefined ? formatIpv6(gid) : formatIpv4(ipv4)
}

export const unreachable = (verb: string, attribute: string, vector: AddressVector): DeviceError =>
  new DeviceError(
    "EHOSTUNREACH",
    verb,
    attribute,
    `nobody can be at ${addressText(vector.destinationGid)}`,
    "check the address, and that it is of the same IP version as the source's",
  )

const isWithin = (value: number, most: number): boolean => Number.isInteger(value) && value >= 0 && value <= most

/** Refuses a vector that no packet could be made of. @throws DeviceError EINVAL */
export const checkVector = (core: DeviceCore, verb: string, attribute: string, vector: AddressVector): void => {
  const refuse = (field: string, problem: string, remedy: string): never => {
    throw new DeviceError("EINVAL", verb, `${attribute}.${field}`, problem, remedy)
  }
  checkFields(verb, attribute, vector, "give an address vector, with its destinationGid")
  if (vector.port !== 1) refuse("port", `there is no port ${shown(vector.port)}`, "say 1")
  if (!core.world.gids.some((entry) => entry.index === vector.sourceGidIndex)) {
    refuse("sourceGidIndex", `the port has no GID ${shown(vector.sourceGidIndex)}`, "take one of the GID table")
  }
  checkOctets(verb, `${attribute}.destinationGid`, vector.destinationGid, "give 16 octets")
  if (vector.destinationGid.length !== 16) refuse("destinationGid", `${vector.destinationGid.length} octets`, "give 16")
  if (!isWithin(vector.trafficClass, 0xff)) refuse("trafficClass", shown(vector.trafficClass), "give 8 bits")
  if (!isWithin(vector.hopLimit, 0xff)) refuse("hopLimit", shown(vector.hopLimit), "give 8 bits")
  if (!isWithin(vector.flowLabel, 0xfffff)) refuse("flowLabel", shown(vector.flowLabel), "give 20 bits")
  if (!isWithin(vector.serviceLevel, 15)) refuse("serviceLevel", shown(vector.serviceLevel), "give 0 to 15")
}

/**
 * The vector that answers a datagram (ibv_init_ah_from_wc): its sender becomes the destination.
 * @param grh the first 40 octets of the receive; not read where the completion says who sent it
 * @throws DeviceError EINVAL
 */
export const answerVector = (
  core: DeviceCore,
  completion: Completion,
  grh: Uint8Array,
  port: number,
): AddressVector => {
  const verb = "create_ah_from_wc"
  checkFields(verb, "completion", completion, "give what a receive completed with")
  if (completion.sourceGid !== undefined) return vectorTo(core, completion.sourceGid, port)
  checkOctets(verb, "grh", grh, "give the first 40 octets of a datagram's receive")
  if (!completion.grh || grh.length < GRH_BYTES) {
    throw new DeviceError(
      "EINVAL",
      "create_ah_from_wc",
      "grh",
      "there is no network header",
      "give the first 40 octets of a datagram's receive",
    )
  }
  const version = grh[0]! >>> 4
  const ipv4 = version !== 6 || isIpv4(grh)
  // RoCEv2 over IPv4: the IP header is in the last 20 octets (IBTA annex A17.4.5.1).
  const source = ipv4 ? mapped(grh.subarray(32, 36)) : grh.slice(8, 24)
  const destination = ipv4 ? mapped(grh.subarray(36, 40)) : grh.slice(24, 40)
  const entry =
    core.world.gids.find((each) => each.type === "rocev2" && same(each.gid, destination)) ??
    core.world.gids.find((each) => same(each.gid, destination))
  // A multicast datagram was sent to no address of the port: answer from the first of the same IP version.
  const from = entry ?? core.world.gids.find((each) => each.type === "rocev2" && isMapped(each.gid) === ipv4)
  if (from === undefined) {
    throw new DeviceError(
      "EINVAL",
      "create_ah_from_wc",
      "grh",
      "it was for none of the port's GIDs",
      "give the header of a datagram of this port",
    )
  }
  return {
    port,
    sourceGidIndex: from.index,
    destinationGid: source,
    trafficClass: ipv4 ? grh[21]! : ((grh[0]! & 15) << 4) | (grh[1]! >>> 4),
    hopLimit: 0xff,
    flowLabel: ipv4 ? 0 : ((grh[1]! & 15) << 16) | (grh[2]! << 8) | grh[3]!,
    serviceLevel: 0,
  }
}

/** To an address, from the port's first one of the same IP version. @throws DeviceError EINVAL */
const vectorTo = (core: DeviceCore, destinationGid: Uint8Array, port: number): AddressVector => {
  checkOctets("create_ah_from_wc", "completion.sourceGid", destinationGid, "give what a receive completed with")
  const from = core.world.gids.find((each) => isMapped(each.gid) === isMapped(destinationGid))
  if (from === undefined) {
    throw new DeviceError(
      "EINVAL",
      "create_ah_from_wc",
      "completion",
      "the port has no address of its sender's IP version",
      "give the port one",
    )
  }
  const path = { trafficClass: 0, hopLimit: 0xff, flowLabel: 0, serviceLevel: 0 }
  return { port, sourceGidIndex: from.index, destinationGid, ...path }
}

/** The first 20 octets are undefined when the last 20 are an IPv4 header: its version, length and checksum tell (as Linux does). */
const isIpv4 = (grh: Uint8Array): boolean => {
  if (grh[20] !== 0x45) return false
  let sum = 0
  for (let i = 20; i < GRH_BYTES; i += 2) sum += (grh[i]! << 8) | grh[i + 1]!
  sum = (sum & 0xffff) + (sum >>> 16)
  return (sum & 0xffff) + (sum >>> 16) === 0xffff
}

const mapped = (address: Uint8Array): Uint8Array => {
  const gid = new Uint8Array(16)
  gid[10] = 0xff
  gid[11] = 0xff
  gid.set(address, 12)
  return gid
}

const isMapped = (gid: Uint8Array): boolean =>
  gid.subarray(0, 10).every((octet) => octet === 0) && gid[10] === 0xff && gid[11] === 0xff

const same = (a: Uint8Array, b: Uint8Array): boolean => a.length === b.length && a.every((octet, i) => octet === b[i])
