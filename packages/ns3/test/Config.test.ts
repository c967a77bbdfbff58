import { describe, expect, test } from "vitest"
import {
  applyOverrides,
  checkLinkRates,
  configKeys,
  formatConfig,
  idleEntries,
  parseConfig,
  parseTopology,
} from "../src/index.ts"
import { messageOf } from "./faults.ts"
import { textOf } from "./testdata.ts"

const least = "TOPOLOGY_FILE t FLOW_FILE f RATE_AI 50Mb/s RATE_HAI 50Mb/s CC_MODE 3\n"
const files = ["tiny/hpcc", "tiny/dcqcn", "tiny/timely", "incast16/hpcc", "pfcdemo/timely", "fat320-fbhdp/dcqcn"]

describe("configs of the simulator", () => {
  test.each(files)("%s is read whole and written back", (name) => {
    const text = textOf(`${name}.config.txt`)
    const config = parseConfig(text, "config.txt")
    expect(config.notes).toEqual([])
    const words = (from: string) => from.split(/\s+/).filter((word) => word !== "")
    expect(words(formatConfig(config)).sort()).toEqual(words(text).sort())
    expect(parseConfig(formatConfig(config), "config.txt").config).toEqual(config.config)
  })

  test("values are in rdmakit's units", () => {
    const { config } = parseConfig(textOf("fat320-fbhdp/hpcc.config.txt"), "config.txt")
    expect(config).toMatchObject({
      ccMode: 3,
      topologyFile: "topo_fat320.txt",
      rateAiBps: 50e6,
      minRateBps: 1e9,
      bufferBytes: 32 * 1024 * 1024,
      stopPs: 4e12,
      rpTimerPs: 300e6,
      hasWindow: true,
      linkDown: undefined,
      tailLossTimeoutPs: 1e11,
    })
    expect(config.kmaxBytes.get(100e9)).toBe(1_600_000)
    expect(config.pmax.get(400e9)).toBe(0.2)
  })
})

describe("what is missing has the original's default", () => {
  test("a config of the required keys", () => {
    const { config } = parseConfig(least, "config.txt")
    expect(config).toMatchObject({
      fctOutputFile: "fct.txt",
      pfcOutputFile: "pfc.txt",
      traceOutputFile: "",
      stopSeconds: 3.01,
      ewmaGain: 0,
      multiRate: true,
      payloadBytes: 1000,
      l2AckIntervalBytes: 0,
      dataRateBps: undefined,
    })
  })

  test("without a required key it says which", () => {
    expect(messageOf(() => parseConfig("TOPOLOGY_FILE t\nFLOW_FILE f\nRATE_AI 1Gb/s\n", "c"))).toBe(
      "c:4:1: RATE_HAI: found nothing, expected RATE_HAI: hyper additive increase; the original cannot run without it",
    )
  })

  test("every key names its meaning and whether it has effect", () => {
    expect(configKeys.size).toBe(51)
    const idle = [...configKeys.values()].filter(({ effect }) => effect === "none in the original")
    expect(idle.map(({ key }) => key)).toEqual(["USE_DYNAMIC_PFC_THRESHOLD", "DATA_RATE", "LINK_DELAY"])
    expect([...configKeys.values()].filter(({ ours }) => ours).map(({ key }) => key)).toEqual(["TAIL_LOSS_TIMEOUT"])
  })

  test("keys without effect are found", () => {
    const config = parseConfig(`${least}DATA_RATE 10Gbps\nDCTCP_RATE_AI 1Gb/s`, "c")
    expect(idleEntries(config).map(({ entry, why }) => `${entry.key}: ${why}`)).toEqual([
      "RATE_HAI: no effect with CC_MODE 3 (HPCC): only for DCQCN, TIMELY",
      "DATA_RATE: no effect: rates come from the topology file",
      "DCTCP_RATE_AI: no effect with CC_MODE 3 (HPCC): only for DCTCP",
    ])
  })

  test("with a controller of one's own those of the original's have none, those of its feedback have", () => {
    const config = parseConfig(`${least}VAR_WIN 1\nHAS_WIN 1\nINT_MULTI 2\nU_TARGET 0.9\nDATA_RATE 10Gbps`, "c")
    const idle = (ccMode: 3 | 7) => idleEntries(config, { name: "mine", ccMode }).map(({ entry }) => entry.key)
    const own = [...new Set([...config.entries.keys()])].filter((key) => key === "CC_MODE" || key.startsWith("RATE_"))
    expect(idle(3)).toEqual([...own, "VAR_WIN", "U_TARGET", "DATA_RATE"])
    expect(idle(7)).toEqual([...own, "VAR_WIN", "INT_MULTI", "U_TARGET", "DATA_RATE"])
    expect(idleEntries(config, { name: "mine", ccMode: 3 })[0]!.why).toBe(
      "no effect with the controller mine in place of CC_MODE 3",
    )
  })
})

