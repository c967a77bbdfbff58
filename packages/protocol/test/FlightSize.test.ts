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

it("leaves out what duplicate acknowledgements let go, and what a recovery sends again", () => {
  const flight = new FlightSize()
  for (let i = 0; i < 10; i++) flight.onSent(1000, 0)
  acknowledged(flight, 0, 10_000, 0)
  flight.onSent(1000, 0)
  expect(flight.bytes).toBe(10_000)
  acknowledged(flight, 2000, 11_000, 2000)
  flight.onSent(1000, 11_000)
  expect([flight.bytes, flight.highest]).toEqual([9000, 11_000])
})

it("is of what was out before the transport went back", () => {
  const flight = new FlightSize()
  for (let i = 0; i < 10; i++) flight.onSent(1000, 0)
  acknowledged(flight, 3000, 3000, 3000)
  expect([flight.bytes, flight.highest]).toEqual([7000, 10_000])
})
