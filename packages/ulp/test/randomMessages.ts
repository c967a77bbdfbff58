import { Random } from "@rdmakit/units"
import { formatError } from "@rdmakit/wire"
import { type EfaRdm, type EfaRdmTarget, parseEfaRdm } from "@rdmakit/wire/efa-rdm"
import { AtomicDatatype, AtomicOperation, type RdmAccess, type RdmOptions, type RdmOrder } from "../src/index.ts"
import { type Host, Network, pattern } from "./datagrams.ts"

const all: ReadonlySet<RdmAccess> = new Set(["read", "write", "atomic"])
const orders: ReadonlyArray<RdmOrder> = ["completion", "matching", "none"]
/** What kind of packet it is: of a request also by which protocol, and whether it is confirmed. */
const nameOf = (packet: EfaRdm): string => {
  if (!("protocol" in packet)) return packet.kind
  const confirmed = "deliveryComplete" in packet && packet.deliveryComplete ? " confirmed" : ""
  const again = "afterNack" in packet && packet.afterNack ? " after a nack" : ""
  return `${packet.kind} ${packet.protocol}${confirmed}${again}`
}

/** One for each protocol, at an MTU of 512 to 2,048 and the thresholds below. */
const sizes = [0, 1, 100, 480, 2000, 4000, 6000, 20_000, 60_000]

interface Message {
  readonly from: number
  readonly to: number
  readonly data: Uint8Array
  readonly tag: bigint | undefined
  readonly deliveryComplete: boolean
  /** How many were sent before it. */
  turn: number
}

interface Posted {
  readonly buffer: Uint8Array
  readonly tagged: boolean
}

/**
 * A program drawn from a seed: two to four hosts, each of its own abilities, that send each other tagged and other
 * messages, write and read each other's memory and count in it, while packets are shuffled and RDMA is refused now and
 * then. Returns what is wrong with the result: nothing, if all is well. `seen` gathers the kinds of packets.
 */
export const runMessages = (seed: number, seen = new Set<string>()): ReadonlyArray<string> => {
  const random = new Random(seed, 9)
  const draw = (limit: number): number => random.int(limit)
  const order = orders[draw(3)]!
  const mtuBytes = [512, 1024, 2048][draw(3)]!
  const options = Array.from(
    { length: 2 + draw(3) },
    (): Partial<RdmOptions> => ({
      order,
      rdmaRead: draw(2) === 0,
      rdmaWrite: draw(2) === 0,
      runtBytes: draw(2) === 0 ? 0 : 3000,
      mediumBytesMax: 5000,
      readBytesMin: 10_000,
      readWriteBytesMin: 5000,
      receiveWindow: [1, 4, 16][draw(3)]!,
      credits: 1 + draw(8),
      packetsInFlightMax: 4 + draw(60),
      ...(draw(3) === 0 ? { reorderBytesMax: 4000, unexpectedBytesMax: 6000 } : {}),
    }),
  )
  const wrong: Array<string> = []
  const refusals = draw(2) === 0 ? 0 : 300
  /** Hosts that read memory: their READs have no second way, as those of messages have. */
  const readers = new Set<number>()
  const world = new Network({
    seed,
    hosts: options,
    mtuBytes,
    delayMax: 1 + draw(100),
    watch: (_, __, octets) => {
      const parse = parseEfaRdm(octets)
      if (!parse.ok) wrong.push(formatError(parse.error))
      else seen.add(nameOf(parse.value))
    },
    refuses: (from, number) => number < refusals && !readers.has(from),
  })
  const { hosts } = world

  const messages: Array<Message> = []
  const posted: ReadonlyArray<Array<Posted>> = hosts.map(() => [])
  const other = (from: number): number => (from + 1 + draw(hosts.length - 1)) % hosts.length
  const plan: Array<() => void> = []
  let turns = 0

  for (let count = 10 + draw(40); count > 0; count--) {
    const from = draw(hosts.length)
    const tag = draw(2) === 0 ? undefined : BigInt(draw(4))
    const data = pattern(sizes[draw(sizes.length)]!, messages.length)
    const message = { from, to: other(from), data, tag, deliveryComplete: draw(4) === 0, turn: 0 }
    const context = messages.length
    messages.push(message)
    plan.push(() => {
      const { to, deliveryComplete } = message
      message.turn = turns++
      const refusal = hosts[from]!.endpoint.send(to, data, context, {
        deliveryComplete,
        cqData: BigInt(context),
        ...(tag === undefined ? {} : { tag }),
      })
      if (refusal !== undefined) wrong.push(`send ${context}: ${refusal}`)
    })
  }
  for (const { to, tag } of messages)
    plan.push(() => {
      const tagged = tag !== undefined
      const buffer = new Uint8Array(sizes.at(-1)!)
      const context = posted[to]!.length
      posted[to]!.push({ buffer, tagged })
      hosts[to]!.endpoint.receive(buffer, context, tagged ? { tag: 0n, ignore: 3n } : {})
    })
  const remote = remoteWork(draw, hosts, other, readers, wrong)
  plan.push(...remote.plan)
  random.shuffle(plan)
  for (const [step, act] of plan.entries()) {
    act()
    if (step % 3 === 0) world.run(draw(40))
  }
  if (!world.run()) wrong.push("still busy after 200,000 steps")
  if (world.heldBack > 0) wrong.push(`${world.heldBack} packets never taken`)
  checkMessages(hosts, messages, posted, order, wrong)
  remote.check()
  for (const { endpoint, memory, number } of hosts) {
    if (endpoint.open > 0) wrong.push(`host ${number}: ${endpoint.open} operations unfinished`)
    if (endpoint.unexpected > 0) wrong.push(`host ${number}: ${endpoint.unexpected} messages without a receive`)
    if (memory.count !== 1) wrong.push(`host ${number}: ${memory.count - 1} buffers still lent`)
    const { malformed, stray, duplicates, staleConnections, accessRefused } = endpoint.counters
    const dropped = malformed + stray + duplicates + staleConnections + accessRefused
    if (dropped > 0) wrong.push(`host ${number}: ${dropped} packets dropped`)
  }
  return wrong
}

