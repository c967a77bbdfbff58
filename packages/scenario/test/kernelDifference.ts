import type { KernelName, NativeRun, RunOutcome, Watch } from "@rdmakit/fabric"
import { hash32 } from "@rdmakit/units"
import { type RandomCase, randomCase, startedRun } from "./randomNetwork.ts"

/** Looks at ports while a run goes on, between events and in them, and keeps a digest of what it saw. */
class Onlooker implements Watch {
  seen = 0
  next: number
  private readonly run: NativeRun
  private readonly every: number

  constructor(run: NativeRun, every: number) {
    this.run = run
    this.every = every
    this.next = every
    const { world } = run
    world.addSampler({ first: every, every: 3 * every, last: 40 * every, sample: () => this.note() })
  }
  look(now: number): void {
    this.note()
    this.next = now + this.every
  }
  private note(): void {
    const { kernel, ports } = this.run.world
    this.seen = hash32(this.seen, kernel.waiting, kernel.packetHops)
    for (let port = 0; port < ports.count; port++) {
      this.seen = hash32(this.seen, kernel.queueBytes(port), kernel.sentBytes(port))
    }
  }
}

export interface Played {
  readonly outcome: RunOutcome
  readonly seen: number
  /** Packets left at the end. */
  readonly alive: number
}

const same = (random: RandomCase): RandomCase => random

/** @param change what is another than the seed has it */
export const played = (seed: number, kernel: KernelName, change = same): Played => {
  const run = startedRun(change(randomCase(seed)), kernel)
  // Some runs are watched: a kernel that is looked at decides in other moments.
  const onlooker = seed % 3 === 0 ? new Onlooker(run, seed % 2 === 0 ? 700_000 : 1e6) : undefined
  if (onlooker !== undefined) run.watch(onlooker)
  while (run.step(seed % 5 === 0 ? 777 : 1 << 16)) {}
  return { outcome: run.outcome(false), seen: onlooker?.seen ?? 0, alive: run.world.kernel.pool.alive }
}

/** All that must be equal, but for the flows: kernels count their events, and at which moments packets, in their own ways. */
const summaryOf = ({ outcome, seen, alive }: Played): Record<string, unknown> => {
  const { flows: _flows, idealPs: _ideal, events: _events, packetsPeak: _peak, ...rest } = outcome
  return { seen, alive, ...rest }
}

/** What the fused kernel makes of a random case that is not what the exact one does, in words; undefined: nothing. */
export const kernelDifference = (seed: number, change = same): string | undefined => {
  const exact = played(seed, "exact", change)
  const fused = played(seed, "fused", change)
  const { flows } = exact.outcome
  for (let flow = 0; flow < flows.count; flow++) {
    const [a, b] = [flows.finished[flow], fused.outcome.flows.finished[flow]]
    if (a === b) continue
    const what = `${flows.source[flow]} to ${flows.destination[flow]}, ${flows.bytes[flow]} B`
    return `seed ${seed}: flow ${flow} (${what}) ends at ${a} ps in the exact kernel, at ${b} ps in the fused one`
  }
  const [a, b] = [summaryOf(exact), summaryOf(fused)]
  const differing = Object.keys(a).filter((key) => JSON.stringify(a[key]) !== JSON.stringify(b[key]))
  if (differing.length === 0) return undefined
  const shown = differing.map((key) => `${key} ${JSON.stringify(a[key])} and ${JSON.stringify(b[key])}`)
  return `seed ${seed}: all flows end alike, but exact and fused kernel give ${shown.join("; ")}`
}
