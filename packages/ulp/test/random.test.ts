import { expect, it } from "vitest"
import { runMessages } from "./randomMessages.ts"

const kinds = [
  ...["eager", "eager confirmed", "medium", "medium confirmed", "longCts", "longCts confirmed"].map(
    (protocol) => `message ${protocol}`,
  ),
  ...["message longRead", "message runtRead", "message longCts after a nack", "message longCts confirmed after a nack"],
  ...["write eager", "write eager confirmed", "write longCts", "write longCts confirmed", "write longRead"],
  ...["write longCts after a nack", "write longCts confirmed after a nack", "read short", "read longCts"],
  ...["atomic write", "atomic write confirmed", "atomic fetch"],
  ...["cts", "ctsData", "readResponse", "endOfRead", "readNack", "atomicResponse", "handshake", "receipt"],
]

it("200 random programs through shuffled packets: each message once, whole and in order, nothing unfinished", () => {
  const failed: Array<string> = []
  const seen = new Set<string>()
  for (let seed = 0; seed < 200; seed++) {
    const wrong = runMessages(seed, seen)
    if (wrong.length > 0) failed.push(`seed ${seed}: ${wrong.slice(0, 3).join("; ")}`)
  }
  expect(failed).toEqual([])
  // Every kind of packet but the comparing atomic is among them.
  expect([...seen].toSorted()).toEqual(kinds.toSorted())
})