const COUNTER_BYTES = 8
const PART_BYTES = 30_000

/** Writes and reads, each in a part of the remote memory that no other uses, and sums in the counter before them. */
const remoteWork = (
  draw: (limit: number) => number,
  hosts: ReadonlyArray<Host>,
  other: (from: number) => number,
  readers: Set<number>,
  wrong: Array<string>,
) => {
  const memories = hosts.map(() => new Uint8Array(COUNTER_BYTES + PART_BYTES * 16))
  const targets = hosts.map(({ memory }, number) => memory.add(memories[number]!, all)!)
  const plan: Array<() => void> = []
  const checks: Array<() => void> = []
  const sums = hosts.map(() => 0n)
  for (let part = 0, parts = 6 + draw(10); part < parts; part++) {
    const from = draw(hosts.length)
    const to = other(from)
    const target = targets[to]!
    const { endpoint } = hosts[from]!
    const range = (offset: number, bytes: number): EfaRdmTarget => ({
      ...target,
      address: target.address + BigInt(offset),
      bytes: BigInt(bytes),
    })
    const context = 10_000 + part
    const offset = COUNTER_BYTES + PART_BYTES * part
    const kind = draw(3)
    if (kind === 0) {
      const data = pattern([1 + draw(64), 3000, 30_000][draw(3)]!, context)
      const deliveryComplete = draw(3) === 0
      plan.push(() => endpoint.write(to, data, [range(offset, data.length)], context, { deliveryComplete }))
      checks.push(() => {
        const found = memories[to]!.subarray(offset, offset + data.length)
        if (Buffer.compare(found, data) !== 0) wrong.push(`write ${context}: other octets`)
      })
    } else if (kind === 1) {
      const bytes = [10, 3000, 30_000][draw(3)]!
      const into = new Uint8Array(bytes)
      const source = pattern(bytes, context)
      checks.push(() => {
        if (Buffer.compare(into, source) !== 0) wrong.push(`read ${context}: other octets`)
      })
      readers.add(from)
      plan.push(() => {
        memories[to]!.set(source, offset)
        endpoint.read(to, into, [range(offset, bytes)], context)
      })
    } else {
      const value = BigInt(1 + draw(1000))
      sums[to]! += value
      const operand = new Uint8Array(new BigUint64Array([value]).buffer)
      const sum = { datatype: AtomicDatatype.Uint64, operation: AtomicOperation.Sum }
      const last = range(0, COUNTER_BYTES)
      const result = new Uint8Array(8)
      const [fetches, deliveryComplete] = [draw(2) === 0, draw(2) === 0]
      plan.push(() =>
        fetches
          ? endpoint.fetchAtomic(to, operand, undefined, result, [last], context, sum)
          : endpoint.atomic(to, operand, [last], context, { ...sum, deliveryComplete }),
      )
    }
    checks.push(() => {
      const ends = hosts[from]!.events.filter((event) => event.type !== "remoteWrite" && event.context === context)
      if (ends.length !== 1 || ends[0]!.type !== "completed")
        wrong.push(`remote ${context}: ${JSON.stringify(ends, json)}`)
    })
  }
  for (const [number, memory] of memories.entries())
    checks.push(() => {
      const found = new DataView(memory.buffer).getBigUint64(0, true)
      if (found !== sums[number]) wrong.push(`host ${number}: ${found} counted, expected ${sums[number]}`)
    })
  const check = (): void => {
    for (const each of checks) each()
  }
  return { plan, check }
}