describe("errors point at the word", () => {
  test.each([
    ["CC_MOD 3", '1:1: key: found "CC_MOD", expected a key of the simulator; did you mean CC_MODE?'],
    ["# mine", '1:1: key: found "#", expected a key of the simulator; these files have no comments'],
    ["CC_MODE 5", '1:9: CC_MODE: found "5", expected 1 (DCQCN), 3 (HPCC), 7 (TIMELY), 8 (DCTCP), 10 (HPCC-PINT)'],
    [
      "CC_MODE dcqnc",
      '1:9: CC_MODE: found "dcqnc", expected 1 (DCQCN), 3 (HPCC), 7 (TIMELY), 8 (DCTCP), 10 (HPCC-PINT); did you mean 1, DCQCN?',
    ],
    ["\n VAR_WIN 2", '2:10: VAR_WIN: found "2", expected a whole number 0..1'],
    ["BUFFER_SIZE 4096", '1:13: BUFFER_SIZE: found "4096", expected a whole number 0..4095'],
    ["EWMA_GAIN 1/16", '1:11: EWMA_GAIN: found "1/16", expected a number 0..1'],
    ["EWMA_GAIN", "1:10: EWMA_GAIN: found nothing, expected gain g of the moving average; the file ends here"],
    [
      "TRACE_FILE\nFLOW_FILE f",
      '2:1: TRACE_FILE: found "FLOW_FILE", expected a path; the value of TRACE_FILE is missing: this is the next key',
    ],
    [
      "KMAX_MAP 2 25000000000 400",
      "1:27: KMAX_MAP: found nothing, expected 2 pairs of a rate and a number; the file ends here",
    ],
    [
      "MIN_RATE 100MB",
      '1:10: MIN_RATE: found "100MB", expected a rate such as "100Gbps" or "50Mb/s"; "100MB" is no rate',
    ],
    ["ENABLE_QCN\u0000 1", '1:11: text: found "\\x00" (octet 10), expected plain text'],
    ["{a remark", '1:10: remark: found nothing, expected the "}" of the remark at 1:1; the file ends here'],
  ])("%j", (text, message) => {
    expect(messageOf(() => parseConfig(text, "c"))).toContain(`c:${message}`)
  })

  test("DCQCN's timers may not be zero, given or not", () => {
    const dcqcn = `${least}CC_MODE 1\n`
    expect(messageOf(() => parseConfig(dcqcn, "c"))).toMatch(/^c:3:1: RP_TIMER: found nothing, expected RP_TIMER of at/)
    const text = `${dcqcn}RP_TIMER 300 ALPHA_RESUME_INTERVAL 0.5`
    expect(messageOf(() => parseConfig(text, "c"))).toMatch(/^c:3:14: ALPHA_RESUME_INTERVAL: found "0.5"/)
  })
})

