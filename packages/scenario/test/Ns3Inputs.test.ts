import { Effect } from "effect"
import { describe, expect, it } from "vitest"
import { type InputsRefused, loadNs3Inputs, type Ns3InputOptions, type Ns3Inputs } from "../src/index.ts"
import { memoryFiles } from "./memoryFiles.ts"

const TOPOLOGY = "4 1 3\n3\n0 3 100Gbps 1us 0\n1 3 100Gbps 1us 0\n2 3 25Gbps 1us 0.01\n"
const FLOWS = "2\n0 1 3 100 5000 2.0\n2 0 3 100 1 2.5\n"
const CONFIG = `TOPOLOGY_FILE topology.txt
FLOW_FILE flow.txt
CC_MODE 7
RATE_AI 50Mb/s
RATE_HAI 50Mb/s
ERROR_RATE_PER_LINK 0.5
KMAX_MAP 2 25000000000 400 100000000000 1600
KMIN_MAP 2 25000000000 100 100000000000 400
PMAX_MAP 2 25000000000 0.2 100000000000 0.2
BUFFER_SIZE 32
ENABLE_TRACE 0 L2_ACK_INTERVAL 1
`

interface Case {
  readonly config?: string | Uint8Array
  readonly topology?: string
  readonly flows?: string
  readonly files?: Readonly<Record<string, string>>
  readonly options?: Partial<Ns3InputOptions>
}

const load = (given: Case, name = "mix/config.txt"): Effect.Effect<Ns3Inputs, InputsRefused> =>
  loadNs3Inputs(name, { workingDirectory: "/work", ...given.options }).pipe(
    Effect.provide(
      memoryFiles({
        "/work/mix/config.txt": given.config ?? CONFIG,
        "/work/mix/topology.txt": given.topology ?? TOPOLOGY,
        "/work/mix/flow.txt": given.flows ?? FLOWS,
        ...given.files,
      }),
    ),
  )
const accepted = (given: Case, name?: string) => Effect.runPromise(load(given, name))
const refused = (given: Case, name?: string) => Effect.runPromise(Effect.flip(load(given, name)))

/** The messages of the faults of one refused load. */
const faults = async (given: Case, name?: string) => (await refused(given, name)).faults.map((fault) => fault.message)

