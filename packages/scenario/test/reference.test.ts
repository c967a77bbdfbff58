import { execFile } from "node:child_process"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { compareTr } from "@rdmakit/ns3"
import { Ns3Simulation } from "@rdmakit/scenario"
import { describe, expect, it } from "vitest"
import { referenceInputs, referenceOctets, referenceText, runReference, runToEnd } from "./reference.ts"

const modes = ["hpcc", "timely", "dcqcn"] as const

describe.each(modes)("%s: the reference's own files, byte for byte", (mode) => {
  it("tiny: completion times, pauses, queues, and every event of the trace", () => {
    const { simulation, trace } = runReference(referenceInputs(`tiny/${mode}.config.txt`))
    const { fct, pfc, qlen } = simulation.files()
    expect(fct).toBe(referenceText(`tiny/${mode}.fct.txt`))
    expect(pfc).toBe(referenceText(`tiny/${mode}.pfc.txt`))
    expect(qlen).toBe(referenceText(`tiny/${mode}.qlen.txt`))
    const comparison = compareTr(referenceOctets(`tiny/${mode}.tr`), trace)
    expect(comparison.first).toBeUndefined()
    expect(comparison).toMatchObject({ same: true, differing: 0, header: [] })
    expect(comparison.identical).toBeGreaterThan(30)
  })

  it("incast16: completion times and queues", () => {
    const { simulation, outcome } = runReference(referenceInputs(`incast16/${mode}.config.txt`))
    const { fct, qlen } = simulation.files()
    expect(fct).toBe(referenceText(`incast16/${mode}.fct.txt`))
    expect(qlen).toBe(referenceText(`incast16/${mode}.qlen.txt`))
    expect(outcome).toMatchObject({ flowsFinished: 16, unfinished: [], retransmissions: 0, dropsByReason: {} })
    expect(outcome.controllerActions).toBeGreaterThan(20)
    expect(simulation.world.kernel.pool.alive).toBe(0)
  })
})

it("a seed is another run of the simulator's random numbers; what draws nothing stays as it is", () => {
  const notes = new Map<string, ReadonlyArray<string>>()
  const fctOf = (mode: string, seed: number): string => {
    const simulation = new Ns3Simulation(referenceInputs(`incast16/${mode}.config.txt`), { seed })
    notes.set(mode, runToEnd(simulation).notes)
    return simulation.files().fct
  }
  expect(fctOf("dcqcn", 0)).toBe(referenceText("incast16/dcqcn.fct.txt"))
  const runs = [0, 1, 2].map((seed) => fctOf("dcqcn", seed))
  expect(new Set(runs).size).toBe(3)
  expect(fctOf("dcqcn", 2)).toBe(runs[2])
  expect(fctOf("hpcc", 2)).toBe(referenceText("incast16/hpcc.fct.txt"))
  expect(notes.get("dcqcn")).toEqual([])
  expect(notes.get("hpcc")).toEqual([
    "the seed changes no flow: this controller does not react to marks, and no link loses packets",
  ])
})

it("pfcdemo: every pause and resume of TIMELY in a small buffer", () => {
  const { simulation, outcome } = runReference(referenceInputs("pfcdemo/timely.config.txt"))
  const { fct, pfc, qlen } = simulation.files()
  expect(fct).toBe(referenceText("pfcdemo/timely.fct.txt"))
  expect(pfc).toBe(referenceText("pfcdemo/timely.pfc.txt"))
  expect(qlen).toBe(referenceText("pfcdemo/timely.qlen.txt"))
  expect(outcome.pfcPauses).toBeGreaterThan(0)
  expect(simulation.world.kernel.pool.alive).toBe(0)
})

/** A run of the 320-host fabric, in a process of its own. */
const fat320 = async (mode: string) => {
  const script = fileURLToPath(new URL("fat320.ts", import.meta.url))
  const { stdout } = await promisify(execFile)(process.execPath, ["--conditions=@rdmakit/source", script, mode])
  return JSON.parse(stdout) as { readonly identical: number; readonly firstDifference: unknown }
}

const everyFlow = { flowsTotal: 7981, flowsFinished: 7981, packetHops: 9_674_280, packetsLeft: 0, lines: 7982 }

describe("fat320: all 7,981 flows of the 320-host fabric", () => {
  it("hpcc: to the nanosecond, in the same order", { timeout: 180_000 }, async () => {
    expect(await fat320("hpcc")).toEqual({ ...everyFlow, identical: 7981, firstDifference: null })
  })

  it("dcqcn: to the nanosecond, in the same order", { timeout: 180_000 }, async () => {
    expect(await fat320("dcqcn")).toEqual({ ...everyFlow, identical: 7981, firstDifference: null })
  })
})
