import { describe, expect, it } from "vitest"
import { directly } from "../build/directImports.ts"

describe("modules of Effect in the bundle", () => {
  it("are imported one by one", () => {
    expect(
      directly('import { Effect, type FileSystem, Path } from "effect"\nimport { Flag } from "effect/cli"\n'),
    ).toBe(
      'import * as Effect from "effect/Effect"; import * as Path from "effect/Path"\nimport * as Flag from "effect/cli/Flag"\n',
    )
    expect(directly('import {\n  Data,\n  Layer,\n} from "effect"')).toBe(
      'import * as Data from "effect/Data"; import * as Layer from "effect/Layer"',
    )
  })

  it("are the same ones", async () => {
    const [all, Schema] = await Promise.all([import("effect"), import("effect/Schema")])
    expect(all.Schema.Struct).toBe(Schema.Struct)
  })

  it("leave everything else alone", () => {
    for (const source of [
      'import type { Effect } from "effect"',
      'import * as NodePath from "@effect/platform-node/NodePath"',
    ])
      expect(directly(source)).toBe(source)
    expect(() => directly('import { pipe } from "effect"')).toThrow("effect has no module pipe")
  })
})
