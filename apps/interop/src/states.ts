import type { Fields, VerbsPeer } from "./VerbsPeer.ts"
import { must } from "./VerbsPeer.ts"

/** Attributes by the name of their bit (IBV_QP_…), with the fields of `modify` that set them to something harmless. */
const ATTRIBUTES = (gid: string, sgid: number): Readonly<Record<string, Fields>> => ({
  CUR_STATE: {},
  EN_SQD_ASYNC_NOTIFY: { notify: 1 },
  ACCESS_FLAGS: { access: 15 },
  PKEY_INDEX: { pkey: 0 },
  PORT: { port: 1 },
  QKEY: { qkey: 0x11111111 },
  AV: { gid, sgid },
  PATH_MTU: { mtu: 3 },
  TIMEOUT: { timeout: 14 },
  RETRY_CNT: { retry: 7 },
  RNR_RETRY: { rnrretry: 7 },
  RQ_PSN: { rpsn: 1 },
  MAX_QP_RD_ATOMIC: { depth: 8 },
  MIN_RNR_TIMER: { rnrtimer: 12 },
  SQ_PSN: { spsn: 1 },
  MAX_DEST_RD_ATOMIC: { resources: 8 },
  DEST_QPN: { peer: 0x111 },
})

export type AttributeName = keyof ReturnType<typeof ATTRIBUTES>

const STATES = ["RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR"] as const
const CODE = Object.fromEntries(STATES.map((name, code) => [name, code]))

/** Attributes that a change needs, by service. */
const REQUIRED: Readonly<Record<string, Readonly<Record<string, ReadonlyArray<string>>>>> = {
  rc: {
    "RESET INIT": ["PKEY_INDEX", "PORT", "ACCESS_FLAGS"],
    "INIT RTR": ["AV", "PATH_MTU", "DEST_QPN", "RQ_PSN", "MAX_DEST_RD_ATOMIC", "MIN_RNR_TIMER"],
    "RTR RTS": ["TIMEOUT", "RETRY_CNT", "RNR_RETRY", "SQ_PSN", "MAX_QP_RD_ATOMIC"],
  },
  uc: {
    "RESET INIT": ["PKEY_INDEX", "PORT", "ACCESS_FLAGS"],
    "INIT RTR": ["AV", "PATH_MTU", "DEST_QPN", "RQ_PSN"],
    "RTR RTS": ["SQ_PSN"],
  },
  ud: {
    "RESET INIT": ["PKEY_INDEX", "PORT", "QKEY"],
    "INIT RTR": [],
    "RTR RTS": ["SQ_PSN"],
  },
}

/** How a state is reached from RESET; SQE is not by a program. */
const WAY: Readonly<Record<string, ReadonlyArray<string>>> = {
  RESET: [],
  INIT: ["INIT"],
  RTR: ["INIT", "RTR"],
  RTS: ["INIT", "RTR", "RTS"],
  SQD: ["INIT", "RTR", "RTS", "SQD"],
  ERR: ["INIT", "ERR"],
}

/** What came of one change of state. */
export interface StateRow {
  readonly type: string
  readonly from: string
  readonly to: string
  /** What the change needs: it is refused without any one of them, unless that is in `unneeded`. */
  readonly required: ReadonlyArray<string>
  /** Of the change with what it needs; 0: it was accepted. */
  readonly errno: number
  readonly unneeded: ReadonlyArray<string>
  /** What may be set besides; every other attribute is refused. */
  readonly optional: ReadonlyArray<string>
  /** Refusals with another errno than EINVAL, by attribute. */
  readonly other: Readonly<Record<string, number>>
}

const EINVAL = 22

/** Tries every change of state, with the required attributes, without each, and with each other. */
export const recordStates = async (
  peer: VerbsPeer,
  say: (what: string) => void = () => {},
): Promise<ReadonlyArray<StateRow>> => {
  const device = await must(peer, "open")
  const gids = device.gids as ReadonlyArray<{ readonly index: number; readonly gid: string }>
  const own = gids.find(({ gid }) => gid.startsWith("00000000000000000000ffff"))!
  const attributes = ATTRIBUTES(own.gid, own.index)
  await must(peer, "cq")
  const rows: Array<StateRow> = []
  for (const type of ["rc", "uc", "ud"]) {
    await must(peer, "qp", { name: type, type })
    const fieldsOf = (names: ReadonlyArray<string>, from: string): Fields =>
      Object.assign({}, ...names.map((name) => (name === "CUR_STATE" ? { current: CODE[from] } : attributes[name])))
    const modify = (from: string, to: string, names: ReadonlyArray<string>) =>
      peer.do("modify", { qp: type, state: CODE[to], ...fieldsOf(names, from) })
    const arrive = async (state: string) => {
      await must(peer, "modify", { qp: type, state: 0 })
      let from = "RESET"
      for (const to of WAY[state]!) {
        const answer = await modify(from, to, REQUIRED[type]![`${from} ${to}`] ?? [])
        if (!answer.ok) throw new Error(`${type}: ${from} to ${to} was refused with ${answer.errno}`)
        from = to
      }
    }
    for (const from of Object.keys(WAY)) {
      for (const to of STATES) {
        const required = REQUIRED[type]![`${from} ${to}`] ?? []
        const unneeded: Array<string> = []
        const optional: Array<string> = []
        const other: Record<string, number> = {}
        // A queue pair that refused is where it was.
        let there = false
        const attempt = async (names: ReadonlyArray<string>): Promise<number> => {
          if (!there) await arrive(from)
          const answer = await modify(from, to, names)
          there = !answer.ok
          return answer.ok ? 0 : (answer.errno ?? -1)
        }
        const errno = await attempt(required)
        for (const name of Object.keys(attributes)) {
          const needed = required.includes(name)
          const code = await attempt(needed ? required.filter((each) => each !== name) : [...required, name])
          if (code === 0) (needed ? unneeded : optional).push(name)
          else if (code !== EINVAL) other[name] = code
        }
        rows.push({ type, from, to, required, errno, unneeded, optional, other })
      }
      say(`${type} from ${from}: ${rows.length} rows`)
    }
    await must(peer, "destroy", { qp: type })
  }
  await peer.leave()
  return rows
}