describe("what is kept with a note", () => {
  test("a key that is there many times has one note, and a config has its bound", () => {
    const { notes, config } = parseConfig(`${least}${"CC_MODE 3\n".repeat(999)}CC_MODE 7\n`, "c.txt")
    expect(notes.map(({ text }) => text)).toEqual([
      expect.stringMatching(/^CC_MODE again, 1000 times: this one holds, not/),
    ])
    expect(config.ccMode).toBe(7)
    expect(messageOf(() => parseConfig("CC_MODE 3\n".repeat(200_000), "c.txt"))).toBe(
      'c.txt: config: found "2000000 bytes", expected at most 1048576 bytes; flows go into the file that FLOW_FILE names',
    )
  })

  test("repeated keys, maps that add up, remarks, fractions", () => {
    const text = `${least}CC_MODE 7
KMAX_MAP 1 25000000000 400
KMAX_MAP 1 50000000000 800 {by line rate}
RP_TIMER 300.7
`
    const { config, entries, notes } = parseConfig(text, "c")
    expect(config.ccMode).toBe(7)
    expect([...config.kmaxBytes]).toEqual([
      [25e9, 400_000],
      [50e9, 800_000],
    ])
    expect(entries.get("KMAX_MAP")?.words.join(" ")).toBe("2 25000000000 400 50000000000 800")
    expect(config.rpTimerPs).toBe(300e6)
    expect(notes.map(({ line, text }) => `${line}: ${text}`)).toEqual([
      "2: CC_MODE again: this one holds, not that of line 1",
      "4: KMAX_MAP again: added to the map of line 3",
      "4: a {remark}: skipped, as the original skips every word that is no key",
      "5: RP_TIMER 300.7: the original drops the fraction of a microsecond",
    ])
  })
})

describe("overrides", () => {
  test("replace values", () => {
    const config = applyOverrides(parseConfig(least, "c"), [
      "U_TARGET=0.9",
      "KMAX_MAP=1 100000000000 1600",
      "LINK_DOWN=5 1 2",
      "TAIL_LOSS_TIMEOUT=0",
    ]).config
    expect(config).toMatchObject({
      targetUtilisation: 0.9,
      linkDown: { afterPs: 5e6, a: 1, b: 2 },
      tailLossTimeoutPs: 0,
    })
    expect([...config.kmaxBytes]).toEqual([[100e9, 1_600_000]])
  })

  test.each([
    ["U_TARGET 0.9", '--set:2:1: override: found "U_TARGET", expected KEY=value'],
    ["U_TARGE=0.9", '--set:2:1: key: found "U_TARGE", expected a key of the simulator; did you mean U_TARGET?'],
    ["U_TARGET=", "--set:2:10: U_TARGET: found nothing, expected target utilisation eta; the file ends here"],
    ["U_TARGET=0.9 0.8", '--set:2:14: U_TARGET: found "0.8", expected nothing more'],
    ["", "--set:2:1: override: found nothing, expected KEY=value; the file ends here"],
  ])("%j is refused", (override, message) => {
    expect(messageOf(() => applyOverrides(parseConfig(least, "c"), ["CC_MODE=7", override]))).toBe(message)
  })
})

describe("a config fits its topology", () => {
  const check =
    (rate: string, overrides: ReadonlyArray<string> = []) =>
    () => {
      const config = applyOverrides(parseConfig(textOf("tiny/hpcc.config.txt"), "c"), overrides)
      checkLinkRates(config, parseTopology(`3 1 2\n2\n0 2 100Gbps 1us 0\n1 2 ${rate} 1us 0\n`, "t"), "t")
    }
  const thresholds = ["KMIN_MAP=1 10000000000 1", "KMAX_MAP=1 10000000000 4", "PMAX_MAP=1 10000000000 0.2"]

  test.each([
    [check("400Gbps"), "no error"],
    [check("10Gbps", ["ENABLE_QCN=0", "CC_MODE=7"]), "no error"],
    [
      check("10Gbps"),
      't:4:1: rate: found "10Gbps", expected a rate in KMIN_MAP of c; the map has 100Gbps, 400Gbps; add',
    ],
    [
      check("100Gbps", thresholds),
      't:3:1: rate: found "100Gbps", expected a rate in KMIN_MAP of c; the map has 10Gbps',
    ],
    [
      check("10Gbps", ["ENABLE_QCN=0"]),
      't:4:1: rate: found "10Gbps", expected 25Gbps, 50Gbps, 100Gbps, 200Gbps, 400Gbps; HPCC',
    ],
  ])("%#", (run, message) => {
    expect(messageOf(run)).toContain(message)
  })
})
