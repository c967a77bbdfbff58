import type { Impairment } from "@rdmakit/sim"
import { type Graph, leafSpine, star } from "@rdmakit/topology"
import { Random } from "@rdmakit/units"

/** What a random program does with one request of RC, or of UC, which has only the first four. */
export const kinds = ["send", "sendImm", "write", "writeImm", "read", "add", "swap", "atomicWrite"] as const
export type Kind = (typeof kinds)[number]

export interface Step {
  readonly kind: Kind
  readonly bytes: number
  /** Where its octets are in all areas; each has a place of its own. */
  readonly place: number
  /** How its octets are cut into stretches of memory; undefined: they are posted inline. */
  readonly cuts: ReadonlyArray<number> | undefined
  readonly signaled: boolean
  readonly solicited: boolean
  readonly fence: boolean
  readonly immediate: number
  /** Of "swap": it compares with what is there, and so swaps. */
  readonly matches: boolean
  /** Of "add": how much. */
  readonly amount: bigint
  /** The program waits so long before it posts this, ns. */
  readonly pauseNs: number
}

/** One direction of a connection. */
export interface StreamPlan {
  readonly steps: ReadonlyArray<Step>
  /** Bytes of all places. */
  readonly areaBytes: number
  readonly sendDepth: number
  /** Receives that are posted at once, and how late the first of them are, ns. */
  readonly receiveSlots: number
  readonly receivesLateNs: number
}

/** What ends a connection: a request that must fail, and how many are posted behind it. */
export interface Poison {
  readonly kind: "rkey" | "bounds" | "lkey" | "long" | "atomic"
  readonly behind: number
}

export interface LanePlan {
  readonly type: "rc" | "uc"
  readonly seed: number
  /** Places among the hosts. */
  readonly left: number
  readonly right: number
  readonly there: StreamPlan
  readonly back: StreamPlan
  readonly shared: boolean
  readonly pathMtuBytes: number
  readonly gidIndex: number
  readonly serviceLevel: number
  readonly depth: number
  readonly poison: Poison | undefined
}

/** Windows that are bound, written through, and made void, again and again. */
export interface WindowPlan {
  readonly seed: number
  readonly left: number
  readonly right: number
  readonly rounds: ReadonlyArray<{ readonly bytes: number; readonly end: "remote" | "local"; readonly pauseNs: number }>
}

export interface DatagramPlan {
  readonly seed: number
  readonly messages: ReadonlyArray<{
    readonly from: number
    /** -1: everybody. */
    readonly to: number
    readonly bytes: number
    readonly wrongKey: boolean
    readonly pauseNs: number
  }>
}

export interface Plan {
  readonly seed: number
  readonly graph: Graph
  readonly hosts: number
  readonly kernel: "exact" | "fused"
  readonly selective: boolean
  readonly controller: "none" | "dcqcn" | "hpcc"
  readonly lossless: boolean
  readonly impairments: ReadonlyArray<Impairment>
  /** Links that go down for a while, ns. */
  readonly flaps: ReadonlyArray<{ readonly link: number; readonly afterNs: number; readonly forNs: number }>
  readonly lanes: ReadonlyArray<LanePlan>
  readonly windows: ReadonlyArray<WindowPlan>
  readonly datagrams: DatagramPlan | undefined
}

/** Octets of the largest message. */
export const MESSAGE_BYTES = 9000
const STREAM = 0x72616e64

/** Draws in the words of a plan. */
class Dice {
  readonly random: Random
  constructor(seed: number) {
    this.random = new Random(seed, STREAM)
  }
  below(count: number): number {
    return this.random.int(count)
  }
  between(least: number, most: number): number {
    return least + this.random.int(most - least + 1)
  }
  pick<A>(...choices: ReadonlyArray<A>): A {
    return choices[this.below(choices.length)]!
  }
  chance(share: number): boolean {
    return this.random.next() < share
  }
  list<A>(count: number, make: (index: number) => A): ReadonlyArray<A> {
    return Array.from({ length: count }, (_, index) => make(index))
  }
}

const atomics: ReadonlySet<Kind> = new Set(["add", "swap", "atomicWrite"])
export const isAtomic = (kind: Kind): boolean => atomics.has(kind)
/** Whether a receive at the peer goes with it. */
export const takesReceive = (kind: Kind): boolean => kind === "send" || kind === "sendImm" || kind === "writeImm"

