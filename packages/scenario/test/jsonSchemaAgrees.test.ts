/** Small scenarios that the JSON Schema and `loadScenario` both take, or both refuse. */
import { controllers, loadScenario, scenarioJsonSchema } from "@rdmakit/scenario"
import { Ajv2020 } from "ajv/dist/2020.js"
import { Effect, Result } from "effect"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import type { OptionKind } from "../src/Controllers.ts"
import { transports } from "../src/Transports.ts"
import { memoryFiles } from "./memoryFiles.ts"

const fits = new Ajv2020({ strict: true }).compile(scenarioJsonSchema())

/** What `loadScenario` says against it. */
const faultsOf = async (document: unknown): Promise<ReadonlyArray<string>> => {
  const octets = new TextEncoder().encode(JSON.stringify(document))
  const loaded = loadScenario("s.json", { workingDirectory: "/", octets })
  const result = await Effect.runPromise(loaded.pipe(Effect.result, Effect.provide(memoryFiles({}))))
  return Result.isSuccess(result) ? [] : result.failure.faults.map(({ message }) => message)
}

const agree = async (sections: object): Promise<void> => {
  const topology = { builder: "star", hosts: 4 }
  const document = { topology, flows: [{ from: 0, to: 1, size: "1MB" }], ...sections }
  const faults = await faultsOf(document)
  expect(fits(document), `${JSON.stringify(sections)}: ${faults[0] ?? "loads"}`).toBe(faults.length === 0)
}

const agreeOnAll = (sections: fc.Arbitrary<object>, numRuns: number): Promise<void> =>
  fc.assert(fc.asyncProperty(sections, agree), { numRuns })

/** Of a kind, one for every option: ranges are no matter of the schema. */
const NUMBERS = [0.5, 1, 1.1, 2, 10, 1500, 1e9, 1e12]

/** A value that is right, as a number and as a text, and some that are of another kind. */
const valuesOf = (kind: OptionKind, takes: (value: unknown) => boolean): ReadonlyArray<unknown> => {
  if (typeof kind !== "string") return [...kind, "w", 1, true]
  if (kind === "boolean") return [true, false, "true", 1]
  const number = NUMBERS.find(takes)
  expect(number).toBeDefined()
  const unit = { time: "ps", rate: "bps", size: "B" }[kind as string]
  const text = unit === undefined || number! < 1 ? "1 parsec" : `${number}${unit}`
  return [number, text, "w", "1 parsec", true, null, [], {}]
}

const takes =
  (make: (options: Record<string, unknown>) => unknown, option: string) =>
  (value: unknown): boolean => {
    try {
      make({ [option]: value })
      return true
    } catch {
      return false
    }
  }

/** Perhaps this field, with one of these values. */
const perhaps = (field: string, values: ReadonlyArray<unknown>): fc.Arbitrary<object> =>
  fc
    .option(fc.constantFrom(...values), { nil: undefined })
    .map((value) => (value === undefined ? {} : { [field]: value }))

const joined = (...parts: ReadonlyArray<fc.Arbitrary<object>>): fc.Arbitrary<object> =>
  fc.tuple(...parts).map((given) => Object.assign({}, ...given))

