import type { EfaRdmTarget } from "@rdmakit/wire/efa-rdm"
import type { RdmAccess, RdmMemory } from "./Datagram.ts"

interface Region {
  readonly octets: Uint8Array
  readonly address: bigint
  readonly access: ReadonlySet<RdmAccess>
}

/** A page. Regions lie apart, so that an address that runs out of one is in none. */
const ALIGNMENT = 4096n
const READ: ReadonlySet<RdmAccess> = new Set(["read"])

/** Memory of the program itself, by keys that count up: for endpoints without a device. */
export class MemoryTable implements RdmMemory {
  private readonly regions = new Map<bigint, Region>()
  private readonly regionsMax: number
  private nextKey = 1n
  private nextAddress = ALIGNMENT

  /** At most so many regions at a time. */
  constructor(regionsMax = 65_536) {
    this.regionsMax = regionsMax
  }

  get count(): number {
    return this.regions.size
  }

  /** Lets peers use a buffer so; undefined when there are too many regions. */
  add(octets: Uint8Array, access: ReadonlySet<RdmAccess>): EfaRdmTarget | undefined {
    if (this.regions.size >= this.regionsMax) return undefined
    const key = this.nextKey++
    const address = this.nextAddress
    this.nextAddress += (BigInt(octets.length) / ALIGNMENT + 2n) * ALIGNMENT
    this.regions.set(key, { octets, address, access })
    return { address, bytes: BigInt(octets.length), key }
  }

  register(octets: Uint8Array): EfaRdmTarget | undefined {
    return this.add(octets, READ)
  }

  release({ key }: EfaRdmTarget): void {
    this.regions.delete(key)
  }

  resolve({ key, address, bytes }: EfaRdmTarget, access: RdmAccess): Uint8Array | undefined {
    const region = this.regions.get(key)
    if (region === undefined || !region.access.has(access)) return undefined
    const start = address - region.address
    if (start < 0n || start + bytes > BigInt(region.octets.length)) return undefined
    return region.octets.subarray(Number(start), Number(start + bytes))
  }
}
