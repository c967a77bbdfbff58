import { tcpConfig } from "@rdmakit/transport-tcp"
import { expect, it } from "vitest"
import { erdmaStream } from "../src/index.ts"
import { fixedWindow, US } from "./connection.ts"

const controller = fixedWindow(150_000)

it("timeouts follow a slow path, but for those that are given", () => {
  expect(tcpConfig(erdmaStream({ controller }))).toMatchObject({
    granularityPs: 100 * US,
    initialTimeoutPs: 1000 * US,
    mostTimeoutPs: 250_000 * US,
    followsPath: ["granularityPs", "initialTimeoutPs", "mostTimeoutPs"],
  })
  expect(erdmaStream({ controller, timeoutSlackPs: 5 }).followsPath).toEqual(["initialTimeoutPs", "mostTimeoutPs"])
  expect(erdmaStream({ controller, initialTimeoutPs: 5, mostTimeoutPs: 9 }).followsPath).toEqual(["granularityPs"])
})

it("retries and acknowledgements are the stream's", () => {
  expect(erdmaStream({ controller })).toMatchObject({ retryCount: 15, ackEvery: 1 })
  expect(erdmaStream({ controller, retryCount: 3, ackEvery: 4 })).toMatchObject({ retryCount: 3, ackEvery: 4 })
})
