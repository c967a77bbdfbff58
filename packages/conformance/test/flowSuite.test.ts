import { Opcode, type Packet } from "@rdmakit/packet"
import {
  type Ack,
  type ControllerFactory,
  type FlowCommand,
  type FlowEvent,
  makeAck,
  type PathInfo,
  type Time,
  unpaced,
} from "@rdmakit/protocol"
import { describe, expect, it } from "vitest"
import { StopAndWait, stopAndWait } from "../examples/stopAndWait.ts"
import {
  ContractViolation,
  fixedWindow,
  flowAddress,
  flowEnds,
  flowSuite,
  flowsUnderTest,
  type TransportExpectations,
  transportChecks,
} from "../src/index.ts"

const path: PathInfo = {
  lineRateBps: 10e9,
  baseRttPs: 2e6,
  windowBytes: 2500,
  mtuBytes: 1000,
  timeModulusPs: Infinity,
  bytesModulus: Infinity,
  flow: 0,
  seed: 0,
}
const controller = fixedWindow(8000)
const expectations = { failsWithinPs: 10e9 }

flowSuite(
  "stop and wait",
  (now) => flowEnds(stopAndWait(controller), now, path) as readonly [StopAndWait, StopAndWait],
  expectations,
)

type Make = (now: Time, node: number) => StopAndWait

/** What the suite finds wrong with an engine, all messages together. */
const faults = (make: Make, expected: TransportExpectations = expectations): string =>
  transportChecks(
    flowsUnderTest("faulty", (now) => [make(now, 0), make(now, 1)] as const),
    expected,
  )
    .flatMap(({ run }) => {
      try {
        run()
        return []
      } catch (error) {
        expect(error).toBeInstanceOf(ContractViolation)
        return [(error as Error).message]
      }
    })
    .join("\n")

/** Its controller is told what `twist` makes of a field of each acknowledgement. */
const telling = <Field extends keyof Ack>(field: Field, twist: (value: Ack[Field]) => Ack[Field]): string => {
  const ack = makeAck(1)
  let value = ack[field]
  Object.defineProperty(ack, field, {
    get: () => value,
    set: (given: Ack[Field]) => {
      value = twist(given)
    },
  })
  return faults((now, node) => new StopAndWait(now, controller, ack, flowAddress(node, path)))
}

type Parameters = ConstructorParameters<typeof StopAndWait>
const engine =
  (Engine: new (...given: Parameters) => StopAndWait, factory = controller): Make =>
  (now, node) =>
    new Engine(now, factory, makeAck(1), flowAddress(node, path))

