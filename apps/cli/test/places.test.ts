import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { systemWords } from "../src/SystemWords.ts"
import { filesIn, folderOf, rdmakit } from "./rdmakit.ts"

const FILES = {
  afile: "a file\n",
  "folder/inside": "",
  "two.yaml": "topology: { builder: star, hosts: 2 }\nflows:\n  - { from: 0, to: 1, size: 1KB }\n",
  "capture.pcap": new Uint8Array([0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 1, 0, 0, 0]),
}

const A_FILE_IN_THE_PATH = "cannot be written to: a part of its path is a file, and no folder"

describe("places that nothing can be written to are refused at once, and nothing is left there", () => {
  test.each([
    ["run two.yaml --out afile/x", `afile/x: ${A_FILE_IN_THE_PATH}`, "--out DIR"],
    ["run two.yaml --out afile/x/y", `afile/x/y: ${A_FILE_IN_THE_PATH}`, "--out DIR"],
    ["sweep two.yaml --seeds 2 --out afile/x", `afile/x: ${A_FILE_IN_THE_PATH}`, "--out DIR"],
    ["claims --out afile/x", `afile/x: ${A_FILE_IN_THE_PATH}`, "--out DIR"],
    ["generate topology star --hosts 2 --out afile/x", `afile/x: ${A_FILE_IN_THE_PATH}`, "--out FILE"],
    ["generate flows ring --hosts 2 --size 1 --out afile/x/y", `afile/x/y: ${A_FILE_IN_THE_PATH}`, "--out FILE"],
    ["pcap convert capture.pcap afile/x", `afile/x: ${A_FILE_IN_THE_PATH}`, "name another file"],
    [
      "pcap convert capture.pcap none/x",
      "none/x: cannot be written to: there is no folder for it",
      "name another file",
    ],
    ["perf write-bw --pcap folder", "folder: found a folder, expected a file or nothing", "--pcap FILE"],
    ["perf write-bw --pcap afile/x", `afile/x: ${A_FILE_IN_THE_PATH}`, "--pcap FILE"],
    ["perf write-bw --pcap none/x", "none/x: cannot be written to: there is no folder for it", "--pcap FILE"],
    ["pingpong rc --pcap folder", "folder: found a folder, expected a file or nothing", "--pcap FILE"],
    ["rping --pcap folder", "folder: found a folder, expected a file or nothing", "--pcap FILE"],
    [`perf write-bw --pcap ${"x".repeat(300)}`, "cannot be written to: its name is too long", "--pcap FILE"],
  ])("%s", async (line, message, hint) => {
    const cwd = folderOf(FILES)
    const before = filesIn(cwd)
    const { code, out, err } = await rdmakit(line.split(" "), { cwd })
    expect({ code, out }).toEqual({ code: 2, out: "" })
    expect(err).toContain(message)
    expect(err).toContain(hint)
    expect(err).not.toMatch(/FileSystem|BadResource|AlreadyExists|unfinished|ENOTDIR|EISDIR/)
    expect(filesIn(cwd)).toEqual(before)
  })
})

describe("files that cannot be read are refused in words", () => {
  test.each([
    ["perf write-bw --topology folder", '--topology: found "folder", expected a file that can be read; it is a folder'],
    ["perf write-bw --topology afile/x", '--topology: found "afile/x", expected a file; it does not exist'],
    ["pingpong rc --topology folder", '--topology: found "folder", expected a file that can be read; it is a folder'],
    ["run afile/x.yaml", 'afile/x.yaml: scenario: found "afile/x.yaml", expected a file; it does not exist'],
    ["run afile/config.txt", 'config: found "afile/config.txt", expected a file; it does not exist'],
    ["sweep afile/x.yaml --seeds 2", 'scenario: found "afile/x.yaml", expected a file; it does not exist'],
    ["lint afile/x.yaml", 'scenario: found "afile/x.yaml", expected a file; it does not exist'],
    ["trace afile/x", 'trace: found "afile/x", expected a file; it does not exist'],
    ["compare afile/x afile/x", 'found "afile/x", expected a file; it does not exist'],
    ["pcap info afile/x", 'found "afile/x", expected a capture; it does not exist'],
    [`run ${"x".repeat(300)}.yaml`, "expected a file that can be read; its name is too long"],
  ])("%s", async (line, message) => {
    const cwd = folderOf(FILES)
    const before = filesIn(cwd)
    const { code, out, err } = await rdmakit(line.split(" "), { cwd })
    expect({ code, out }).toEqual({ code: 2, out: "" })
    expect(err).toContain(message)
    expect(err).not.toMatch(/FileSystem|BadResource|ENOTDIR/)
    expect(filesIn(cwd)).toEqual(before)
  })
})

test("what the system says is put in words, wherever it stands in an error", () => {
  const full = Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC" })
  expect(systemWords(full)).toBe("there is no room left on the disk")
  expect(systemWords(new Error("Unknown: FileSystem.writeFile", { cause: full }))).toBe(
    "there is no room left on the disk",
  )
  expect(systemWords(Object.assign(new Error("odd"), { code: "EODD" }))).toBe("the system says EODD")
  expect(systemWords(new Error(join("no", "code")))).toBe("the system says no more")
})
