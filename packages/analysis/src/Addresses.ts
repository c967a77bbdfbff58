import { formatIpv4, formatIpv6, formatMac } from "@rdmakit/wire/address"
import { u32 } from "./Octets.ts"

/** Addresses kept apart; what comes later shares one number, so that a scan of a whole network stays in memory. */
const ADDRESSES_MAX = 1 << 18
const OTHERS = "others"

/** Small numbers for the addresses of a capture: IPv4, IPv6, GIDs, LIDs and MAC addresses. */
export class Addresses {
  readonly #ids = new Map<number | string, number>()
  readonly #texts: Array<string> = []

  /** The address as people write it. */
  text(id: number): string {
    return this.#texts[id] ?? "?"
  }

  /** How many addresses were met. */
  get count(): number {
    return this.#texts.length
  }

  ipv4(octets: Uint8Array, at: number): number {
    const key = u32(octets, at)
    return this.#ids.get(key) ?? this.#add(key, formatIpv4(key))
  }

  /** IPv6 addresses and GIDs. */
  ipv6(octets: Uint8Array, at: number): number {
    let key = "6"
    for (let index = 0; index < 16; index += 2) {
      key += String.fromCharCode((octets[at + index]! << 8) | octets[at + index + 1]!)
    }
    return this.#ids.get(key) ?? this.#add(key, formatIpv6(octets.slice(at, at + 16)))
  }

  lid(lid: number): number {
    return this.#ids.get(`L${lid}`) ?? this.#add(`L${lid}`, `LID ${lid}`)
  }

  mac(address: number): number {
    return this.#ids.get(`M${address}`) ?? this.#add(`M${address}`, formatMac(address))
  }

  #add(key: number | string, text: string): number {
    if (this.#texts.length === ADDRESSES_MAX) {
      if (this.#texts[ADDRESSES_MAX - 1] !== OTHERS) this.#texts[ADDRESSES_MAX - 1] = OTHERS
      return ADDRESSES_MAX - 1
    }
    const id = this.#texts.length
    this.#texts.push(text)
    this.#ids.set(key, id)
    return id
  }
}
