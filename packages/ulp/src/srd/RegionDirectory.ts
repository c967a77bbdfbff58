import type { MemoryRegion } from "@rdmakit/verbs"
import type { EfaRdmTarget } from "@rdmakit/wire/efa-rdm"
import type { RdmAccess, RdmMemory } from "../rdm/Datagram.ts"

/** Registered memory by its octets and by its keys: what an endpoint's device can reach. */
export class RegionDirectory implements RdmMemory {
  private readonly byKey = new Map<number, MemoryRegion>()

  add(region: MemoryRegion): void {
    this.byKey.set(region.rkey, region)
  }

  remove(region: MemoryRegion): void {
    this.byKey.delete(region.rkey)
  }

  /** The region that has these octets, and where in it they begin. */
  find(octets: Uint8Array): { readonly region: MemoryRegion; readonly offset: number } | undefined {
    for (const region of this.byKey.values()) {
      const whole = region.octets
      const offset = octets.byteOffset - whole.byteOffset
      if (octets.buffer === whole.buffer && offset >= 0 && offset + octets.length <= whole.length)
        return { region, offset }
    }
    return undefined
  }

  resolve({ key, address, bytes }: EfaRdmTarget, access: RdmAccess): Uint8Array | undefined {
    const region = this.byKey.get(Number(key))
    if (region === undefined || !region.access.includes(`remote-${access}`)) return undefined
    const start = address - BigInt(region.address)
    if (start < 0n || start + bytes > BigInt(region.length)) return undefined
    return region.octets.subarray(Number(start), Number(start + bytes))
  }

  /** What is registered for it already is lent; other memory is not, and goes in packets. */
  register(octets: Uint8Array): EfaRdmTarget | undefined {
    const found = this.find(octets)
    if (!found?.region.access.includes("remote-read")) return undefined
    const { region, offset } = found
    return { address: BigInt(region.address + offset), bytes: BigInt(octets.length), key: BigInt(region.rkey) }
  }

  /** The program's registration stays. */
  release(): void {}
}
