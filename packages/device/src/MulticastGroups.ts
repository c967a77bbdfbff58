import type { VerbsEngine, World } from "@rdmakit/protocol"
import type { DeviceLimits } from "./DeviceAttributes.ts"
import { DeviceError } from "./DeviceError.ts"
import type { Resources } from "./Resources.ts"

interface Group {
  readonly gid: Uint8Array
  /** The GID in four words, as packets carry it. */
  readonly words: readonly [number, number, number, number]
  readonly engines: Array<VerbsEngine>
}

const NOBODY: ReadonlyArray<VerbsEngine> = []

/** Which queue pairs listen to which multicast groups (IBTA 1.7 §10.5). */
export class MulticastGroups {
  private readonly world: World
  private readonly limits: DeviceLimits
  private readonly resources: Resources
  /** By the last word of the GID, in which groups differ. */
  private readonly groups = new Map<number, Array<Group>>()
  private count = 0

  constructor(world: World, limits: DeviceLimits, resources: Resources) {
    this.world = world
    this.limits = limits
    this.resources = resources
  }

  /** Once more is no error, and counts once, as rxe has it. False: it was there. @throws DeviceError EINVAL, ENOMEM */
  attach(gid: Uint8Array, engine: VerbsEngine): boolean {
    checkGroup("attach_mcast", gid)
    const words = wordsOf(gid)
    let group = this.find(words)
    if (group?.engines.includes(engine) === true) return false
    const { maxMulticastGroups, maxMulticastQpAttach, maxTotalMulticastQpAttach } = this.limits
    if (group === undefined && this.count >= maxMulticastGroups) throw full("groups", maxMulticastGroups)
    if ((group?.engines.length ?? 0) >= maxMulticastQpAttach)
      throw full("queue pairs of one group", maxMulticastQpAttach)
    this.resources.claim("multicastAttachments", maxTotalMulticastQpAttach, "attach_mcast")
    if (group === undefined) {
      group = { gid: gid.slice(), words, engines: [] }
      const bucket = this.groups.get(words[3])
      if (bucket === undefined) this.groups.set(words[3], [group])
      else bucket.push(group)
      this.count += 1
      this.world.joinGroup(group.gid)
    }
    group.engines.push(engine)
    return true
  }

  /** @throws DeviceError EINVAL when it is not attached */
  detach(gid: Uint8Array, engine: VerbsEngine): void {
    checkGroup("detach_mcast", gid)
    const words = wordsOf(gid)
    const group = this.find(words)
    const at = group?.engines.indexOf(engine) ?? -1
    if (group === undefined || at < 0) {
      throw new DeviceError("EINVAL", "detach_mcast", "gid", "the queue pair is not attached to it", "attach it first")
    }
    group.engines.splice(at, 1)
    this.resources.free("multicastAttachments")
    if (group.engines.length > 0) return
    const bucket = this.groups.get(words[3])!
    bucket.splice(bucket.indexOf(group), 1)
    if (bucket.length === 0) this.groups.delete(words[3])
    this.count -= 1
    this.world.leaveGroup(group.gid)
  }

  /** Who gets what was sent to an address, given as four words in network order. */
  listeners(a: number, b: number, c: number, d: number): ReadonlyArray<VerbsEngine> {
    return this.find([a >>> 0, b >>> 0, c >>> 0, d >>> 0])?.engines ?? NOBODY
  }

  private find(words: Group["words"]): Group | undefined {
    return this.groups
      .get(words[3])
      ?.find((each) => each.words[0] === words[0] && each.words[1] === words[1] && each.words[2] === words[2])
  }
}

const full = (what: string, most: number): DeviceError =>
  new DeviceError("ENOMEM", "attach_mcast", undefined, `all ${most} ${what} are in use`, "detach some")

const wordsOf = (gid: Uint8Array): Group["words"] => {
  const view = new DataView(gid.buffer, gid.byteOffset, 16)
  return [view.getUint32(0), view.getUint32(4), view.getUint32(8), view.getUint32(12)]
}

/** As rdma_is_multicast_addr: ff00::/8, or 224.0.0.0/4 mapped. */
const checkGroup = (verb: string, gid: Uint8Array): void => {
  if (gid instanceof Uint8Array && gid.length === 16) {
    if (gid[0] === 0xff) return
    const [a, b, c, d] = wordsOf(gid)
    if (a === 0 && b === 0 && c === 0xffff && d >>> 28 === 14) return
  }
  throw new DeviceError("EINVAL", verb, "gid", "no multicast address", "give ff00::/8, or ::ffff:224.0.0.0/100")
}