describe("the JSON Schema takes what loads, and nothing else, of", () => {
  it.each([...controllers])("the controller %s", async (name, { presets, variants, make }) => {
    // Of an option that several variants have, a value that each of them takes.
    const kinds = Object.assign({}, ...Object.values(variants)) as Readonly<Record<string, OptionKind>>
    const options = Object.entries(kinds).flatMap(([option, kind]) => {
      const withIt = Object.keys(variants).filter((variant) => Object.hasOwn(variants[variant]!, option))
      const isTaken = (value: unknown) =>
        withIt.every((variant) => takes((given) => make({ variant, ...given }), option)(value))
      return valuesOf(kind, isTaken).map((value) => ({ [option]: value }))
    })
    const controller = joined(
      fc.constant({ name }),
      perhaps("preset", [...Object.keys(presets), "none"]),
      perhaps("variant", [...Object.keys(variants), "none"]),
      perhaps("options", [{}, { none: 1 }, ...options]),
    )
    await agreeOnAll(
      controller.map((controller) => ({ controller })),
      150,
    )
  })

  it.each([...transports])("the transport %s", async (name, { options, controller, make }) => {
    const given = Object.entries(options).flatMap(([option, kind]) =>
      valuesOf(
        kind,
        takes((given) => make(given, controller, 1), option),
      ).map((value) => ({ [option]: value })),
    )
    const section = joined(
      fc.constant({ name }),
      perhaps("options", [{}, { none: 1 }, ...given]),
      perhaps("ackEvery", [1]),
    )
    await agreeOnAll(
      section.map((transport) => ({ transport })),
      100,
    )
  })

  it("admission", async () => {
    const section = joined(
      perhaps("flowsPerReceiver", [1, 0]),
      perhaps("flowsPerSender", [2, "2"]),
      perhaps("creditPerReceiver", ["1KB", 0]),
      perhaps("grantDelay", ["1us", 0, 1]),
    )
    await agreeOnAll(
      section.map((admission) => ({ admission })),
      200,
    )
  })

  it("workloads", async () => {
    const sizes = [perhaps("size", ["1KB", 0]), perhaps("sizes", ["WebSearch", [[1, 0], [9, 100]], 5])] // biome-ignore format: points
    const workload = fc.oneof(
      joined(fc.constant({ workload: "poisson", load: 0.1, duration: "1us" }), ...sizes, perhaps("of", ["hosts"])),
      joined(fc.constant({ workload: "random-incast", fanIn: 2, load: 0.1, duration: "1us" }), ...sizes),
      joined(
        fc.constant({ workload: "incast" }),
        ...sizes,
        ...[perhaps("fanIn", [2]), perhaps("senders", ["0..1"]), perhaps("receiver", [3])],
      ),
      joined(fc.constantFrom({ workload: "permutation" }, { workload: "ring" }), ...sizes, perhaps("rounds", [1, 0])),
      joined(fc.constant({ workload: "all-to-all" }), ...sizes, perhaps("gap", ["1us", 1]), perhaps("rounds", [1])),
    )
    const flows = fc.oneof(
      workload,
      workload.map((each) => [each]),
    )
    await agreeOnAll(
      flows.map((flows) => ({ flows })),
      400,
    )
  })
})

describe("the words of an option are those that its package takes:", () => {
  /** What a package expects in place of a word that is none. */
  const expectedOf = (make: () => unknown): string => {
    try {
      make()
      return ""
    } catch (error) {
      return (error as { readonly expected?: string }).expected ?? String(error)
    }
  }
  const wordsOf = (kinds: Readonly<Record<string, OptionKind>>) =>
    Object.entries(kinds).flatMap(([option, kind]) => (typeof kind === "string" ? [] : [[option, kind] as const]))
  const listed = (text: string): ReadonlyArray<string> => text.split(/, | or /).toSorted()

  const ofControllers = [...controllers].flatMap(([name, { variants, make }]) =>
    Object.entries(variants).flatMap(([variant, kinds]) =>
      wordsOf(kinds).map(
        ([option, words]) => [`${name} ${variant} ${option}`, words, () => make({ variant, [option]: "w" })] as const,
      ),
    ),
  )
  const ofTransports = [...transports].flatMap(([name, { options, controller, make }]) =>
    wordsOf(options).map(
      ([option, words]) => [`${name} ${option}`, words, () => make({ [option]: "w" }, controller, 1)] as const,
    ),
  )
  it.each([...ofControllers, ...ofTransports])("%s", (_, words, make) => {
    expect(listed(expectedOf(make))).toEqual([...words].toSorted())
  })
})
