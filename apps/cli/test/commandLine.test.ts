import { describe, expect, test } from "vitest"
import manifest from "../package.json" with { type: "json" }
import { rdmakit } from "./rdmakit.ts"

const commands = ["run", "sweep", "compare", "trace", "lint", "start"]

describe("help", () => {
  test("without arguments, and when asked", async () => {
    const { code, out, err } = await rdmakit(["--help"])
    expect({ code, err }).toEqual({ code: 0, err: "" })
    for (const command of commands) expect(out).toMatch(new RegExp(`^  ${command} +[A-Z]`, "m"))
    expect(out).toMatch(/\n\nEXAMPLES\n/)
    expect(await rdmakit([])).toEqual({ code: 0, out, err: "" })
  })

  const pcapCommands = ["verify", "info", "show", "explain", "flows", "rates", "diagnose", "convert", "merge"].map(
    (name) => `pcap ${name}`,
  )
  test.each([...commands, ...pcapCommands])("%s has examples of itself", async (command) => {
    const { code, out, err } = await rdmakit([...command.split(" "), "--help"])
    expect({ code, err }).toEqual({ code: 0, err: "" })
    expect(out).toContain(`\nUSAGE\n  rdmakit ${command} `)
    expect(out.slice(out.indexOf("EXAMPLES"))).toContain(`\n  rdmakit ${command} `)
    expect(out).toContain("--json")
    for (const line of out.split("\n")) {
      if (!line.includes("--completions")) expect(line.length).toBeLessThanOrEqual(100)
    }
    expect(await rdmakit(["help", ...command.split(" ")])).toEqual({ code: 0, out, err: "" })
  })

  test("is painted on a terminal alone", async () => {
    expect((await rdmakit(["--help"], { terminal: true })).out).toContain("\x1b[1m")
    expect((await rdmakit(["--help"])).out).not.toContain("\x1b")
  })

  test("--version", async () => {
    expect(await rdmakit(["--version"])).toEqual({ code: 0, out: `rdmakit ${manifest.version}\n`, err: "" })
  })

  test("completions of a shell", async () => {
    const { code, out } = await rdmakit(["--completions", "bash"])
    expect(code).toBe(0)
    expect(out).toContain("complete -F _rdmakit rdmakit")
  })
})

describe("a wrong command line exits with 2, says what was meant, and prints nothing else", () => {
  test.each<readonly [ReadonlyArray<string>, string]>([
    [["comapre", "a", "b"], 'error: there is no command "comapre"; did you mean compare?\nusage: rdmakit <subcommand>'],
    [["trace", "a.tr", "--jsn"], "error: there is no flag --jsn; did you mean --json?\nusage: rdmakit trace [flags]"],
    [["trace", "a.tr", "-Z"], "error: there is no flag -Z\nusage: rdmakit trace [flags]"],
    [["trace"], "error: FILE is missing\nusage: rdmakit trace [flags] <FILE> [<FILTER>]\n'rdmakit trace --help'"],
    [["compare", "a"], "error: B is missing\n"],
    [["lint", "a", "b"], "error: too many arguments: b\n"],
    [["lint", "a", "--set"], "error: "],
    [["size", "--rate", "100Gbps", "--delay", "-1us"], 'error: command line: --delay: found "-1us"'],
    [["run", "a.yaml", "--seed", "-1"], 'error: Invalid value for flag --seed: "-1"'],
    [["x\x1b[2J"], 'error: there is no command "x\\u001b[2J"'],
  ])("%j", async (args, message) => {
    const { code, out, err } = await rdmakit(args)
    expect({ code, out }).toEqual({ code: 2, out: "" })
    expect(err).toContain(message)
  })
})

describe("with --json a wrong command line is an object too", () => {
  test.each<readonly [ReadonlyArray<string>, string]>([
    [["comapre", "a", "b", "--json"], 'there is no command "comapre"; did you mean compare?'],
    [["trace", "--json"], "FILE is missing"],
    [["run", "a.yaml", "--json", "--sed", "1"], "there is no flag --sed"],
    [["run", "a.yaml", "--json", "--seed", "x"], "--seed"],
    [["run", "tiny/hpcc.config.txt", "--json", "--series", "speed"], '--series: found "speed"'],
    [["run", "tiny/hpcc.config.txt", "--json", "--out", "tiny"], "tiny: found a folder with other things"],
    [["run", "tiny/hpcc.config.txt", "--json", "--controller", "none.mjs"], "none.mjs: found nothing"],
    [["run", "nowhere.txt", "--json"], 'nowhere.txt: config: found "nowhere.txt", expected a file'],
    [["sweep", "tiny/hpcc.config.txt", "--json", "--vary", "a"], '--vary: found "a"'],
    [["lint", "tiny/hpcc.config.txt", "--json", "--set", "CC_MOD=1"], '--set:1:1: key: found "CC_MOD"'],
    [["compare", "-", "-", "--json"], "both sides are standard input"],
    [["trace", "tiny/hpcc.tr", "flow", "--json"], "filter"],
    [["trace", "nowhere.tr", "--json"], 'nowhere.tr: trace: found "nowhere.tr"'],
    [["generate", "flows", "ring", "--json"], "command line: --hosts: found nothing"],
    [["start", "--json", "--time", "soon"], "--time: "],
  ])("%j", async (args, message) => {
    const { code, out, err } = await rdmakit(args)
    expect(code).toBe(2)
    const lines = out.trimEnd().split("\n")
    expect(lines.length).toBe(1)
    const { ok, faults } = JSON.parse(lines[0]!)
    expect(ok).toBe(false)
    expect(faults[0].message).toContain(message)
    expect(err).toContain(message)
  })

  test("not when --json is an argument", async () => {
    expect((await rdmakit(["trace", "a", "b", "--", "--json"])).out).toBe("")
  })
})
