import { type ControllerFactory, unpaced } from "@rdmakit/protocol"
import { describe, expect, it } from "vitest"

/** What programs that no compiler has checked hand in where an option belongs. */
export const WRONG_VALUES: ReadonlyArray<unknown> = [null, "0.5", "1", [1], 1n, {}, Number.NaN, () => 0]

/** A controller that does nothing. */
export const idleController: ControllerFactory = { name: "idle", needs: [], make: () => unpaced }

/** Options that have fields, of which the wrong one is named. */
const OBJECTS: ReadonlyArray<string> = ["controller", "framing"]

/** What a call throws; else what it returns. */
export const refusalOf = (call: () => unknown): unknown => {
  try {
    return call()
  } catch (error) {
    return error
  }
}

/** What takes a transport's options. */
export interface OptionsUnderTest {
  readonly make: (options: never) => unknown
  /** The errors by which an option is refused, the package's own first; `option` names it, or a field of an object. */
  readonly errors: ReadonlyArray<abstract new (...fields: never) => Error & { readonly option: string }>
  /** Options of which none may have any of `WRONG_VALUES`. */
  readonly options: ReadonlyArray<string>
  /** Those that may be a function. */
  readonly functions?: ReadonlyArray<string>
}

/**
 * Registers, with vitest, the tests that options of a wrong type are refused by name: options that are none, a controller
 * that is none, and each option.
 */
export const optionsSuite = (name: string, { make, errors, options, functions = [] }: OptionsUnderTest): void => {
  describe(`${name}, of values of a wrong type`, () => {
    const refused = (given: unknown): unknown => refusalOf(() => make(given as never))
    const [own] = errors

    it("refuses options that are none", () => {
      for (const given of [null, "rc", [], 1]) {
        const error = refused(given)
        expect(error).toBeInstanceOf(own)
        expect(error).toMatchObject({ option: "options", value: given, expected: "an object" })
      }
    })

    it("refuses a controller that is none, and names the field", () => {
      const wrong: ReadonlyArray<readonly [string, unknown]> = [
        ["controller", null],
        ["controller", "cubic"],
        ["controller", () => idleController],
        ["controller.name", {}],
        ["controller.needs", { ...idleController, needs: undefined }],
        ["controller.needs", { ...idleController, needs: "rtt" }],
        ["controller.make", { ...idleController, make: unpaced }],
      ]
      for (const [option, controller] of wrong) {
        const error = refused({ controller })
        expect(error).toBeInstanceOf(own)
        expect(error).toMatchObject({ option, message: expect.stringContaining(`${option} is `) })
      }
    })

    it("refuses each option of a wrong type, and names it", () => {
      const taken: Array<string> = []
      for (const option of options)
        for (const value of WRONG_VALUES) {
          if (typeof value === "function" && functions.includes(option)) continue
          const error = refused({ controller: idleController, [option]: value })
          const refusal = errors.some((one) => error instanceof one)
            ? (error as { readonly option: string })
            : undefined
          const named = OBJECTS.includes(option) ? refusal?.option.split(".")[0] : refusal?.option
          if (named !== option) taken.push(`${option}: ${String(error)}`)
        }
      expect(taken).toEqual([])
    })
  })
}
