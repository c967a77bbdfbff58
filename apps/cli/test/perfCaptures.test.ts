import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { folderOf, rdmakit, shell } from "./rdmakit.ts"

const run = (line: string, setting: Parameters<typeof rdmakit>[1] = {}) => rdmakit(line.split(" "), setting)

describe("captures of perf, pingpong and rping", () => {
  test("what is refused late leaves a file as it was, what fails later has its packets", async () => {
    const folder = folderOf({})
    const file = join(folder, "x.pcapng")
    for (const line of ["perf send-bw -x 99", "perf send-bw -x 99 --on softnic", "pingpong rc -g 9"]) {
      writeFileSync(file, "keep")
      expect((await run(`${line} --pcap x.pcapng --force`, { cwd: folder })).code).toBe(2)
      expect(readFileSync(file, "utf8")).toBe("keep")
    }
    const failing = await run("perf send-bw -n 50 --faults loss=100% --pcap x.pcapng --force", { cwd: folder })
    expect(failing.code).toBe(1)
    const { out } = await run("pcap verify x.pcapng --json", { cwd: folder })
    expect(JSON.parse(out).packets).toBeGreaterThan(0)
  })

  test.each(["perf write-bw -n 5", "pingpong rc -n 5", "rping -C 5"])(
    "%s --pcap replaces a file with --force alone",
    async (line) => {
      const folder = folderOf({ "x.txt": "keep", "t.txt": "keep" })
      const left = () => readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), "utf8")])
      const { code, out, err } = await run(`${line} --pcap x.txt --json`, { cwd: folder })
      expect([code, JSON.parse(out).ok]).toEqual([2, false])
      const hint = "choose another with --pcap FILE, or --force to replace it"
      expect(err).toBe(`error: x.txt: found a file, expected nothing\n${hint}\n`)
      expect(left().sort()).toEqual([
        ["t.txt", "keep"],
        ["x.txt", "keep"],
      ])
      expect((await run(`${line} --pcap x.txt --force`, { cwd: folder })).code).toBe(0)
      expect(readdirSync(folder).sort()).toEqual(["t.txt", "x.txt"])
      expect(JSON.parse((await run("pcap info x.txt --json", { cwd: folder })).out).packets).toBeGreaterThan(0)
    },
    20_000,
  )

  test("--pcap never replaces the topology that is read", async () => {
    const cwd = folderOf({ "t.txt": "3 1 2\n2\n0 2 100Gbps 1us 0\n1 2 100Gbps 1us 0\n" })
    const { code, err } = await run("perf send-lat --topology t.txt --pcap t.txt --force", { cwd })
    expect([code, err]).toEqual([2, "error: t.txt: would replace an input\nchoose another with --pcap FILE\n"])
  })

  // The shell's limit of a file's size stands for a disk that is full.
  test.each(["", " --on softnic"])(
    "a capture that does not fit leaves what was there, and nothing of itself%s",
    async (world) => {
      for (const before of [{}, { "p.pcap": "keep" }]) {
        const cwd = folderOf(before)
        const line = `ulimit -f 64; rdmakit perf write-bw -n 200 --pcap p.pcap --force${world}`
        const { code, err } = await shell(line, {}, cwd)
        expect([code, err.split(":", 3).join(":")]).toEqual([2, "error: p.pcap: cannot be written to"])
        expect(readdirSync(cwd)).toEqual(Object.keys(before))
        if (readdirSync(cwd).length > 0) expect(readFileSync(join(cwd, "p.pcap"), "utf8")).toBe("keep")
      }
    },
    60_000,
  )

  test.runIf(existsSync("/dev/full")).each(["", " --on softnic"])(
    "a capture that does not fit its disk ends it%s",
    async (world) => {
      for (const iterations of [5, 400]) {
        const { code, err } = await shell(`rdmakit perf write-bw -n ${iterations} --pcap /dev/full${world}`)
        expect(code).toBe(2)
        expect(err).toMatch(
          /^error: \/dev\/full: cannot be written to: there is no room left on the disk\nchoose another with --pcap FILE$/m,
        )
      }
    },
    60_000,
  )

  test("a capture into a FIFO goes to its reader as it is made; without one it is refused at once", async () => {
    const cwd = folderOf({})
    const line = "rdmakit perf write-bw -n 20 --pcap fifo"
    const none = await shell(`mkfifo fifo; ${line}`, {}, cwd)
    expect([none.code, none.err]).toEqual([
      2,
      "error: fifo: cannot be written to: nobody reads this FIFO\nstart its reader first, or choose another with --pcap FILE\n",
    ])
    const read = await shell(
      `cat fifo > read.pcapng & ${line} && wait && rdmakit pcap info read.pcapng --json`,
      {},
      cwd,
    )
    expect([read.code, read.err]).toEqual([0, ""])
    expect(JSON.parse(read.out.slice(read.out.lastIndexOf('{"file"'))).packets).toBeGreaterThan(20)
    // The FIFO is nobody's to replace.
    expect(readdirSync(cwd).sort()).toEqual(["fifo", "read.pcapng"])
  }, 20_000)

  test("a capture that is refused leaves no file where there was none", async () => {
    const folder = folderOf({})
    const { code } = await run("perf send-bw --pcap x.pcapng --hosts 5,6", { cwd: folder })
    expect(code).toBe(2)
    expect(existsSync(join(folder, "x.pcapng"))).toBe(false)
  })
})