describe("loadNs3Inputs", () => {
  it("gives the files as one typed whole", async () => {
    const inputs = await accepted({})
    expect(inputs.config.ccMode).toBe(7)
    expect(inputs.files).toEqual({ topology: "mix/topology.txt", flows: "mix/flow.txt", trace: "" })
    expect(inputs.flows.count).toBe(2)
    expect(Array.from(inputs.graph.isSwitch)).toEqual([0, 0, 0, 1])
    expect(inputs.routes.maxHops).toBe(1)
    expect(inputs.notes).toEqual([])
  })

  it("gives links the delays of the simulator's clock, whole nanoseconds, and switches their headroom", async () => {
    const { graph, topology } = await accepted({ topology: TOPOLOGY.replaceAll("1us", "1.2us") })
    expect(graph.links.map((link) => link.delayPs)).toEqual([1_199_000, 1_199_000, 1_199_000])
    expect(topology.links.map((link) => link.delayPs)).toEqual([1_200_000, 1_200_000, 1_200_000])
  })

  it("warns of what the simulator would not do: take acknowledgements, divide by a window, have room", async () => {
    const warnings = async (given: Case) => (await accepted(given)).notes.map(({ text }) => text)
    const none = CONFIG.replace("L2_ACK_INTERVAL 1", "")
    const [missing] = (await accepted({ config: none })).notes
    expect(missing).toMatchObject({ line: 1, column: 1, text: expect.stringContaining("L2_ACK_INTERVAL: with 0") })
    // Of 5,000 and 1 bytes; the first is a whole number of chunks.
    expect(await warnings({ config: `${none}L2_ACK_INTERVAL 9000\nL2_CHUNK_SIZE 1000\n` })).toEqual([
      "L2_ACK_INTERVAL: the last packet of 1 flow is not acknowledged: the simulator never ends such a flow, here it ends by TAIL_LOSS_TIMEOUT",
    ])
    const hpcc = CONFIG.replace("CC_MODE 7", "CC_MODE 3").replace("RATE_HAI", "HAS_WIN 0 RATE_HAI")
    expect(await warnings({ config: hpcc })).toContainEqual(expect.stringContaining("HAS_WIN: with HPCC the simulator"))
    // A chain of six switches.
    const chain = ["0 2", "2 3", "3 4", "4 5", "5 6", "6 7", "7 1"].map((ends) => `${ends} 100Gbps 1us 0`)
    const topology = `8 6 7\n2 3 4 5 6 7\n${chain.join("\n")}\n`
    const flows = "1\n0 1 3 100 5000 2.0\n"
    expect(await warnings({ config: hpcc, topology, flows })).toContainEqual(
      "CC_MODE: INT has room for 5 switches, and 1 flow would need more: their rates stay as they are, as in the simulator",
    )
  })

  it("gives links without a loss rate the one of the config", async () => {
    const { graph } = await accepted({})
    expect(graph.links.map((link) => link.lossRate)).toEqual([0.5, 0.5, 0.01])
  })

  it("looks in the working directory, the config's folder and its parent, in this order", async () => {
    const flows = "1\n0 1 3 100 7 2.0\n"
    const here = await accepted({ files: { "/work/flow.txt": flows } })
    expect(here.files.flows).toBe("flow.txt")
    expect(here.flows.count).toBe(1)
    const config = CONFIG.replace("flow.txt", "mix/flow.txt")
    const parent = await accepted({ config, options: { workingDirectory: "/elsewhere" } }, "/work/mix/config.txt")
    expect(parent.files.flows).toBe("/work/mix/flow.txt")
  })

  it("takes overrides, and reads the trace list only when packets are traced", async () => {
    const files = { "/work/mix/trace.txt": "2\n0 9\n" }
    const silent = await accepted({ options: { overrides: ["TRACE_FILE=nowhere.txt"] } })
    expect(silent.traceNodes).toEqual([])
    const overrides = ["TRACE_FILE=trace.txt", "ENABLE_TRACE=1"]
    const traced = await accepted({ files, options: { overrides } })
    expect(traced.traceNodes).toEqual([0])
    expect(traced.notes.map(({ kind, text }) => [kind, text])).toEqual([
      ["note", "node 9 is not in the topology (0..3): dropped"],
    ])
  })

  it("reads a config handed over as octets", async () => {
    const configOctets = new TextEncoder().encode(CONFIG.replace(" topology", " mix/topology"))
    const { files } = await accepted({ options: { configOctets }, files: { "/work/flow.txt": FLOWS } }, "-")
    expect(files).toEqual({ topology: "mix/topology.txt", flows: "flow.txt", trace: "" })
  })

  it("warns of windows below a chunk, and of marking thresholds the wrong way round", async () => {
    const keys = "HAS_WIN 1\nL2_BACK_TO_ZERO 1\nL2_CHUNK_SIZE 1000\nENABLE_QCN 1\nKMIN_MAP 1 1000000000 500\n"
    const { notes } = await accepted({
      config: `${CONFIG}${keys}KMAX_MAP 1 1000000000 400\nPMAX_MAP 1 1000000000 0.2\n`,
    })
    const warnings = notes.filter(({ kind }) => kind === "warning").map(({ text }) => text)
    expect(warnings).toEqual([
      expect.stringContaining("a flow whose size is no multiple of L2_CHUNK_SIZE, 1000, never ends"),
      expect.stringMatching(/^L2_BACK_TO_ZERO: acknowledgements count whole chunks of 1000 bytes/),
      "KMIN_MAP: at 1Gbps Kmin is above Kmax: all is marked above Kmax and nothing below, as in the simulator",
    ])
  })

  it("warns of keys without effect, once each, and of flows that a key keeps from ending", async () => {
    const keys =
      "DATA_RATE 1Gb/s\nEWMA_GAIN 0.1\nLINK_DOWN 10 0 3\nL2_BACK_TO_ZERO 1\nL2_CHUNK_SIZE 4000\nEWMA_GAIN 0.2\n"
    const config = `${CONFIG}${keys}`
    const { notes } = await accepted({ config })
    expect(notes.map(({ kind, line, text }) => [kind, line, text])).toEqual([
      ["note", 17, "EWMA_GAIN again: this one holds, not that of line 13"],
      ["warning", 12, "DATA_RATE: no effect: rates come from the topology file"],
      ["warning", 17, "EWMA_GAIN: no effect with CC_MODE 7 (TIMELY): only for DCQCN, DCTCP"],
      [
        "warning",
        15,
        "L2_BACK_TO_ZERO: a flow whose size is no multiple of L2_CHUNK_SIZE, 4000, never ends, as in the simulator: 2 flows",
      ],
      ["warning", 15, expect.stringContaining("a flow whose window (HAS_WIN) falls below one waits for ever")],
      [
        "warning",
        14,
        "LINK_DOWN: it leaves 2 flows without a path: with such a flow under way the simulator fails, here it does not end",
      ],
    ])
  })

  it("warns of a link that goes down once the run has ended", async () => {
    const { notes } = await accepted({ config: `${CONFIG}LINK_DOWN 9000000 0 3\n` })
    expect(notes.map(({ text }) => text)).toEqual([
      "LINK_DOWN: no effect: the run has ended by then, see SIMULATOR_STOP_TIME",
    ])
  })

  it("warns of headroom below a packet and of hosts without a link", async () => {
    const topology = TOPOLOGY.replace("4 1 3", "5 1 3").replace("100Gbps 1us", "100Gbps 1ns")
    const { notes } = await accepted({ topology })
    expect(notes.map(({ file, line, text }) => `${file}:${line} ${text}`)).toEqual([
      "mix/topology.txt:3 link 0–3 has a headroom of 36 bytes, less than one packet: switches may drop although PFC pauses; the simulator keeps three times delay · rate",
      "mix/topology.txt:1 host 4 has no link",
    ])
  })
})

