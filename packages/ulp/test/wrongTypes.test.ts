import { describe, expect, it } from "vitest"
import { MemoryTable, RdmEndpoint, RdmError, type RdmOptions } from "../src/index.ts"
import { addressOf } from "./datagrams.ts"

/** What programs that no compiler has checked hand in. */
const WRONG: ReadonlyArray<unknown> = [null, "nonsense", Number.NaN, 1.5, true, Symbol("s"), {}, [], [null], () => 0]

const isObject = (value: unknown): boolean => typeof value === "object" && value !== null && !Array.isArray(value)

/** What became of wrong values in the place of a field, where they were not refused with an `RdmError` that names it. */
const taken = (field: string, attempt: (value: never) => unknown, isRight: (value: unknown) => boolean = () => false) =>
  WRONG.filter((value) => !isRight(value)).flatMap((value) => {
    try {
      attempt(value as never)
      return [`${field} ${typeof value}: taken`]
    } catch (error) {
      const isRefused = error instanceof RdmError && error.field.split(".")[0] === field
      return isRefused ? [] : [`${field} ${typeof value}: ${String(error)}`]
    }
  })

const whole: RdmOptions = { address: addressOf(0), mtuBytes: 1024, memory: new MemoryTable() }
const octets = new Uint8Array(8)
const target = { address: 0n, bytes: 8n, key: 1n }
const sum = { datatype: 6, operation: 2 }

describe("values of a wrong type", () => {
  it("are refused among the options of an endpoint", () => {
    const make = (options: object) => new RdmEndpoint({ ...whole, ...options })
    const isFunction = (value: unknown) => typeof value === "function"
    const isBoolean = (value: unknown) => typeof value === "boolean"
    expect([
      ...taken("options", (options) => new RdmEndpoint(options), isObject),
      ...taken("address", (address) => make({ address })),
      ...["gid", "qpn", "connid"].flatMap((field) =>
        taken("address", (value) => make({ address: { ...addressOf(0), [field]: value } })),
      ),
      ...["memory", "mtuBytes", "order", "credits", "receiveWindow", "operationsMax", "runtBytes"].flatMap((field) =>
        taken(field, (value) => make({ [field]: value })),
      ),
      ...["rdmaRead", "rdmaWrite", "deliveryComplete", "runtRead"].flatMap((field) =>
        taken(field, (value) => make({ [field]: value }), isBoolean),
      ),
      ...["packetBuffer", "peerOf"].flatMap((field) => taken(field, (value) => make({ [field]: value }), isFunction)),
    ]).toEqual([])
  })

  it("are refused by each call, and nothing is open then", () => {
    const one = new RdmEndpoint(whole)
    const ranges = [target]
    expect([
      ...taken("data", (data) => one.send(1, data, 1)),
      ...taken("peer", (peer) => one.send(peer, octets, 1)),
      ...taken("context", (context) => one.send(1, octets, context)),
      ...taken("options", (options) => one.send(1, octets, 1, options), isObject),
      ...taken("tag", (tag) => one.send(1, octets, 1, { tag })),
      ...taken("cqData", (cqData) => one.send(1, octets, 1, { cqData })),
      ...taken("buffer", (buffer) => one.receive(buffer, 1)),
      ...taken("from", (from) => one.receive(octets, 1, { from })),
      ...taken("ignore", (ignore) => one.receive(octets, 1, { ignore })),
      ...taken("options", (options) => one.receive(octets, 1, options), isObject),
      ...taken("data", (data) => one.write(1, data, ranges, 1)),
      ...taken("targets", (targets) => one.write(1, octets, targets, 1)),
      ...taken("targets", (value) => one.write(1, octets, [value], 1)),
      ...["address", "bytes", "key"].flatMap((field) =>
        taken("targets", (value) => one.write(1, octets, [{ ...target, [field]: value }], 1)),
      ),
      ...taken("into", (into) => one.read(1, into, ranges, 1)),
      ...taken("peer", (peer) => one.read(peer, octets, ranges, 1)),
      ...taken("operands", (operands) => one.atomic(1, operands, ranges, 1, sum)),
      ...taken("options", (options) => one.atomic(1, octets, ranges, 1, options), isObject),
      ...taken("result", (result) => one.fetchAtomic(1, octets, undefined, result, ranges, 1, sum)),
      ...taken("compare", (compare) => one.fetchAtomic(1, octets, compare, octets, ranges, 1, sum)),
    ]).toEqual([])
    expect(one.open).toBe(0)
    expect(() => one.send(1, null as never, 1)).toThrow("rdm: data is null, expected octets, a Uint8Array")
  })
})
