import { expect, it } from "vitest"
import { connect, fixedWindow } from "./connection.ts"

it("tells its controller of payload alone: a message's bytes, whatever the headers of its packets", () => {
  const sent: Array<number> = []
  const { pair } = connect({ options: { controller: fixedWindow(20_000, [], sent) } })
  pair.command(0, { message: 0, writeBytes: 2300 })
  pair.run()
  expect(sent).toEqual([1000, 1000, 300])
})
