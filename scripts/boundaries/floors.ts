/**
 * The house: which package stands on which floor, and what it may import.
 * ARCHITECTURE.md draws the same table; a new package gets its row in both. Applications stand above it and may
 * import anything.
 */

/** What one package may import from the others. Every name is without the `@rdmakit/` scope. */
export interface Room {
  readonly floor: number
  /** Whole floors that may be imported. */
  readonly floors: ReadonlyArray<number>
  /** Single packages that may be imported besides, on whatever floor they stand. */
  readonly packages: ReadonlyArray<string>
}

/** The conformance suites: no part of the house, imported by tests alone. */
const CONFORMANCE = "conformance"
/** From the simulated world upward there are clocks and platforms; below it there is neither. */
export const WORLDS = 4
/** Up to here Effect is an optional peer, met in `layer.ts` alone. */
export const EFFECT_OPTIONAL = 2

const room = (floor: number, floors: ReadonlyArray<number>, packages: ReadonlyArray<string> = []): Room => ({
  floor,
  floors,
  packages,
})

const engine = room(2, [1], ["packet", "units"])
const support = room(2, [0])

const rooms: Readonly<Record<string, Room>> = {
  units: room(0, []),
  packet: room(0, [], ["units"]),
  wire: room(0, []),
  pcap: room(0, []),
  protocol: room(1, [], ["packet", "units"]),
  "transport-iwarp": room(2, [1], ["packet", "units", "wire", "transport-tcp"]),
  "transport-erdma": room(2, [1], ["packet", "units", "transport-tcp", "transport-iwarp"]),
  device: room(2, [1], ["packet", "units", "wire"]),
  cm: room(2, [1], ["packet", "units", "wire"]),
  switch: engine,
  nic: engine,
  sim: engine,
  topology: support,
  workload: support,
  metrics: support,
  // Slowdown by size is metrics' rule, for files and runs alike.
  ns3: room(2, [0], ["metrics"]),
  analysis: support,
  codec: room(3, [], ["packet", "units", "wire"]),
  fabric: room(4, [0, 1, 2, 3]),
  softnic: room(4, [0, 1, 2, 3]),
  verbs: room(5, [1], ["packet", "units", "device", "cm"]),
  ulp: room(6, [1], ["packet", "units", "wire", "verbs"]),
  perftest: room(6, [1], ["packet", "units", "verbs"]),
  scenario: room(6, [0, 1, 2, 3, 4]),
  [CONFORMANCE]: room(2, [1], ["packet", "units"]),
}

/** The room of a package, or undefined for a name the table does not have. */
export const roomOf = (name: string): Room | undefined => {
  if (Object.hasOwn(rooms, name)) return rooms[name]
  // One congestion controller or one transport, one package: they need no row of their own.
  return /^(?:cc|transport)-[a-z0-9]+$/.test(name) ? engine : undefined
}

/** Whether the sources of `from` may import the package `to`. */
export const mayImport = (from: string, to: string): boolean => {
  const source = roomOf(from)
  const target = roomOf(to)
  if (source === undefined || target === undefined || to === CONFORMANCE) return false
  return source.packages.includes(to) || source.floors.includes(target.floor)
}

/** What emitted declarations name though no source does: types that the packages between them hand on. */
const declared: Readonly<Record<string, ReadonlyArray<string>>> = {
  // A queue pair's addresses and datagrams are those of `device`, by way of `verbs`.
  perftest: ["device"],
}

/** Whether `from` depends on `to` for the sake of its declarations alone; `scripts/check-packages.ts` sees that they name it. */
export const mayDeclare = (from: string, to: string): boolean => declared[from]?.includes(to) ?? false

/**
 * Whether the tests of `from` may import the package `to`: the suites and floor 0 come on top; what is above the worlds is
 * tried in them.
 */
export const mayTestWith = (from: string, to: string): boolean => {
  const there = roomOf(to)?.floor
  return (
    from === to ||
    to === CONFORMANCE ||
    there === 0 ||
    mayImport(from, to) ||
    ((roomOf(from)?.floor ?? 0) > WORLDS && there !== undefined && there <= WORLDS)
  )
}
