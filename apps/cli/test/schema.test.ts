import { scenarioJsonSchema } from "@rdmakit/scenario"
import { expect, test } from "vitest"
import { rdmakit } from "./rdmakit.ts"

test("schema prints the JSON Schema of scenarios", async () => {
  const { code, out, err } = await rdmakit(["schema"])
  expect({ code, err }).toEqual({ code: 0, err: "" })
  expect(JSON.parse(out)).toEqual(scenarioJsonSchema())
  expect(await rdmakit(["schema", "scenario.yaml"])).toMatchObject({ code: 2, out: "" })
})
