import { NEVER, type Time } from "@rdmakit/protocol"
import { formatIpv4, formatIpv6, ipv4OfGid } from "@rdmakit/wire/address"
import { gidOf } from "../Address.ts"
import { SoftnicError } from "../SoftnicError.ts"

/** A peer that is found elsewhere than under its own address. */
export interface IwarpPeer {
  readonly address: string
  readonly host: string
  /** Where its queue pairs meet others, in place of `meetingPort`. */
  readonly meetingPort?: number
}

export interface IwarpOptions {
  /** This device's, as peers know it: an IPv4 or IPv6 address. */
  readonly address: string
  /** The address that its sockets are bound to. Default: `address`. */
  readonly host?: string
  /** TCP port at which queue pairs meet that were connected by `modify` alone. Default 4790. */
  readonly meetingPort?: number
  /**
   * How long such a queue pair waits in RTR or RTS for its peer's, ps: 1 ms to 2^31 ms, or NEVER for as long as it is
   * there. Then it fails, with QP_FATAL, and its work is flushed. Default 60 s.
   */
  readonly meetingTimeoutPs?: Time
  readonly peers?: ReadonlyArray<IwarpPeer>
}

const MEETING_PORT = 4790
/** Its number is told by a process that is there, and programs exchange numbers just before they use them. */
const MEETING_TIMEOUT_PS = 60e12
const PS_PER_MS = 1e9
/** What timers can wait. */
const TIMER_MS_MAX = 2 ** 31 - 1
const UNSPECIFIED = new Uint8Array(16)

/** Where devices are: addresses as the verbs have them, and hosts and ports of TCP. */
export class Places {
  readonly gid: Uint8Array
  readonly host: string
  readonly meetingPort: number
  /** ms; NEVER: for ever. */
  readonly meetingTimeoutMs: number
  private readonly peers = new Map<string, IwarpPeer>()

  /** @throws SoftnicError */
  constructor(options: IwarpOptions) {
    const { address, host = address, meetingPort = MEETING_PORT, meetingTimeoutPs = MEETING_TIMEOUT_PS } = options
    this.gid = gidIn("address", address)
    this.host = host
    this.meetingPort = meetingPort
    this.meetingTimeoutMs = meetingTimeoutPs / PS_PER_MS
    const isTime = this.meetingTimeoutMs >= 1 && this.meetingTimeoutMs <= TIMER_MS_MAX
    if (!isTime && meetingTimeoutPs !== NEVER)
      throw new SoftnicError("meetingTimeoutPs", String(meetingTimeoutPs), "1 ms to 2^31 ms in ps, or NEVER")
    for (const peer of options.peers ?? []) this.peers.set(String(gidIn("peers", peer.address)), peer)
  }

  /** An address of TCP's as the verbs have it; of one that is none, all zeros. */
  gidOf(address: string): Uint8Array {
    return gidOf(address) ?? UNSPECIFIED
  }

  placeOf(gid: Uint8Array, port: number): { readonly host: string; readonly port: number } {
    const peer = this.peers.get(String(gid))
    return { host: peer?.host ?? textOf(gid), port }
  }

  meetingPortOf(gid: Uint8Array): number {
    return this.peers.get(String(gid))?.meetingPort ?? this.meetingPort
  }
}

const gidIn = (what: string, address: string): Uint8Array => {
  const gid = gidOf(address)
  if (gid === undefined) throw new SoftnicError(what, address, "an address, as 10.0.0.1 or fd00::1")
  return gid
}

const textOf = (gid: Uint8Array): string => {
  const ipv4 = ipv4OfGid(gid)
  return ipv4 === undefined ? formatIpv6(gid) : formatIpv4(ipv4)
}
