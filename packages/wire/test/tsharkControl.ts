import type { Headers } from "../src/Decode.ts"
import type { LldpTlv } from "../src/Lldp.ts"

type Value = number | bigint | boolean | string
/** What to ask tshark for, and what the nodes of a format say of it: nothing, one value, or one for each occurrence. */
export type Asked<F extends keyof Headers> = Readonly<
  Record<string, (value: Headers[F]) => Value | ReadonlyArray<Value> | undefined>
>

const priorities = [0, 1, 2, 3, 4, 5, 6, 7] as const
const each = <A>(field: (index: number) => readonly [string, A]): Readonly<Record<string, A>> =>
  Object.fromEntries(priorities.map(field))

export const pfcFields: Asked<"pfc"> = {
  "macc.opcode": (pfc) => (pfc.kind === "pause" ? 0x0001 : 0x0101),
  "macc.pause_time": (pfc) => (pfc.kind === "pause" ? pfc.quanta : undefined),
  ...each((priority) => [
    `macc.cbfc.enbv.c${priority}`,
    (pfc: Headers["pfc"]) => (pfc.kind === "pfc" ? pfc.quanta[priority] !== undefined : undefined),
  ]),
  ...each((priority) => [
    `macc.cbfc.pause_time.c${priority}`,
    (pfc: Headers["pfc"]) => (pfc.kind === "pfc" ? (pfc.quanta[priority] ?? 0) : undefined),
  ]),
}

type Dcbx<K extends LldpTlv["kind"]> = Extract<LldpTlv, { readonly kind: K }>
const of = <K extends LldpTlv["kind"]>({ tlvs }: Headers["lldp"], ...kinds: ReadonlyArray<K>): ReadonlyArray<Dcbx<K>> =>
  tlvs.filter((tlv): tlv is Dcbx<K> => kinds.some((kind) => kind === tlv.kind))

const ets = (lldp: Headers["lldp"]) => of(lldp, "etsConfiguration", "etsRecommendation")
const applications = (lldp: Headers["lldp"]) => of(lldp, "applicationPriority").flatMap(({ table }) => table)
const selections = { strict: 0, creditBasedShaper: 1, ets: 2, vendor: 255 } as const

export const lldpFields: Asked<"lldp"> = {
  "lldp.time_to_live": (lldp) => of(lldp, "timeToLive").map(({ seconds }) => seconds),
  "lldp.dcbx.ieee.willing": (lldp) => of(lldp, "etsConfiguration", "pfcConfiguration").map(({ willing }) => willing),
  "lldp.dcbx.ieee.ets.cbs": (lldp) => of(lldp, "etsConfiguration").map(({ creditBasedShaper }) => creditBasedShaper),
  "lldp.dcbx.ieee.ets.maxtcs": (lldp) => of(lldp, "etsConfiguration").map(({ trafficClassesMax }) => trafficClassesMax),
  ...each((index) => [
    `lldp.dcbx.feature.pg.pgid_prio${index}`,
    (lldp: Headers["lldp"]) => ets(lldp).map(({ trafficClasses }) => trafficClasses[index]!),
  ]),
  ...each((index) => [
    `lldp.dcbx.feature.pg.per${index}`,
    (lldp: Headers["lldp"]) => ets(lldp).map(({ bandwidths }) => bandwidths[index]!),
  ]),
  ...each((index) => [
    `lldp.dcbx.ieee.ets.tsa${index}`,
    (lldp: Headers["lldp"]) => ets(lldp).map((tlv) => selections[tlv.selections[index]!]),
  ]),
  "lldp.dcbx.ieee.pfc.mbc": (lldp) => of(lldp, "pfcConfiguration").map(({ macsecBypass }) => macsecBypass),
  "lldp.dcbx.ieee.pfc.numtcs": (lldp) => of(lldp, "pfcConfiguration").map(({ capability }) => capability),
  ...each((index) => [
    `lldp.dcbx.feature.pfc.prio${index}`,
    (lldp: Headers["lldp"]) => of(lldp, "pfcConfiguration").map(({ enabled }) => enabled[index]!),
  ]),
  "lldp.dcbx.ieee.app.prio": (lldp) => applications(lldp).map(({ priority }) => priority),
  "lldp.dcbx.feature.app.proto": (lldp) => applications(lldp).map(({ protocol }) => protocol),
}
