import type { ControllerFactory } from "@rdmakit/protocol"
import { expect, it } from "vitest"
import { connect, fixedWindow } from "./connection.ts"

it("tells its controller of payload alone: a message's bytes, whatever the headers of its packets", () => {
  const told: Array<number> = []
  const inner = fixedWindow(20_000)
  const controller: ControllerFactory = {
    ...inner,
    make: (now, path) => ({ ...inner.make(now, path), onSent: (_now, bytes) => void told.push(bytes) }),
  }
  const { pair } = connect({ options: { controller } })
  pair.command(0, { message: 0, writeBytes: 2300 })
  pair.run()
  expect(told).toEqual([1000, 1000, 300])
})
