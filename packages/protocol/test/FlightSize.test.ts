import { expect, it } from "vitest"
import { FlightSize, makeAck } from "../src/index.ts"

const acknowledged = (flight: FlightSize, sequence: number, sent: number, bytes: number): void =>
  flight.onAck({ ...makeAck(0), sequence, sent, bytes })

it("counts what was sent and is not acknowledged in sequence", () => {
  const flight = new FlightSize()
  for (let i = 0; i < 10; i++) flight.onSent(1000, 0)
  expect([flight.bytes, flight.highest]).toEqual([10_000, 10_000])
  acknowledged(flight, 4000, 10_000, 4000)
  expect([flight.bytes, flight.acknowledged, flight.highest]).toEqual([6000, 4000, 10_000])
  flight.onSent(1000, 0)
  expect([flight.bytes, flight.highest]).toEqual([7000, 11_000])
})

/** `count` segments of 1,000 bytes are sent. */
const sending = (flight: FlightSize, count: number, recoverUntil = 0): void => {
  for (let i = 0; i < count; i++) flight.onSent(1000, recoverUntil)
}

it("leaves out what two duplicate acknowledgements let go, until something new is acknowledged", () => {
  const flight = new FlightSize()
  sending(flight, 10)
  for (const sent of [10_000, 11_000, 12_000, 12_000]) {
    acknowledged(flight, 0, sent, 0)
    if (sent < 12_000) sending(flight, 1)
    expect(flight.bytes).toBe(10_000)
  }
  expect(flight.highest).toBe(12_000)
  // A third segment is let go by the window.
  sending(flight, 1)
  expect([flight.bytes, flight.highest]).toEqual([11_000, 13_000])
  acknowledged(flight, 2000, 13_000, 2000)
  expect(flight.bytes).toBe(11_000)
})

it("takes for no duplicate what comes when nothing is out, or was overtaken (RFC 5681 §2)", () => {
  for (const sequence of [2000, 1000]) {
    const flight = new FlightSize()
    sending(flight, 2)
    acknowledged(flight, 2000, 2000, 2000)
    acknowledged(flight, sequence, 2000, 0)
    sending(flight, 100)
    expect([flight.bytes, flight.highest]).toEqual([100_000, 102_000])
    acknowledged(flight, 2000, 102_000, 0)
    expect(flight.bytes).toBe(100_000)
  }
})

it("goes by acknowledgements alone within a recovery", () => {
  const flight = new FlightSize()
  sending(flight, 10)
  acknowledged(flight, 2000, 10_000, 2000)
  sending(flight, 3, 10_000)
  expect([flight.bytes, flight.highest]).toEqual([8000, 10_000])
  acknowledged(flight, 4000, 11_000, 2000)
  expect([flight.bytes, flight.highest]).toEqual([7000, 11_000])
})

it("is of what was out before the transport went back", () => {
  const flight = new FlightSize()
  for (let i = 0; i < 10; i++) flight.onSent(1000, 0)
  acknowledged(flight, 3000, 3000, 3000)
  expect([flight.bytes, flight.highest]).toEqual([7000, 10_000])
})