const stepOf = (dice: Dice, type: "rc" | "uc", place: number): Step => {
  const kind = type === "rc" ? dice.pick(...kinds) : dice.pick("send", "sendImm", "write", "writeImm" as const)
  // The number of a step lies in the first four octets of what UC sends.
  const least = type === "uc" ? 4 : 0
  const bytes = isAtomic(kind)
    ? 8
    : Math.max(least, dice.pick(0, 1, dice.below(64), dice.below(1500), dice.below(MESSAGE_BYTES)))
  const inline = bytes <= 64 && kind !== "read" && kind !== "add" && kind !== "swap" && dice.chance(0.5)
  const whole = isAtomic(kind) || dice.chance(0.5)
  const cuts = whole ? [bytes] : [dice.below(bytes + 1), 0]
  return {
    kind,
    bytes,
    place,
    cuts: inline ? undefined : whole ? cuts : [cuts[0]!, bytes - cuts[0]!],
    signaled: dice.chance(0.6),
    solicited: dice.chance(0.2),
    fence: dice.chance(0.15),
    immediate: dice.random.bits(),
    matches: dice.chance(0.6),
    amount: BigInt(dice.random.bits()),
    pauseNs: dice.chance(0.3) ? dice.below(20_000) : 0,
  }
}

/** Places begin at multiples of 8, with at least 8 octets between them that nobody may touch. */
const nextPlace = ({ place, bytes }: Step): number => place + ((bytes + 7) & ~7) + 8

const streamOf = (dice: Dice, type: "rc" | "uc", most: number): StreamPlan => {
  const steps: Array<Step> = []
  let place = 0
  for (let count = dice.below(most + 1); count > 0; count--) {
    const step = stepOf(dice, type, place)
    steps.push(step)
    place = nextPlace(step)
  }
  return {
    steps,
    areaBytes: place + 8,
    sendDepth: dice.between(1, 24),
    receiveSlots: dice.between(1, 8),
    receivesLateNs: dice.chance(0.4) ? dice.below(300_000) : 0,
  }
}

const laneOf = (dice: Dice, hosts: number): LanePlan => {
  const type = dice.chance(0.75) ? "rc" : "uc"
  const left = dice.below(hosts)
  return {
    type,
    seed: dice.random.bits(),
    left,
    // Now and then a host talks to itself.
    right: dice.chance(0.1) ? left : (left + 1 + dice.below(hosts - 1)) % hosts,
    there: streamOf(dice, type, 20),
    back: streamOf(dice, type, dice.pick(0, 6, 20)),
    shared: dice.chance(0.3),
    pathMtuBytes: dice.pick(256, 512, 1024, 2048, 4096),
    gidIndex: dice.below(2),
    serviceLevel: dice.below(8),
    depth: dice.between(1, 16),
    poison:
      type === "rc" && dice.chance(0.35)
        ? { kind: dice.pick("rkey", "bounds", "lkey", "long", "atomic"), behind: dice.below(4) }
        : undefined,
  }
}

/** Everything that a program of a seed does. */
export const planOf = (seed: number): Plan => {
  const dice = new Dice(seed)
  const large = dice.chance(0.3)
  const link = { rate: dice.pick("10Gbps", "100Gbps"), delay: dice.pick("100ns", "1us", "3us") }
  const graph = large
    ? leafSpine({ leaves: 2, spines: 2, hostsPerLeaf: 2 }, { host: link, fabric: link })
    : star(dice.between(2, 3), link)
  const hosts = graph.isSwitch.filter((each) => each === 0).length
  const quiet = dice.chance(0.15)
  const share = (most: number): number => (quiet || dice.chance(0.3) ? 0 : dice.random.next() * most)
  const impairmentOf = (): Impairment => ({
    loss: share(0.015),
    corruption: share(0.004),
    duplication: share(0.03),
    reordering: share(0.06),
    reorderPs: 1e6 * dice.between(1, 30),
    ...(dice.chance(0.2) ? { delayPs: [0, 1e6 * dice.below(3)] as const } : {}),
  })
  return {
    seed,
    graph,
    hosts,
    kernel: dice.pick("exact", "fused"),
    selective: dice.chance(0.4),
    controller: dice.pick("none", "none", "dcqcn", "hpcc"),
    lossless: dice.chance(0.7),
    impairments: dice.list(graph.links.length, impairmentOf),
    flaps: dice.chance(0.2)
      ? dice.list(dice.between(1, 2), () => ({
          link: dice.below(graph.links.length),
          afterNs: dice.below(200_000),
          forNs: dice.below(400_000),
        }))
      : [],
    lanes: dice.list(dice.between(1, 3), () => laneOf(dice, hosts)),
    windows: dice.chance(0.4)
      ? [
          {
            seed: dice.random.bits(),
            left: 0,
            right: dice.below(hosts),
            rounds: dice.list(dice.between(1, 6), () => ({
              bytes: dice.between(1, 6000),
              end: dice.pick("remote", "local" as const),
              pauseNs: dice.below(5000),
            })),
          },
        ]
      : [],
    datagrams: dice.chance(0.5)
      ? {
          seed: dice.random.bits(),
          messages: dice.list(dice.between(1, 24), () => ({
            from: dice.below(hosts),
            to: dice.chance(0.2) ? -1 : dice.below(hosts),
            bytes: dice.between(8, 1024),
            wrongKey: dice.chance(0.1),
            pauseNs: dice.below(10_000),
          })),
        }
      : undefined,
  }
}
