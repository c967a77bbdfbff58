/** What parts of one's own have to be when they are made, and who looks at what they do from then on. */
import { type HostNic, type HostNicOptions, ReadyListNic, RoundRobinNic } from "@rdmakit/nic"
import { hasFields, type Nic, type Switch } from "@rdmakit/protocol"
import type { ExactKernel } from "@rdmakit/sim"
import { checkedSwitch } from "@rdmakit/switch"
import { check } from "./NetworkOptionError.ts"
import type { MakeNic, MakeSwitch, SwitchContext } from "./WorldParts.ts"

const fieldOf = (part: object, name: string): unknown => (part as Readonly<Record<string, unknown>>)[name]

/** Refuses a part that lacks one of the methods it is called by. @param kind as in "a switch" */
const checkMethods = (option: string, part: object, kind: string, names: ReadonlyArray<string>): void => {
  for (const name of names) {
    const method = fieldOf(part, name)
    check(`${option}: ${name}`, method, typeof method === "function", `a function, as ${kind} has it`)
  }
}

/** What a model of switches gave for a network. @throws NetworkOptionError */
export const switchMaker = (made: MakeSwitch): MakeSwitch => {
  check("what switches gave", made, typeof made === "function", "a function that makes a switch")
  return made
}

/** What a model of NICs gave for a network. @throws NetworkOptionError */
export const nicMaker = (made: MakeNic): MakeNic => {
  check("what nics gave", made, typeof made === "function", "a function that makes the NICs of all hosts")
  return made
}

/**
 * A switch of a network. One of one's own is looked at each time it is asked (`SwitchFault`); ours is as it was.
 * @throws NetworkOptionError for what is no switch
 */
export const madeSwitch = (make: MakeSwitch, context: SwitchContext): Switch => {
  const { node, ports } = context
  const made = make(context)
  const option = `switch ${node}`
  check(option, made, hasFields(made), "a switch, { dequeue, perPacket, route, admit, dequeued }")
  const { dequeue, perPacket } = made
  check(`${option}: dequeue`, dequeue, dequeue === "eager" || dequeue === "lazy", "eager or lazy")
  check(`${option}: perPacket`, perPacket, typeof perPacket === "boolean", "true or false")
  checkMethods(option, made, "a switch", ["route", "admit", "dequeued"])
  return checkedSwitch(made, node, [...ports.portsOf(node)])
}

/** All that a network asks of the NICs of its hosts. */
const NIC_METHODS = ["receive", "pull", "quiet", "timer", "add", "clear", "dropControl"]
/** What a subclass of `HostNic` says. */
const SCHEDULER_METHODS = ["touched", "pullData", "dataQuiet"]

/** The NICs of a network, and what its kernel is to see of them, or of what stands before them. */
interface MadeNics<Command, Event> {
  readonly nic: HostNic<Command, Event>
  readonly watched: (nic: Nic) => Nic
}

/**
 * The NICs of a network. What others than ours ask of the kernel, and what they send, is looked at (`NicFault`).
 * @throws NetworkOptionError for what are no NICs
 */
export const madeNics = <Command, Event>(
  make: (options: HostNicOptions<Command, Event>) => HostNic<Command, Event>,
  options: HostNicOptions<Command, Event> & { readonly ports: ExactKernel },
): MadeNics<Command, Event> => {
  const made = make(options)
  check("NICs", made, hasFields(made), "the NICs of all hosts, a subclass of HostNic")
  checkMethods("NICs", made, "a subclass of HostNic", [...NIC_METHODS, ...SCHEDULER_METHODS])
  // A subclass of ours may do anything.
  const kind: unknown = Object.getPrototypeOf(made)
  const isOurs = kind === ReadyListNic.prototype || kind === RoundRobinNic.prototype
  return { nic: made, watched: isOurs ? (nic) => nic : options.ports.watchNics() }
}