describe("loadNs3Inputs refuses", () => {
  it.each<readonly [string, Case, ReadonlyArray<string>]>([
    [
      "named files that do not exist, each at its key",
      { config: CONFIG.replace("topology.txt", "t.txt").replace("flow.txt", "f.txt") },
      [
        'mix/config.txt:1:1: TOPOLOGY_FILE: found "t.txt", expected a file; none of these exists: t.txt, mix/t.txt',
        'mix/config.txt:2:1: FLOW_FILE: found "f.txt", expected a file; none of these exists: f.txt, mix/f.txt',
      ],
    ],
    [
      "a folder for a file",
      { files: { "/work/flow.txt/": "" } },
      ['mix/config.txt:2:1: FLOW_FILE: found "flow.txt", expected a file that can be read; it is a folder'],
    ],
    [
      "an unknown key",
      { config: `${CONFIG}CC_MOD 3\n` },
      ['mix/config.txt:12:1: key: found "CC_MOD", expected a key of the simulator; did you mean CC_MODE?'],
    ],
    [
      "an unknown key of an override",
      { options: { overrides: ["BUFFER_SIZE=3", "BUFER=3"] } },
      ['--set:2:1: key: found "BUFER", expected a key of the simulator'],
    ],
    [
      "rubbish",
      { config: Uint8Array.of(0x7f, 0x45, 0x4c, 0x46, 0, 1) },
      [
        'mix/config.txt:1:1: text: found "\\x7f" (octet 0), expected plain text (UTF-8, no control characters); this looks like a binary file',
      ],
    ],
    [
      "a logarithm that no digest has room for, and everything else that is wrong",
      { config: CONFIG.replace("CC_MODE 7", "CC_MODE 10\nPINT_LOG_BASE 300000"), flows: "3\n0 1 3 100 5000 2.0\n" },
      [
        "mix/flow.txt:3:1: flow: found nothing, expected 3 flows, as the first line says; the file ends after 1",
        'mix/config.txt:4:1: PINT_LOG_BASE: found "300000", expected a base of digests of 1 to 16 bits, 1.0002 to 250,000',
      ],
    ],
    [
      "a rate without thresholds",
      { topology: TOPOLOGY.replace("25Gbps", "40Gbps") },
      [
        'mix/topology.txt:5:1: rate: found "40Gbps", expected a rate in KMIN_MAP of mix/config.txt; the map has 25Gbps, 100Gbps; add 40000000000 or switch ENABLE_QCN off',
      ],
    ],
    [
      "a buffer below its headroom",
      { topology: TOPOLOGY.replaceAll("1us", "1ms"), config: CONFIG.replace("SIZE 32", "SIZE 4") },
      [
        'mix/config.txt:10:1: BUFFER_SIZE: found "4", expected at least 81 MiB; switch 3 keeps 84375000 bytes of headroom and 12288 of reserve aside: enlarge the buffer or shorten its links',
      ],
    ],
    [
      "headroom that no buffer holds",
      { topology: TOPOLOGY.replaceAll("1us", "1h") },
      [
        expect.stringMatching(
          /BUFFER_SIZE: found "32", expected links of a shorter delay or a lower rate; .*a buffer has at most 4095 MiB$/,
        ),
      ],
    ],
    [
      "chunks that end within a packet",
      { config: `${CONFIG}L2_BACK_TO_ZERO 1\nL2_CHUNK_SIZE 1500\n` },
      [
        'mix/config.txt:13:1: L2_CHUNK_SIZE: found "1500", expected with L2_BACK_TO_ZERO a multiple of PACKET_PAYLOAD_SIZE, 1000; a chunk that ends within a packet is not supported',
      ],
    ],
    [
      "chunks that the simulator divides by",
      { config: `${CONFIG}L2_BACK_TO_ZERO 1\n` },
      [
        'mix/config.txt:12:1: L2_BACK_TO_ZERO: found "1", expected 0, or an L2_CHUNK_SIZE that is a multiple of PACKET_PAYLOAD_SIZE, 1000; the simulator divides by it',
      ],
    ],
    [
      "a link down that is none",
      { config: `${CONFIG}LINK_DOWN 10 0 1\n` },
      [
        'mix/config.txt:12:1: LINK_DOWN: found "10 0 1", expected two nodes that a link joins; the topology has no link 0 to 1',
      ],
    ],
    [
      "a least rate of zero",
      { config: `${CONFIG}MIN_RATE 0Mb/s\n` },
      ['mix/config.txt:12:1: MIN_RATE: found "0Mb/s", expected an integer of at least 1 bit/s'],
    ],
    [
      "a least rate of zero, without a CC_MODE, which is DCQCN",
      { config: `${CONFIG.replace("CC_MODE 7\n", "")}RP_TIMER 300\nMIN_RATE 0Mb/s\n` },
      ['mix/config.txt:12:1: MIN_RATE: found "0Mb/s", expected an integer of at least 1 bit/s'],
    ],
    [
      "outputs of one name",
      { config: `${CONFIG}FCT_OUTPUT_FILE a/x.txt\nPFC_OUTPUT_FILE b/x.txt\n` },
      [
        'mix/config.txt:13:1: PFC_OUTPUT_FILE: found "b/x.txt", expected a base name other than x.txt; outputs go to one folder, where FCT_OUTPUT_FILE has that name',
      ],
    ],
    [
      "an output in the place of a result",
      { config: `${CONFIG}QLEN_MON_FILE flows.csv\n` },
      [
        'mix/config.txt:12:1: QLEN_MON_FILE: found "flows.csv", expected a base name other than flows.csv; outputs go to one folder, where the list of flows has that name',
      ],
    ],
    [
      "hosts that cannot reach each other",
      { topology: TOPOLOGY.replace("4 1 3", "4 1 2"), flows: "3\n0 1 3 1 1 2\n0 2 3 1 1 2\n2 0 3 1 1 2\n" },
      [
        'mix/flow.txt:3:1: destination node: found "2", expected a host that 0 can reach; mix/topology.txt has no path of links and switches between the two; 1 more flow has no path either',
      ],
    ],
    [
      "a flow to itself",
      { flows: "1\n1 1 3 1 1 2\n" },
      ['mix/flow.txt:2:3: destination node: found "1", expected a host other than 1; a flow joins two hosts'],
    ],
    [
      "a flow from a switch",
      { flows: "1\n3 1 3 1 1 2\n" },
      ['mix/flow.txt:2:1: source node: found "3", expected a host; the topology says that node 3 is a switch'],
    ],
    [
      "an unknown node",
      { flows: "1\n4 1 3 1 1 2\n" },
      ['mix/flow.txt:2:1: source node: found "4", expected a whole number 0..3'],
    ],
    [
      "a negative size",
      { flows: "1\n0 1 3 1 -5 2\n" },
      ['mix/flow.txt:2:9: size: found "-5", expected a whole number of at least 0; sizes are whole bytes'],
    ],
    [
      "a time that is no number",
      { flows: "1\n0 1 3 1 5 soon\n" },
      ['mix/flow.txt:2:11: start: found "soon", expected a number 0..9000; starts are in seconds'],
    ],
    [
      "more nodes than routes find room for",
      { topology: "60000 1 2\n3\n0 3 25Gbps 1us 0\n1 3 25Gbps 1us 0\n" },
      [
        expect.stringMatching(
          /TOPOLOGY_FILE: found "mix\/topology.txt", expected a smaller network; this is 60000 nodes and 59999 hosts, and the product of both is 250 million at most/,
        ),
      ],
    ],
    [
      "a rate of zero",
      { topology: TOPOLOGY.replace("25Gbps", "0Gbps") },
      ['mix/topology.txt:5:5: rate: found "0Gbps", expected a rate above zero'],
    ],
    [
      "an unknown unit",
      { topology: TOPOLOGY.replace("1us", "1parsec") },
      [
        'mix/topology.txt:3:13: delay: found "1parsec", expected a time such as "1000ns" or "0.001ms"; "1parsec" is no time: unknown unit "parsec"; accepted units: ps, ns, us, ms, s, min, h',
      ],
    ],
  ])("%s", async (_, given, expected) => {
    const messages = await faults(given)
    expect(messages).toEqual(expected)
  })

  it("a config that does not exist", async () => {
    expect(await faults({}, "mix/confg.txt")).toEqual([
      'mix/confg.txt: config: found "mix/confg.txt", expected a file; it does not exist',
    ])
  })
})