const json = (_: string, value: unknown): unknown => (typeof value === "bigint" ? `${value}n` : value)

/** Each message once, whole, in the order of its sender among those that one kind of receive takes. */
const checkMessages = (
  hosts: ReadonlyArray<Host>,
  messages: ReadonlyArray<Message>,
  posted: ReadonlyArray<ReadonlyArray<Posted>>,
  order: RdmOrder,
  wrong: Array<string>,
): void => {
  const received = new Set<number>()
  for (const { number, events } of hosts) {
    const last = new Map<string, number>()
    for (const event of events) {
      if (event.type === "failed") wrong.push(`host ${number}: ${JSON.stringify(event, json)}`)
      if (event.type !== "completed" || event.operation !== "receive") continue
      const index = Number(event.cqData)
      const message = messages[index]!
      const { buffer, tagged } = posted[number]![event.context]!
      if (received.has(index)) wrong.push(`message ${index} twice`)
      received.add(index)
      if (message.from !== event.peer || message.to !== number || message.tag !== event.tag)
        wrong.push(`message ${index}: at the wrong place`)
      if (event.bytes !== message.data.length || Buffer.compare(buffer.subarray(0, event.bytes), message.data) !== 0)
        wrong.push(`message ${index}: other octets`)
      const line = `${event.peer} ${tagged}`
      const older = last.get(line) ?? -1
      if (order === "completion" && older > message.turn) wrong.push(`message ${index}: before an older one`)
      last.set(line, message.turn)
    }
    if (order !== "none") checkMatching(events, messages, number, wrong)
  }
  for (const index of messages.keys()) if (!received.has(index)) wrong.push(`message ${index}: never received`)
  for (const [index, { from }] of messages.entries()) {
    const ends = hosts[from]!.events.filter(
      (event) => event.type === "completed" && event.operation === "send" && event.context === index,
    )
    if (ends.length !== 1) wrong.push(`message ${index}: ${ends.length} completions at its sender`)
  }
}

/** Older receives have older messages of a peer. */
const checkMatching = (
  events: Host["events"],
  messages: ReadonlyArray<Message>,
  number: number,
  wrong: Array<string>,
): void => {
  const matches = events.flatMap((event) =>
    event.type === "completed" && event.operation === "receive"
      ? [{ receive: event.context, index: Number(event.cqData), line: `${event.peer} ${event.tag !== undefined}` }]
      : [],
  )
  matches.sort((a, b) => a.receive - b.receive)
  const last = new Map<string, number>()
  for (const { index, line } of matches) {
    const { turn } = messages[index]!
    if ((last.get(line) ?? -1) > turn) wrong.push(`host ${number}, message ${index}: matched before an older one`)
    last.set(line, turn)
  }
}
