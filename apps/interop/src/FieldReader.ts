import type { QpAttributes } from "@rdmakit/device"
import type { QpState } from "@rdmakit/protocol"
import type { Fields } from "./VerbsPeer.ts"

/** Fields of a command, read as the guest's program reads them. */
export class FieldReader {
  readonly #fields: Fields
  constructor(fields: Fields) {
    this.#fields = fields
  }
  has(key: string): boolean {
    return this.#fields[key] !== undefined
  }
  text(key: string, otherwise: string): string {
    return String(this.#fields[key] ?? otherwise)
  }
  number(key: string, otherwise: number): number {
    return Number(this.#fields[key] ?? otherwise)
  }
  big(key: string, otherwise: bigint): bigint {
    return BigInt(this.#fields[key] ?? otherwise)
  }
  gid(): Uint8Array {
    return Buffer.from(this.text("gid", ""), "hex")
  }
}

/** The address that a command names. */
export const vectorOf = (f: FieldReader) => ({
  port: f.number("port", 1),
  sourceGidIndex: f.number("sgid", 1),
  destinationGid: f.gid(),
  trafficClass: f.number("tc", 0),
  hopLimit: f.number("hop", 64),
  flowLabel: f.number("flow", 0),
  serviceLevel: f.number("sl", 0),
})

/** Attributes of a queue pair that a command gives. */
export const attributesOf = (f: FieldReader): QpAttributes => {
  const one = <A>(key: string, value: (n: number) => A): A | undefined =>
    f.has(key) ? value(f.number(key, 0)) : undefined
  const same = (n: number) => n
  return {
    state: one("state", (n) => n as QpState),
    currentState: one("current", (n) => n as QpState),
    pkeyIndex: one("pkey", same),
    port: one("port", same),
    accessFlags: one("access", same),
    queueKey: one("qkey", same),
    pathMtuBytes: one("mtu", (n) => 128 << n),
    destinationQp: one("peer", same),
    receivePsn: one("rpsn", same),
    sendPsn: one("spsn", same),
    responderResources: one("resources", same),
    initiatorDepth: one("depth", same),
    minRnrTimer: one("rnrtimer", same),
    timeout: one("timeout", same),
    retryCount: one("retry", same),
    rnrRetry: one("rnrretry", same),
    enableSqdNotify: one("notify", (n) => n !== 0),
    address: f.has("gid") ? vectorOf(f) : undefined,
  }
}
