import { spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { setTimeout } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { describe, expect, test } from "vitest"
import { folderOf, octetsOf, shell, shellCommand, testdata, textOf } from "./rdmakit.ts"

const captures = fileURLToPath(new URL("../../../testdata/captures", import.meta.url))

describe("the program", () => {
  test("exits with the code of its command", async () => {
    const [fine, different, refused] = await Promise.all([
      shell("rdmakit compare tiny/hpcc.tr tiny/hpcc.tr"),
      shell("rdmakit compare tiny/hpcc.tr tiny/timely.tr"),
      shell("rdmakit lint nowhere.txt"),
    ])
    expect([fine.code, different.code, refused.code]).toEqual([0, 1, 2])
    expect(fine.out).toMatch(/\nidentical\n$/)
    expect(refused.err).toContain('error: nowhere.txt: config: found "nowhere.txt", expected a file')
  })

  test("starts where compiled code cannot be kept", async () => {
    const places = [{ TMPDIR: "/nowhere" }, { TMPDIR: "/dev/null" }, { NODE_DISABLE_COMPILE_CACHE: "1" }]
    for (const environment of places) {
      const { code, out, err } = await shell("rdmakit --version", environment)
      expect({ code, out, err }).toEqual({ code: 0, out: expect.stringContaining("0.0.0"), err: "" })
    }
  }, 60_000)

  test("sets nothing of the compiler that this Node does not know", async () => {
    const out = `${folderOf({})}/out`
    const { code, err } = await shell(`rdmakit run tiny/hpcc.config.txt --no-report --out ${out}`)
    expect({ code, err }).toEqual({ code: 0, err: expect.not.stringContaining("flag") })
  }, 30_000)

  test("reads standard input and writes a whole pipe", async () => {
    const { out, err } = await shell("cat tiny/hpcc.tr | rdmakit trace - | cat")
    expect({ out, err }).toEqual({ out: textOf("tiny/hpcc.tr.txt"), err: "" })
  })

  test.runIf(existsSync("/dev/full"))("says when its output cannot be written", async () => {
    const { code, err } = await shell("rdmakit trace tiny/hpcc.tr > /dev/full")
    expect(code).toBe(2)
    expect(err).toContain(
      "error: the output cannot be written: there is no room left on the disk\nwhat is written of it",
    )
  })

  // A limit on the size of files: as on a full disk, the write that meets it is cut short, and only the next one fails.
  test.each(["generate topology fat-tree --k 8", "trace tiny/hpcc.tr", "schema", "run --help"])(
    "a file that takes only the beginning is told of: %s",
    async (command) => {
      const cwd = folderOf({})
      const line = `trap "" XFSZ; ulimit -f 1; rdmakit ${command} > ${cwd}/out.txt`
      const { code, err } = await shell(line, { NODE_DISABLE_COMPILE_CACHE: "1" })
      expect({ code, err }).toEqual({
        code: 2,
        err: expect.stringMatching(
          /^error: the output cannot be written: it would be larger than a file may be\nwhat is/,
        ),
      })
    },
    30_000,
  )

  test.runIf(existsSync("/dev/full"))(
    "never exits with 0 when its output cannot be written",
    async () => {
      const out = `${folderOf({})}/out`
      for (const command of [
        "--help",
        "--version",
        "schema",
        "lint tiny/hpcc.config.txt",
        "lint tiny/hpcc.config.txt --json",
        "compare tiny/hpcc.fct.txt tiny/hpcc.fct.txt",
        "generate topology star --hosts 3",
        `run tiny/hpcc.config.txt --out ${out}`,
      ]) {
        const { code, err } = await shell(`rdmakit ${command} > /dev/full`)
        expect(code, command).toBe(2)
        expect(err).toContain("error: the output cannot be written: there is no room left on the disk")
      }
    },
    60_000,
  )

  test.runIf(existsSync("/dev/zero"))(
    "reads regular files alone: a FIFO or a device is refused at once",
    async () => {
      const cwd = folderOf({
        "a.yaml": "topology: { file: fifo }\nflows: []\n",
        "results/fct.txt": "0b000001 0b000101 10000 100 5000 2000000000 4536 4579\n",
      })
      await shell("mkfifo fifo fifo.tr results/pfc.txt", {}, cwd)
      for (const command of ["run fifo", "lint fifo", "lint a.yaml", "compare fifo fifo", "trace fifo.tr"]) {
        const { code, out, err } = await shell(`rdmakit ${command}`, {}, cwd)
        expect([code, out], command).toEqual([2, ""])
        expect(err).toContain("expected a file that can be read; it is a FIFO, no regular file")
      }
      const zero = await shell("rdmakit run /dev/zero --json")
      expect(zero.code).toBe(2)
      expect(JSON.parse(zero.out).faults[0].hint).toBe("it is a device, no regular file")
      // What lies beside the files of a folder is not waited for.
      expect((await shell("rdmakit compare results results", {}, cwd)).code).toBe(0)
    },
    60_000,
  )

  test.each([
    ["TERM", 143],
    ["HUP", 129],
  ])(
    "SIG%s ends a run in order, and leaves no staging folder",
    async (signal, expected) => {
      const cwd = folderOf({})
      const line = `${shellCommand} run pfcdemo/timely.config.txt --set QLEN_MON_END=4000000000000 --set SIMULATOR_STOP_TIME=4000 --out ${cwd}/out & child=$!
      until ls -A ${cwd} | grep -q unfinished || ! kill -0 $child; do sleep 0.1; done; sleep 1; kill -${signal} $child; wait $child`
      const { code, out } = await shell(line)
      expect(code).toBe(expected)
      expect(out).toContain(`stopped by SIG${signal} with `)
      expect(readdirSync(cwd)).toEqual(["out"])
    },
    30_000,
  )

  // A shell shows the same for a process that died of the signal; its own parent does not.
  test.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
    ["SIGHUP", 129],
  ] as const)(
    "%s ends a run that simulates by an exit code, not by the signal",
    async (signal, expected) => {
      const cwd = folderOf({})
      const line = `exec ${shellCommand} run pfcdemo/timely.config.txt --set QLEN_MON_END=4000000000000 --set SIMULATOR_STOP_TIME=4000 --out ${cwd}/out`
      const child = spawn("bash", ["-c", line], { cwd: testdata, stdio: "ignore" })
      while (child.exitCode === null && readdirSync(cwd).length === 0) await setTimeout(50)
      await setTimeout(1000)
      child.kill(signal)
      expect(await once(child, "exit")).toEqual([expected, null])
      expect(readdirSync(cwd)).toEqual(["out"])
    },
    30_000,
  )

  describe.runIf(existsSync("/proc/self/wchan"))("a signal ends it while it reads", () => {
    const unready = 99
    /** Sends a command a signal once one of its threads waits in the kernel there; kills it where that does not end it. */
    const codeOf = async (write: string, waitsIn: string, signal: string): Promise<number | null> => {
      const cwd = folderOf({ "v.pcap.gz": readFileSync(`${captures}/v_imm.pcap.gz`) })
      const line = `mkfifo fifo; ${shellCommand} pcap info fifo & child=$!; ${write}
        isReady() { ! read -t 0 -u 3 2> /dev/null && grep -qsE '${waitsIn}' /proc/$child/task/*/wchan; }
        for _ in {1..200}; do isReady && break; sleep 0.1; done
        isReady || { kill -KILL $child; exit ${unready}; }
        kill -${signal} $child
        (sleep 10; kill -KILL $child) > /dev/null 2>&1 & guard=$!; wait $child; code=$?; kill $guard; exit $code`
      return (await shell(line, {}, cwd)).code
    }

    test.each([
      ["INT", 130],
      ["TERM", 143],
      ["HUP", 129],
    ])(
      "a FIFO without a writer: SIG%s",
      async (signal, expected) => {
        expect(await codeOf("", "wait_for_partner|fifo_open|pipe_wait", signal)).toBe(expected)
      },
      40_000,
    )

    // The shell reads the FIFO too: so it knows when nothing is left in it.
    test.each([
      ["nothing", "exec 3<>fifo"],
      ["a capture, and waits", "exec 3<>fifo; cat v.pcap.gz >&3"],
    ])(
      "a FIFO whose writer writes %s",
      async (_, write) => {
        expect(await codeOf(write, "pipe_read|pipe_wait", "INT")).toBe(130)
      },
      40_000,
    )
  })

  test("drops no column of a table into a pipe, and cuts no line", async () => {
    const names = ["a", "b"].map((letter) => letter.repeat(90))
    const scenario = "topology: { builder: star, hosts: 2 }\nflows: [{ from: 0, to: 1, size: 1KB }]\n"
    const line = `rdmakit sweep s.yaml --jobs 1 --vary name=${names.join()} 2>&1 | cat`
    const { out } = await shell(line, {}, folderOf({ "s.yaml": scenario }))
    const lines = out.split("\n")
    const header = lines.findIndex((each) => /^name .* drops$/.test(each))
    expect(lines[header]).toContain("FCT us")
    expect(lines[header + 1]).toMatch(/^a{90} .*\d$/)
    expect(out).not.toContain("…")
  }, 30_000)

  test("a terminal obeys nothing in values, lines and names that it is told of", async () => {
    const name = "s\x1b[31m\n.yaml"
    const cwd = folderOf({ [name]: "seed: 1\nx: \x1b]0;title\x07\n", "c.txt": "1000\x9b 100\n" })
    const file = "$'s\\e[31m\\n.yaml'"
    for (const line of [
      `lint ${file}`,
      `lint ${file} --json`,
      `lint ${file} --set $'seed=\\e[31m'`,
      "lint $'none\\e]0;x\\a.yaml'",
      "run $'\\e[2J'",
      "generate flows poisson --hosts 16 --load 0.3 --duration 1ms --sizes c.txt",
      "pcap info $'\\u009b2J'",
      "perf write-bw --pcap $'nowhere\\e/x'",
      "compare $'\\e' $'\\x7f'",
      "--\x1b[2J",
    ]) {
      const { code, out, err } = await shell(`rdmakit ${line}`, {}, cwd)
      expect(code, line).toBe(2)
      expect(out + err, line).not.toMatch(/[^\P{Cc}\n\t]/u)
      expect(err.split("\n").filter((each) => each.startsWith("error:")).length, line).toBeGreaterThan(0)
    }
  }, 60_000)

  test("reads a capture from a FIFO to the end of its writer", async () => {
    const line = `mkfifo fifo; cat ${captures}/v_imm.pcap.gz > fifo & rdmakit pcap info fifo --json`
    const { code, out, err } = await shell(line, {}, folderOf({}))
    expect(code, err).toBe(0)
    const whole = await shell(`rdmakit pcap info ${captures}/v_imm.pcap.gz --json`)
    expect(JSON.parse(out).packets).toBe(JSON.parse(whole.out).packets)
  }, 30_000)

  test("takes one Ctrl-C that comes twice as one, and keeps what had finished", async () => {
    const cwd = folderOf({})
    const out = `${cwd}/out`
    // Queues are watched long after the last flow, so that the run is still on.
    const line = `${shellCommand} run pfcdemo/timely.config.txt --set QLEN_MON_END=4000000000000 --set SIMULATOR_STOP_TIME=4000 --out ${out} & child=$!
      until ls -A ${cwd} | grep -q unfinished; do sleep 0.1; done; sleep 1; kill -INT $child; kill -INT $child; wait $child`
    const { code } = await shell(line)
    expect(code).toBe(130)
    expect(JSON.parse(readFileSync(`${out}/summary.json`, "utf8"))).toMatchObject({ partial: true })
    expect(readdirSync(cwd)).toEqual(["out"])
  }, 30_000)

  test("leaves no staging folder when a controller ends the process", async () => {
    const ending = `export default { name: "mine", needs: [], make: () => ({ rate: 1e9, window: 1e9, nextTimer: Infinity,
      onSent() {}, onAck() { process.exit(3) }, onCnp: () => false, onLoss: () => false, onTimer: () => false, metrics: () => ({}) }) }`
    const cwd = folderOf({ "mine.mjs": ending })
    const { code } = await shell(`rdmakit run tiny/hpcc.config.txt --controller ${cwd}/mine.mjs --out ${cwd}/out`)
    expect(code).toBe(2)
    expect(readdirSync(cwd)).toEqual(["mine.mjs"])
  }, 30_000)

  test("ends quietly when the reader has enough", async () => {
    const trace = octetsOf("tiny/hpcc.tr")
    const records = 30_000
    const long = new Uint8Array(52 + 56 * records)
    long.set(trace.subarray(0, 52))
    for (let index = 0; index < records; index++) long.set(trace.subarray(52, 108), 52 + 56 * index)
    const cwd = folderOf({ "long.tr": long })
    const { out, err } = await shell("rdmakit trace long.tr | head -2; echo $PIPESTATUS", {}, cwd)
    expect(err).toBe("")
    const [first] = textOf("tiny/hpcc.tr.txt").split("\n")
    expect(out).toBe(`${first}\n${first}\n0\n`)
  })
})
