import { Opcode, type Packet, type PintCodec } from "@rdmakit/packet"
import type { Time } from "@rdmakit/protocol"
import { type GlibcRandom, log2, pow } from "@rdmakit/units"
import type { PintStamping } from "./PintStamper.ts"

/** Bits of an operand that the approximate logarithm looks at, and the units it counts in: 2^15 to a doubling. */
const MANTISSA_BITS = 16
const LOG_UNITS = 2 ** 15
/** The digit from which on a switch tells of a queue, bytes; and the units in which it keeps U. */
const QUEUE_UNIT = 256
const U_UNITS = 8192
/** What the reference's logarithm of 0 becomes as an int: its power is nothing. */
const LOG_OF_ZERO = -(2 ** 31)

export interface Ns3PintStamperOptions {
  /** Rates of all ports of the world, bit/s. */
  readonly rateBps: ArrayLike<number>
  /** The largest base RTT of the network, whole ns (MaxRtt). Above 0. */
  readonly maxRttNs: number
  readonly codec: PintCodec
  /** `rand()`, one sequence for all switches and hosts of a run. */
  readonly random: GlibcRandom
}

/**
 * PINT as the switches of the HPCC simulator stamp it (switch-node.cc, CC_MODE 10): U by approximate logarithms, as a
 * switch without multipliers would compute it, times in whole ns, and the rounding drawn by `rand()`.
 *
 * Two of its blind spots are kept: whatever packet left last, an acknowledgement or a pause frame too, gives the time
 * and the bytes of the next step, and the bytes of any before it since the last data packet are forgotten; and before
 * time 0 something of no bytes left every port.
 */
export class Ns3PintStamper implements PintStamping {
  private readonly logBytesPerSecond: Float64Array
  private readonly maxRttNs: number
  private readonly logMaxRtt: number
  private readonly codec: PintCodec
  private readonly random: GlibcRandom
  private readonly utilisations: Float64Array
  private readonly lastNs: Float64Array
  private readonly lastBytes: Float64Array

  /** @throws RangeError for a base RTT that is no whole number of at least 1 */
  constructor(options: Ns3PintStamperOptions) {
    const { rateBps, maxRttNs } = options
    if (!(Number.isSafeInteger(maxRttNs) && maxRttNs >= 1)) throw new RangeError(`PINT base RTT ${maxRttNs} ns`)
    const ports = rateBps.length
    this.logBytesPerSecond = Float64Array.from(rateBps, (rate) => log2(Math.trunc(rate / 8)) * LOG_UNITS)
    this.maxRttNs = maxRttNs
    this.logMaxRtt = log2(maxRttNs) * LOG_UNITS
    this.codec = options.codec
    this.random = options.random
    this.utilisations = new Float64Array(ports)
    this.lastNs = new Float64Array(ports)
    this.lastBytes = new Float64Array(ports)
  }

  /** Utilisation of a port's link, as its last data packet left it. */
  utilisation(port: number): number {
    return this.utilisations[port]!
  }

  stamp(now: Time, packet: Packet, egress: number, _sentBytes: number, queueBytes: number): void {
    const ns = Math.trunc(now / 1000)
    if (packet.opcode < Opcode.Acknowledge) {
      const utilisation = this.next(egress, Math.min(ns - this.lastNs[egress]!, this.maxRttNs), queueBytes)
      this.utilisations[egress] = utilisation
      const digest = this.codec.encode(utilisation, (this.random.bits() & 0xffff) / 65_536)
      if (digest > packet.pint) packet.pint = digest
    }
    this.lastNs[egress] = ns
    this.lastBytes[egress] = packet.wireBytes
  }

  /**
   * dt·qlen / (B·T²) + bytes / (B·T) + (T − dt)·U / T. The operations are in the order of the reference, its draws too.
   */
  private next(egress: number, elapsedNs: number, queueBytes: number): number {
    const logB = this.logBytesPerSecond[egress]!
    const logT = this.logMaxRtt
    const queue = Math.floor(queueBytes / QUEUE_UNIT)
    let queueTerm = 0
    if (queue > 0) {
      const logElapsed = this.approximateLog(elapsedNs)
      const logQueue = this.approximateLog(queue)
      queueTerm = pow(2, (logElapsed + logQueue + LOG_BILLION - logB - 2 * logT) / LOG_UNITS) * QUEUE_UNIT
    }
    let bytesTerm = 0
    const bytes = this.lastBytes[egress]!
    if (bytes > 0) {
      bytesTerm = pow(2, (this.approximateLog(bytes) + LOG_BILLION - logB - logT) / LOG_UNITS)
    }
    let keptTerm = 0
    const utilisation = this.utilisations[egress]!
    if (this.maxRttNs > elapsedNs && utilisation > 0) {
      const logRest = this.approximateLog(this.maxRttNs - elapsedNs)
      const logU = this.approximateLog(Math.round(utilisation * U_UNITS))
      keptTerm = pow(2, (logRest + logU - logT) / LOG_UNITS) / U_UNITS
    }
    return queueTerm + bytesTerm + keptTerm
  }

  /** log2apprx: the logarithm of the upper 16 bits, rounded up or down at random, in whole units, rounded down. */
  private approximateLog(operand: number): number {
    if (operand <= 0) return LOG_OF_ZERO
    let value = operand
    const dropped = 32 - Math.clz32(operand) - MANTISSA_BITS
    if (dropped > 0) {
      const mask = 2 ** dropped - 1
      value = (operand >>> dropped) * 2 ** dropped
      if ((operand & mask) > (this.random.bits() & mask)) value += 2 ** dropped
    }
    return value < logarithms.length ? smallLogarithm(value) : Math.trunc(log2(value) * LOG_UNITS)
  }
}

const LOG_BILLION = log2(1e9) * LOG_UNITS

/** Logarithms of small operands, which most are; -1 as long as nobody asked. */
const logarithms = new Int32Array(2 ** MANTISSA_BITS).fill(-1)

const smallLogarithm = (value: number): number => {
  let logarithm = logarithms[value]!
  if (logarithm < 0) {
    logarithm = Math.trunc(log2(value) * LOG_UNITS)
    logarithms[value] = logarithm
  }
  return logarithm
}
