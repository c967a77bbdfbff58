/** What faults have to be, before a run and where a program asks for them. */
import { hasFields, shown } from "@rdmakit/protocol"
import type { Impairment, ReceiverLimit } from "@rdmakit/sim"
import { type Graph, TopologyError } from "@rdmakit/topology"
import type { Direction, Fault } from "./LinkFaults.ts"
import { check, checkBoolean, checkMoment, checkWord } from "./NetworkOptionError.ts"

/**
 * Faults by time.
 * @throws TopologyError for links and hosts that do not exist, and chances, times and rates that make no sense;
 * NetworkOptionError for what is no fault
 */
export const checkedFaults = (faults: ReadonlyArray<Fault>, graph: Graph): ReadonlyArray<Fault> => {
  check("faults", faults, Array.isArray(faults), "a list of faults")
  for (const [index, fault] of faults.entries()) {
    const name = `faults[${index}]`
    check(name, fault, hasFields(fault), "a fault, { time, link } or { time, host }")
    checkMoment(`${name}.time`, fault.time)
    if ("host" in fault) {
      checkHost(fault.host, graph)
      checkReceiver(fault.host, fault.receiver)
      continue
    }
    const { link, up, lossRate = 0, impairment, direction } = fault
    checkLink(link, graph)
    checkBoolean(`${name}.up`, up)
    checkDirection(`${name}.direction`, direction)
    checkShare(link, "loss rate", lossRate)
    if (impairment !== undefined) checkImpairment(link, impairment)
  }
  return faults.toSorted((a, b) => a.time - b.time)
}

/** @throws TopologyError "unknown-link" */
export const checkLink = (link: number, { links }: Graph): void => {
  if (typeof link === "number" && links[link] !== undefined) return
  throw new TopologyError("unknown-link", `link ${shown(link)} does not exist`, { link })
}

/** @throws NetworkOptionError */
export const checkDirection = (option: string, direction: Direction | undefined): void =>
  checkWord(option, direction, ["both", "forward", "backward"])

/** @throws TopologyError "loss" when a chance is none, "delay"; NetworkOptionError for what is no impairment */
export const checkImpairment = (link: number, impairment: Impairment): void => {
  check(`impairment of link ${link}`, impairment, hasFields(impairment), "an object of chances and times")
  for (const name of ["blackHole", "loss", "corruption", "duplication", "reordering"] as const) {
    checkShare(link, name, impairment[name] ?? 0)
  }
  const refuse = (name: string, found: string, expected: string): never => {
    throw new TopologyError("delay", `link ${link}: ${name} is ${found}, expected ${expected}`, { link })
  }
  const { reorderPs = 0, delayPs = [0, 0] } = impairment
  if (!isQuantity(reorderPs)) refuse("reorderPs", shown(reorderPs), "a finite time of at least 0, ps")
  const expected = "two finite times of at least 0, ps, the least at most the most"
  if (!Array.isArray(delayPs)) refuse("delayPs", shown(delayPs), expected)
  const [least, most] = delayPs
  if (delayPs.length === 2 && isQuantity(least) && isQuantity(most) && least <= most) return
  refuse("delayPs", `[${delayPs.map(shown).join(", ")}]`, expected)
}

/** A finite number of at least 0. */
const isQuantity = (value: unknown): boolean => Number.isFinite(value) && Number(value) >= 0

const checkShare = (link: number, name: string, share: number): void => {
  if (typeof share === "number" && share >= 0 && share <= 1) return
  throw new TopologyError("loss", `link ${link}: ${name} ${shown(share)} is not between 0 and 1`, { link })
}

/** @throws TopologyError "not-a-host" */
export const checkHost = (node: number, { isSwitch }: Graph): void => {
  if (typeof node === "number" && isSwitch[node] === 0) return
  throw new TopologyError("not-a-host", `node ${shown(node)} is not a host`, { node })
}

/** @throws TopologyError "rate", "buffer"; NetworkOptionError for what is no limit */
export const checkReceiver = (node: number, receiver: ReceiverLimit | undefined): void => {
  const option = `receiver of host ${node}`
  check(option, receiver, receiver === undefined || hasFields(receiver), "a limit, { rateBps }, or nothing")
  if (receiver === undefined) return
  const { rateBps, bufferBytes = 1, pauses } = receiver
  if (!isQuantity(rateBps))
    throw new TopologyError("rate", `host ${node} receives at ${shown(rateBps)} bit/s: expected at least 0`, { node })
  if (!(Number.isSafeInteger(bufferBytes) && bufferBytes > 0)) {
    const found = shown(bufferBytes)
    throw new TopologyError("buffer", `host ${node} has a buffer of ${found} bytes: expected at least 1`, { node })
  }
  checkBoolean(`${option}: pauses`, pauses)
}
