import { tcp } from "@rdmakit/cc-cubic"
import { hpcc, hpccPresets } from "@rdmakit/cc-hpcc"
import { srd } from "@rdmakit/cc-srd"
import { type HostNicOptions, ReadyListNic } from "@rdmakit/nic"
import type { ControllerFactory, FlowTransport, Time } from "@rdmakit/protocol"
import { star } from "@rdmakit/topology"
import { erdmaFlows } from "@rdmakit/transport-erdma"
import { srdConfig, srdFlows } from "@rdmakit/transport-srd"
import { tcpConfig, tcpFlows } from "@rdmakit/transport-tcp"
import { describe, expect, it } from "vitest"
import { type NicFactory, sharedBufferSwitches, VerbsNetwork } from "../src/index.ts"
import { incast, lineRate, runFlows } from "./runs.ts"
import { connect, type End, makeEnd, write } from "./verbs/connected.ts"

describe("a NIC of one's own", () => {
  class Own<Command, Event> extends ReadyListNic<Command, Event> {}

  const cubic = tcp({ variant: "cubic" })
  it.each<[string, ControllerFactory, ((controller: ControllerFactory) => FlowTransport) | undefined]>([
    ["rc", hpcc(hpccPresets["later-advice"]), undefined],
    ["srd", srd(), (controller) => srdFlows(srdConfig({ controller }))],
    ["tcp", cubic, (controller) => tcpFlows(tcpConfig({ controller }))],
    ["erdma", cubic, (controller) => erdmaFlows({ controller })],
  ])("under %s does as ours where it is sound, whatever is lost", (_name, controller, makeTransport) => {
    const graph = star(5, { rate: "100Gbps", delay: "1us", loss: 0.01 })
    const run = (kernel: "exact" | "fused", nics?: NicFactory) => {
      const parts = { ...(nics && { nics }), ...(makeTransport && { makeTransport }) }
      const switches = sharedBufferSwitches({ lossless: false, bufferBytes: 100_000 })
      return runFlows({ graph, controller, kernel, switches, ...parts }, incast(4, 300_000)).outcome
    }
    const ours = run("fused")
    expect(ours.flowsFinished).toBe(4)
    expect(ours.retransmissions).toBeGreaterThan(0)
    for (const kernel of ["exact", "fused"] as const) {
      expect(run(kernel, () => (options) => new Own(options)).digest).toBe(ours.digest)
    }
  })

  /** A NIC that sends something else in place of its third packet, after those whose handles are `before`. */
  const sending = <Command, Event>(
    options: HostNicOptions<Command, Event>,
    instead: (before: ReadonlyArray<number>) => unknown,
  ) => {
    const nic = new Own(options)
    const { pull } = nic
    const before: Array<number> = []
    return Object.assign(nic, {
      pull: (now: Time, port: number, paused: number) => {
        if (before.length === 2) return instead(before) as number
        const handle = pull(now, port, paused)
        if (handle >= 0) before.push(handle)
        return handle
      },
    })
  }

  it.each<[string, (before: ReadonlyArray<number>) => unknown, string]>([
    ["nothing", () => undefined, "nothing, which is no packet"],
    ["NaN", () => Number.NaN, "NaN, which is no packet"],
    ["a text", () => "0", '"0", which is no packet'],
    ["half a packet", () => 0.5, "0.5, which is no packet"],
    ["another negative number", () => -2, "-2, which is no packet"],
    ["a packet that was never made", () => 900, "900, which is no packet"],
    ["one of no pool", () => 1 << 26, "67108864, which is no packet"],
    ["a packet for the second time", ([first]) => first, "\\d+, a packet that is on its way already"],
  ])("that sends %s is told of, with its host", (_name, instead, found) => {
    const message = new RegExp(`^NIC of host 0, at \\S+ us: pull gave ${found}: expected the handle of a packet, or -1`)
    const nics: NicFactory = () => (options) => sending(options, instead)
    const flows = () => runFlows({ graph: star(3), controller: lineRate, nics }, incast(2, 10_000))
    expect(flows).toThrow(message)
    expect(flows).toThrow(expect.objectContaining({ _tag: "NicFault", node: 0 }))

    const network = new VerbsNetwork({ graph: star(2), makeNic: (options) => sending(options, instead) })
    const [a, b] = network.devices.map((device) => makeEnd(device, "rc")) as [End, End]
    connect(a, b)
    write(a, b, 20_000)
    expect(() => network.run()).toThrow(message)
  })
})
