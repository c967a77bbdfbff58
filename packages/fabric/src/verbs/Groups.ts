import { gidKey } from "./Gids.ts"

/** Multicast groups, numbered as they become known, and the hosts that have joined each, the first to join first. */
export class Groups {
  private readonly numbers = new Map<string, number>()
  private readonly joined: Array<Set<number>> = []

  numberOf(gid: Uint8Array): number {
    const key = gidKey(gid)
    let number = this.numbers.get(key)
    if (number === undefined) {
      number = this.joined.push(new Set()) - 1
      this.numbers.set(key, number)
    }
    return number
  }

  join(gid: Uint8Array, node: number): void {
    this.joined[this.numberOf(gid)]!.add(node)
  }
  leave(gid: Uint8Array, node: number): void {
    this.joined[this.numberOf(gid)]!.delete(node)
  }
  members(group: number): ReadonlySet<number> {
    return this.joined[group]!
  }
}
