/** What a fault says was found: as it is written, but once in quotes, and short. */
import { expect, it } from "vitest"
import { faultsIn } from "./loading.ts"

const head = `"topology": { "builder": "star", "hosts": 3 }, "flows": [{ "from": 0, "to": 1, "size": 1000 }]`
const found = async (text: string) =>
  (await faultsIn(text)).map((fault) => /^s\.yaml:\d+:\d+: (.*?), expected/s.exec(fault)?.[1] ?? fault)

it.each([
  ['"seed": "x"', 'seed: found the text "x"'],
  ['"seed": "5"', 'seed: found the text "5"'],
  ['"seed": x', 'seed: found "x"'],
  ['"seed": ""', 'seed: found the text ""'],
  ['"seed": {\n  "a": 1\n}', 'seed: found "{…}"'],
  ['"seed": [\n  1,\n  2\n]', 'seed: found "[…]"'],
  ['"seed": { "a": 1 }', 'seed: found "{ "a": 1 }"'],
])("%s", async (field, words) => {
  expect(await found(`{ ${head}, ${field} }`)).toEqual([words])
})

it("fields a line each", async () => {
  const block =
    "topology: { builder: star, hosts: 3 }\nflows: [{ from: 0, to: 1, size: 1000 }]\nseed:\n  a: 1\n  b: 2\n"
  expect(await found(block)).toEqual(['seed: found "a: 1 …"'])
})
