import { type Answer, type CompletionAnswer, type Fields, must, type VerbsPeer } from "../VerbsPeer.ts"

/** What one role saw of a case, as far as it has to be the same for every implementation. */
export interface SideRecord {
  /** Verbs that were refused, in order: what, and errno. */
  readonly refused: Array<{ readonly what: string; readonly errno: number }>
  readonly completions: Array<CompletionRecord>
  /** enum ibv_qp_state of the queue pair at the end; of others by name. */
  state: number
  readonly events: Array<string>
  /** Facts of the case by name: octets that are right, events that came. */
  readonly facts: Record<string, boolean | number | string>
}

/** Of a completion: its number, status, and what the status gives a meaning to. */
export interface CompletionRecord {
  readonly id: number
  readonly status: number
  readonly opcode?: number
  /** Of receives alone. */
  readonly bytes?: number
  readonly immediate?: number
  readonly invalidated?: boolean
  readonly grh?: boolean
}

export interface OpenOptions {
  readonly type?: "rc" | "uc" | "ud"
  readonly ip?: 4 | 6
  /** Of the region `m`: bytes and access. */
  readonly bytes?: number
  readonly access?: number
  /** Further fields of `qp`, and of `cq`. */
  readonly qp?: Fields
  readonly cq?: Fields
}

const RECEIVE = 128
const GID_V4 = "00000000000000000000ffff"
/** Packets of a case start here where it does not matter. */
const PSN = 0x1234

/** One role of a case: verbs with defaults, and the record of what came of them. */
export class Side {
  readonly peer: VerbsPeer
  readonly record: SideRecord = { refused: [], completions: [], state: -1, events: [], facts: {} }
  type: "rc" | "uc" | "ud" = "rc"
  qpn = 0
  gid = ""
  gidIndex = 0
  rkey = 0
  lkey = 0
  address = 0n
  psn = PSN

  constructor(peer: VerbsPeer) {
    this.peer = peer
  }

  /** Makes a completion queue `cq`, a region `m` and a queue pair `qp`. */
  async open({ type = "rc", ip = 4, bytes = 65_536, access = 15, qp = {}, cq = {} }: OpenOptions = {}): Promise<void> {
    this.type = type
    const device = await must(this.peer, "open")
    const gids = device.gids as ReadonlyArray<{ readonly index: number; readonly gid: string }>
    const gid = gids.find((one) =>
      ip === 4 ? one.gid.startsWith(GID_V4) : !one.gid.startsWith(GID_V4) && !one.gid.startsWith("fe80"),
    )
    if (gid === undefined) throw new Error(`${this.peer.name} has no address of IPv${ip}`)
    this.gid = gid.gid
    this.gidIndex = gid.index
    await must(this.peer, "cq", cq)
    await this.region("m", { bytes, access })
    this.qpn = Number((await must(this.peer, "qp", { type, ...qp })).qpn)
  }

  /** A region; `m` is the one that `open` makes. */
  async region(name: string, fields: Fields): Promise<{ rkey: number; lkey: number; address: bigint }> {
    const mr = await must(this.peer, "mr", { name, ...fields })
    const made = { rkey: Number(mr.rkey), lkey: Number(mr.lkey), address: BigInt(String(mr.address)) }
    if (name === "m") Object.assign(this, made)
    return made
  }

  must(word: string, fields: Fields = {}): Promise<Answer> {
    return must(this.peer, word, fields)
  }

  /** A verb that may be refused, which is then in the record. */
  async try(what: string, word: string, fields: Fields = {}): Promise<boolean> {
    const answer = await this.peer.do(word, fields)
    if (!answer.ok) this.record.refused.push({ what, errno: answer.errno ?? 0 })
    return answer.ok
  }

  send(id: number, fields: Fields = {}): Promise<boolean> {
    return this.try(`send ${id}`, "send", { id, ...fields })
  }

  receive(id: number, fields: Fields = {}): Promise<boolean> {
    return this.try(`receive ${id}`, "receive", { id, ...fields })
  }

