import { hasFields, shown } from "@rdmakit/protocol"
import type { Graph } from "@rdmakit/topology"
import { parseSize, parseTime, UnitError } from "@rdmakit/units"
import { Data } from "effect"
import type { Flow } from "./FlowTable.ts"
import { check } from "./NetworkOptionError.ts"

/** A flow to simulate: one RDMA WRITE over a connection of its own. */
export interface FlowInput {
  /** Hosts. */
  readonly source: number
  readonly destination: number
  /** Bytes, or a text such as "1MB". */
  readonly size: number | string
  /** Picoseconds, or a text such as "10us". Default 0. */
  readonly start?: number | string
  /** 1 to 7. Default 3. */
  readonly priority?: number
  /** UDP ports, 0 to 65,535: what ECMP hashes. Default: the next of 49,152 up for each pair of hosts, to 4,791. */
  readonly sourcePort?: number
  readonly destinationPort?: number
  /** Name of what it is part of: results are told by it. Up to 65,536 different ones. Default: empty. */
  readonly workload?: string
}

/** A flow that cannot be simulated. */
export class FlowInvalid extends Data.TaggedError("FlowInvalid")<{
  /** Its index among those given. */
  readonly flow: number
  readonly field: keyof FlowInput
  readonly found: string
  readonly expected: string
}> {
  override get message(): string {
    return `flow ${this.flow}: ${this.field} is ${this.found}, expected ${this.expected}`
  }
}

/** Texts as they are written: a message says which field it is. */
const found = (value: unknown): string => (typeof value === "string" ? value : shown(value))

const PRIORITY = 3
/** RoCEv2's UDP port (IBTA 1.7 Annex A17), and the range its senders take theirs from. */
const ROCE_PORT = 4791
const FIRST_PORT = 49_152
const PORTS = 16_384
const WORKLOADS_MAX = 65_536

/**
 * Checks flows against a network, fills in what they leave out and sorts them by start; those of equal start keep
 * their order.
 *
 * @throws FlowInvalid, the first; NetworkOptionError for what is no list
 */
export const flowsOf = (inputs: ReadonlyArray<FlowInput>, graph: Graph): Array<Flow> => {
  const used = new Map<number, number>()
  const workloads = new Set<string>()
  check("flows", inputs, Array.isArray(inputs), "a list of flows")
  const flows = Array.from(inputs, (given, index): Flow => {
    // What is no flow has no source.
    const input: FlowInput = hasFields(given) ? given : ({} as FlowInput)
    const fail = (field: keyof FlowInput, expected: string): FlowInvalid =>
      new FlowInvalid({ flow: index, field, found: found(input[field]), expected })
    const quantity = (field: "size" | "start", parse: (text: string) => number): number => {
      const value = field === "start" ? (input.start ?? 0) : input[field]
      if (typeof value === "string") {
        try {
          return parse(value)
        } catch (error) {
          if (error instanceof UnitError) throw fail(field, `a ${error.quantity} such as ${EXAMPLES[field]}`)
          throw error
        }
      }
      if (Number.isSafeInteger(value) && Number(value) >= 0) return Number(value)
      throw fail(field, field === "size" ? "a whole number of bytes" : "whole picoseconds, 0 or more")
    }
    const { source, destination, priority = PRIORITY, destinationPort = ROCE_PORT, workload = "" } = input
    for (const field of ["source", "destination"] as const) {
      const isNode = Number.isInteger(input[field])
      if (!isNode || graph.isSwitch[input[field]] !== 0) throw fail(field, "a host")
    }
    if (source === destination) throw fail("destination", "a host other than the source")
    if (!(Number.isInteger(priority) && priority >= 1 && priority <= 7)) throw fail("priority", "1 to 7")
    const pair = source * graph.nodes + destination
    const count = used.get(pair) ?? 0
    used.set(pair, count + 1)
    const sourcePort = input.sourcePort ?? FIRST_PORT + (count % PORTS)
    const isPort = (port: number): boolean => Number.isInteger(port) && port >= 0 && port <= 0xffff
    if (!isPort(sourcePort)) throw fail("sourcePort", "0 to 65535")
    if (!isPort(destinationPort)) throw fail("destinationPort", "0 to 65535")
    if (typeof workload !== "string") throw fail("workload", "a name")
    if (workloads.add(workload).size > WORKLOADS_MAX) throw fail("workload", `at most ${WORKLOADS_MAX} different names`)
    return {
      source,
      destination,
      priority,
      bytes: quantity("size", parseSize),
      start: quantity("start", parseTime),
      sourcePort,
      destinationPort,
      workload,
    }
  })
  return flows.sort((a, b) => a.start - b.start)
}

const EXAMPLES = { size: "1MB", start: "10us" } as const