describe("the suite of flows finds", () => {
  it("nothing wrong with stop and wait", () => {
    expect(faults(engine(StopAndWait))).toBe("")
  })

  it("acknowledgements that say what is not so", () => {
    let turn = 0
    expect(telling("sequence", (value) => (turn++ % 3 === 2 ? value - 1 : value))).toMatch(
      /onAck: (sequence fell from \d+ to \d+|bytes is 0)/,
    )
    expect(telling("sequence", (value) => value + 1)).toMatch(/onAck: sequence is \d+, and \d+ bytes have reached/)
    expect(telling("sequence", (value) => value + 0.5)).toMatch(/onAck: sequence is [\d.]+, no whole number/)
    expect(telling("sent", (value) => value - 1)).toMatch(/onAck: sent is \d+, less than the \d+ bytes/)
    expect(telling("sent", (value) => value + 1)).toMatch(/onAck: sent is \d+, more than the \d+ bytes/)
    expect(telling("bytes", () => 0)).toMatch(/onAck: bytes is 0, and sequence rose from 0 to 1/)
    expect(telling("bytes", (value) => -value)).toMatch(/onAck: bytes is -\d+, no whole number of at least 0/)
    expect(telling("bytes", (value) => value + 1)).toMatch(/onAck: bytes are \d+ in all, and \d+ have reached the peer/)
    expect(telling("bytes", (value) => Math.ceil(value / 2))).toMatch(
      /onAck: bytes are \d+ in all, and sequence is \d+/,
    )
    expect(telling("rttPs", () => 0)).toMatch(/onAck: rttPs is 0, and the way there and back takes 2000000 ps/)
    expect(telling("congestion", () => 1 as never)).toMatch(/onAck: congestion is 1, not a boolean/)
    let acks = 0
    expect(telling("rttPs", (value) => (acks++ === 0 ? Infinity : value))).toMatch(/onAck: rttPs is Infinity/)
  })

  it("packets that the controller does not hear of, and losses that are none", () => {
    class Silent extends StopAndWait {
      override pollTransmit(now: Time, out: Packet): boolean {
        const { onSent } = this.controller
        this.controller.onSent = () => {}
        const left = super.pollTransmit(now, out)
        this.controller.onSent = onSent
        return left
      }
    }
    expect(faults(engine(Silent))).toMatch(/a data packet of \d+ bytes left, and onSent was told \[\]/)
    class Padded extends StopAndWait {
      override pollTransmit(now: Time, out: Packet): boolean {
        const left = super.pollTransmit(now, out)
        if (left && out.opcode < Opcode.Acknowledge) out.payloadBytes++
        return left
      }
    }
    expect(faults(engine(Padded))).toMatch(/a data packet of 1 bytes left, and onSent was told \[0\]/)
    class Worried extends StopAndWait {
      override handlePacket(now: Time, packet: Packet): void {
        super.handlePacket(now, packet)
        this.controller.onLoss(now, false)
      }
    }
    expect(faults(engine(Worried))).toMatch(/onLoss \(no timeout\), though nothing was lost/)
    class Congested extends StopAndWait {
      override handlePacket(now: Time, packet: Packet): void {
        super.handlePacket(now, packet)
        this.controller.onCnp(now)
      }
    }
    expect(faults(engine(Congested))).toMatch(/onCnp, though no CNP came/)
    class Late extends StopAndWait {
      override handlePacket(now: Time, packet: Packet): void {
        super.handlePacket(now - 1, packet)
      }
    }
    expect(faults(engine(Late))).toMatch(/onAck at \d+ ps, when it is \d+/)
    class Ticking extends StopAndWait {
      override handlePacket(now: Time, packet: Packet): void {
        super.handlePacket(now, packet)
        this.controller.onTimer(now, 0)
      }
    }
    expect(faults(engine(Ticking))).toMatch(/onTimer at \d+ ps, and nextTimer is Infinity/)
  })

  it("an end that says of itself what is not so", () => {
    class Modest extends StopAndWait {
      override handlePacket(now: Time, packet: Packet): void {
        const before = this.bytesAcknowledged
        super.handlePacket(now, packet)
        if (this.bytesAcknowledged > before) this.bytesAcknowledged = before
      }
    }
    expect(faults(engine(Modest))).toMatch(/bytes have completed, and bytesAcknowledged is 0/)
    class Proud extends StopAndWait {
      override command(now: Time, given: FlowCommand): void {
        super.command(now, given)
        this.bytesAcknowledged += given.writeBytes
      }
    }
    expect(faults(engine(Proud))).toMatch(/bytesAcknowledged is \d+, and \d+ bytes have reached the peer/)
    class Tireless extends StopAndWait {
      override handleTimeout(now: Time): void {
        super.handleTimeout(now)
        this.retransmissions = 0
      }
    }
    expect(faults(engine(Tireless))).toMatch(/retransmissions is \d+, (after \d+|and \d+ packets left again)/)
    const acting: ControllerFactory = {
      ...controller,
      make: (now, of) => ({ ...controller.make(now, of), onAck: () => true }),
    }
    expect(faults(engine(StopAndWait, acting))).toBe("")
    class Idle extends StopAndWait {
      override handlePacket(now: Time, packet: Packet): void {
        super.handlePacket(now, packet)
        this.controllerActions = 0
      }
    }
    expect(faults(engine(Idle, acting))).toMatch(/controllerActions is 0, and the controller's law ran \d+ times/)
  })

  it("events that say what is not so", () => {
    const saying = (twist: (event: FlowEvent) => FlowEvent): string => {
      class Liar extends StopAndWait {
        override pollEvent(): FlowEvent | undefined {
          const event = super.pollEvent()
          return event === undefined ? undefined : twist(event)
        }
      }
      return faults(engine(Liar))
    }
    expect(saying((event) => ({ ...event, time: event.time - 1 }))).toMatch(/ended at \d+ ps, its event says \d+/)
    expect(saying((event) => ({ ...event, bytes: event.bytes + 1 }))).toMatch(/of \d+ bytes completed, its event says/)
    expect(saying((event) => (event.type === "completed" ? event : { ...event, bytes: -1 }))).toMatch(
      /of \d+ bytes failed, its event says -1 bytes/,
    )
  })

  it("nothing in an end whose controller nobody asks: it only responds", () => {
    const ends = flowEnds(stopAndWait({ ...controller, make: () => unpaced }), 0, path)
    expect(ends[0].controller).toBe(unpaced)
    expect(faults(engine(StopAndWait, { ...controller, make: () => unpaced }), {})).toBe("")
    expect(unpaced.onAck(0, makeAck(0))).toBe(false)
  })
})
