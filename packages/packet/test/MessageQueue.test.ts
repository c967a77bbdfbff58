import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { packetsOf } from "../src/index.ts"
import { MessageQueue } from "../src/MessageQueue.ts"

const MTU = 100

describe("MessageQueue", () => {
  it("finds the message of a packet, forward and back", () => {
    const queue = new MessageQueue(5, MTU)
    expect([queue.add(70, 250), queue.add(71, 0), queue.add(72, 100)]).toEqual([3, 1, 1])
    const found = (number: number) => queue.holding(number).id
    expect([5, 6, 7, 8, 9, 7, 9, 5].map(found)).toEqual([70, 70, 70, 71, 72, 70, 72, 70])
    expect(queue.holding(8)).toEqual({ id: 71, firstPacket: 8, packets: 1, firstByte: 250, bytes: 0 })
  })

  it("counts the bytes before a packet", () => {
    const queue = new MessageQueue(5, MTU)
    queue.add(0, 250)
    queue.add(1, 0)
    queue.add(2, 100)
    expect([5, 6, 7, 8, 9, 10].map((number) => queue.bytesBefore(number))).toEqual([0, 100, 200, 250, 250, 350])
    expect(queue.completedBy(9)?.id).toBe(0)
    expect([8, 9, 10].map((number) => queue.bytesBefore(number))).toEqual([250, 250, 350])
  })

  it("gives up messages in order, once all of their packets are", () => {
    const queue = new MessageQueue(0, MTU)
    expect(queue.completedBy(1000)).toBeUndefined()
    queue.add(0, 250)
    queue.add(1, 0)
    expect(queue.completedBy(2)).toBeUndefined()
    expect([queue.completedBy(4)?.id, queue.completedBy(4)?.id, queue.completedBy(4)]).toEqual([0, 1, undefined])
    // The queue goes on where it was.
    queue.add(2, 10)
    expect(queue.holding(4)).toMatchObject({ id: 2, firstPacket: 4, firstByte: 250 })
  })

  // Messages that have left are cut off now and then, whatever was looked for last.
  it("is what a plain list is, however many have come and gone", () => {
    const step = fc.oneof(
      fc.record({ kind: fc.constant("add"), value: fc.constantFrom(0, 1, 99, 100, 101, 1000) }),
      fc.record({ kind: fc.constant("acknowledge"), value: fc.nat(40) }),
      fc.record({ kind: fc.constant("look"), value: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }) }),
    )
    fc.assert(
      fc.property(fc.array(step, { minLength: 200, maxLength: 400 }), (steps) => {
        const queue = new MessageQueue(0, MTU)
        /** Message, and bytes before, of each packet; and the first packet that is not acknowledged. */
        const packets: Array<number> = []
        const before: Array<number> = [0]
        let una = 0
        let open = 0
        let id = 0
        for (const { kind, value } of steps) {
          if (kind === "add") {
            const count = packetsOf(value, MTU)
            expect(queue.add(id, value)).toBe(count)
            const start = before.at(-1)!
            for (let i = 1; i <= count; i++) {
              packets.push(id)
              before.push(start + Math.min(i * MTU, value))
            }
            id++
          } else if (una === packets.length) {
          } else if (kind === "look") {
            const number = una + Math.floor(value * (packets.length - una))
            expect(queue.holding(number).id).toBe(packets[number])
          } else {
            const count = Math.min(una + value, packets.length)
            expect(queue.bytesBefore(count)).toBe(before[count])
            for (let message = queue.completedBy(count); message !== undefined; message = queue.completedBy(count)) {
              expect(message.id).toBe(open++)
            }
            expect(open).toBe(packets[count] ?? id)
            una = count
          }
        }
      }),
      { numRuns: 20 },
    )
  })

  it("counts bytes beyond 32 bits", () => {
    const queue = new MessageQueue(0, 4096)
    const sizes = [2 ** 31 - 1, 2 ** 31, 2 ** 40 + 1]
    const packets = sizes.map((size, id) => queue.add(id, size))
    expect(packets).toEqual(sizes.map((size) => Math.ceil(size / 4096)))
    const last = packets[0]! + packets[1]! + packets[2]!
    expect(queue.holding(last - 1)).toMatchObject({ id: 2, bytes: 2 ** 40 + 1, firstByte: 2 ** 32 - 1 })
    expect(queue.bytesBefore(last)).toBe(2 ** 40 + 2 ** 32)
  })
})