  /** Waits for completions, no longer than `ms`. */
  async wait(count = 1, ms = 5000, fields: Fields = {}): Promise<ReadonlyArray<CompletionAnswer>> {
    const answer = await this.must("poll", { count, ms, ...fields })
    const completions = answer.completions as ReadonlyArray<CompletionAnswer>
    for (const one of completions) this.record.completions.push(completionRecord(one, this.type))
    return completions
  }

  fact(name: string, value: boolean | number | string): void {
    this.record.facts[name] = value
  }

  /** Whether memory has the pattern of `seed`. */
  async check(name: string, fields: Fields): Promise<void> {
    this.fact(name, (await this.must("check", fields)).equal === true)
  }

  /** A number of 64 bits in memory, low octet first. */
  async word(offset: number): Promise<bigint> {
    const { octets } = await this.must("peek", { offset, bytes: 8 })
    return Buffer.from(String(octets), "hex").readBigUInt64LE()
  }

  /** The state of a queue pair. */
  async state(name = "qp"): Promise<number> {
    return Number((await this.must("query", { qp: name })).state)
  }

  /** Ends the record: the state of the queue pair, and the asynchronous events until now. */
  async finish(): Promise<void> {
    this.record.state = await this.state()
    const { events } = await this.must("async", { ms: 50 })
    for (const event of events as ReadonlyArray<{ readonly name: string; readonly element: string }>) {
      this.record.events.push(`${event.name} of ${event.element}`)
    }
  }
}

const completionRecord = (one: CompletionAnswer, type: string): CompletionRecord => {
  if (one.status !== 0 || one.opcode === undefined) return { id: one.id, status: one.status }
  if (one.opcode < RECEIVE) return { id: one.id, status: 0, opcode: one.opcode }
  return {
    id: one.id,
    status: 0,
    opcode: one.opcode,
    bytes: one.bytes ?? 0,
    ...(one.immediate === undefined ? {} : { immediate: one.immediate }),
    ...(one.invalidated === undefined ? {} : { invalidated: true }),
    // Linux says so of RC and UC too, whose receives have no header in front.
    ...(one.grh === true && type === "ud" ? { grh: true } : {}),
  }
}

/** Settings that a case changes of both sides, or of one. */
export interface ConnectOptions {
  readonly mtu?: number
  readonly init?: Fields
  readonly rtr?: Fields
  readonly rts?: Fields
}

export const STATE = { Reset: 0, Init: 1, Rtr: 2, Rts: 3, Sqd: 4, Sqe: 5, Err: 6 } as const
export const QKEY = 0x11111111

/** RESET to INIT. */
export const initialize = (side: Side, fields: Fields = {}): Promise<Answer> =>
  side.must("modify", {
    state: STATE.Init,
    pkey: 0,
    port: 1,
    ...(side.type === "ud" ? { qkey: QKEY } : { access: 15 }),
    ...fields,
  })

/** INIT to RTR, towards another. */
export const readyToReceive = (
  side: Side,
  other: { readonly qpn: number; readonly psn: number; readonly gid: string },
  fields: Fields = {},
): Promise<Answer> => {
  const connected = {
    mtu: 3,
    peer: other.qpn,
    rpsn: other.psn,
    gid: other.gid,
    sgid: side.gidIndex,
    ...(side.type === "rc" ? { resources: 8, rnrtimer: 12 } : {}),
  }
  return side.must("modify", { state: STATE.Rtr, ...(side.type === "ud" ? {} : connected), ...fields })
}

/** RTR to RTS. A timer of 14 is 67 ms. */
export const readyToSend = (side: Side, fields: Fields = {}): Promise<Answer> =>
  side.must("modify", {
    state: STATE.Rts,
    spsn: side.psn,
    ...(side.type === "rc" ? { timeout: 14, retry: 7, rnrretry: 7, depth: 8 } : {}),
    ...fields,
  })

/** Moves both sides to RTS, towards each other. */
export const connect = async (
  one: Side,
  other: Side,
  options: ConnectOptions = {},
  otherOptions: ConnectOptions = options,
): Promise<void> => {
  for (const [side, peer, { init = {}, rtr = {}, rts = {} }] of [
    [one, other, options],
    [other, one, otherOptions],
  ] as const) {
    await initialize(side, init)
    await readyToReceive(side, peer, rtr)
    await readyToSend(side, rts)
  }
}
