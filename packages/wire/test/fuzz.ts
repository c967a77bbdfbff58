import { type DecodeOptions, decode, emitNodes } from "../src/Decode.ts"
import { fieldsOf } from "../src/Fields.ts"
import { parseIpv4Options } from "../src/Ipv4.ts"
import { parseIpv6Options } from "../src/Ipv6.ts"
import type { WireError } from "../src/Result.ts"
import { checkIcrc, icrcParts, placeInEthernet, placeInInfiniband, placeInIp } from "../src/Roce.ts"
import { parseTcpOptions } from "../src/Tcp.ts"
import { captures, readCapture } from "./capture.ts"
import { type Format, readFormats } from "./format.ts"
import { madeFrames } from "./frames.ts"

/** Whole numbers below `limit` from a seed: mulberry32, good enough to scatter and the same everywhere. */
const randomOf = (seed: number): ((limit: number) => number) => {
  let state = seed >>> 0
  return (limit) => {
    state = (state + 0x6d2b_79f5) >>> 0
    let word = Math.imul(state ^ (state >>> 15), state | 1)
    word ^= word + Math.imul(word ^ (word >>> 7), word | 61)
    return Math.floor((((word ^ (word >>> 14)) >>> 0) / 0x1_0000_0000) * limit)
  }
}
type Random = ReturnType<typeof randomOf>

const links = ["ethernet", "infiniband", "erf", "ip", "linuxCooked", "linuxCooked2"] as const

interface Seed {
  readonly link: NonNullable<DecodeOptions["link"]>
  readonly octets: Uint8Array
}

/** Frames to start from: some of each capture, and everything that is made. */
const seeds = (): ReadonlyArray<Seed> => [
  ...captures.flatMap((name) =>
    readCapture(name)
      .slice(0, 40)
      .map(({ octets }): Seed => ({ link: "ethernet", octets })),
  ),
  ...madeFrames,
]

/** Values that lengths lie with. */
const LIES = [0, 1, 3, 4, 7, 8, 0x0f, 0x10, 0x7f, 0x80, 0xfe, 0xff]

/** Flips bits, lies about lengths, cuts and lengthens, most in the first hundred octets, where headers are. */
const mutate = (octets: Uint8Array, random: Random): Uint8Array => {
  const extra = random(8) === 0 ? random(32) : 0
  const size = random(4) === 0 ? random(octets.length + 1) : octets.length
  const changed = new Uint8Array(size + extra)
  changed.set(octets.subarray(0, size))
  for (let count = random(4); count > 0 && changed.length > 0; count--) {
    const at = random(random(2) === 0 ? changed.length : Math.min(changed.length, 100))
    if (random(2) === 0) changed[at]! ^= 1 << random(8)
    else changed[at] = LIES[random(LIES.length)]!
  }
  return changed
}

const randomOctets = (random: Random, size: number): Uint8Array => {
  const octets = new Uint8Array(size)
  // Zeros are frequent, so that reserved fields are often clear and a header is read to its end.
  const sparse = random(2) === 0
  for (let at = 0; at < size; at++) octets[at] = sparse && random(2) === 0 ? 0 : random(256)
  return octets
}

const require = (holds: boolean, what: string): void => {
  if (!holds) throw new Error(what)
}

const requireError = (error: WireError, octets: Uint8Array): void => {
  require(error.offset >= 0 && error.offset <= octets.length, `${error.format}: an error at ${error.offset}`)
  require(error.field !== "" && error.format !== "", "an error without a place")
}

/** A fault lies in its header, and what is ignored is not 0. */
const requireFault = (fault: WireError, payloadStart: number): void => {
  require(fault.offset >= 0 && fault.offset < payloadStart, `${fault.format}: a fault at ${fault.offset}`)
  require(fault.what !== "ignored" || Number(fault.found) > 0, `${fault.format}: a fault without what is wrong`)
}

const same = (left: Uint8Array, right: Uint8Array): boolean => {
  if (left.length !== right.length) return false
  for (let at = 0; at < left.length; at++) if (left[at] !== right[at]) return false
  return true
}

/** One header: what parses emits to the same octets, what does not has an error with an offset. */
const tryFormat = ({ parse, emit }: Format, octets: Uint8Array, end: number): void => {
  const outcome = parse(octets, 0, end)
  if (!outcome.ok) {
    requireError(outcome.error, octets)
    return
  }
  const { value, faults, payloadStart, payloadEnd } = outcome
  require(payloadStart <= octets.length && payloadEnd >= payloadStart && payloadEnd <= end, "places out of order")
  for (const fault of faults) requireFault(fault, payloadStart)
  if (emit === undefined || faults.length > 0) return
  const again = new Uint8Array(payloadStart)
  emit(value as never, again)
  require(same(again, octets.subarray(0, payloadStart)), "emits otherwise")
}

/** A whole frame: its nodes tile it, and emit to the same octets. */
const tryFrame = (octets: Uint8Array, options: DecodeOptions): void => {
  const nodes = decode(octets, options)
  let at = 0
  for (const node of nodes) {
    require(node.start === at && node.end >= at, `a gap at ${at}`)
    at = node.end
    if (node.format === "raw") requireError(node.error, octets)
    if (node.format === "tcp") parseTcpOptions(node.value.options)
    if (node.format === "ipv4") parseIpv4Options(node.value.options)
    if (node.format === "ipv6Extension" && "options" in node.value) parseIpv6Options(node.value.options)
    if (node.format === "icrc" && node.covers !== undefined && node.verdict !== "cut") icrcParts(octets, node.covers)
    let bit = 8 * node.start
    for (const field of fieldsOf(node, octets)) {
      require(field.bit === bit, `${node.format}.${field.name}: a gap at bit ${bit}`)
      bit += field.bits
    }
    require(bit === 8 * node.end, `${node.format}: fields up to bit ${bit}`)
  }
  require(at === octets.length, "octets without a node")
  require(same(emitNodes(nodes, octets), octets), "emits otherwise")
  const end = options.wireBytes ?? octets.length
  for (const find of [placeInEthernet, placeInIp, placeInInfiniband]) {
    const place = find(octets, 0, end)
    if (place !== undefined) checkIcrc(octets, place)
  }
}

/** Runs `count` inputs of the seed through every parser and the decoder. Throws with the input that broke one. */
export const fuzz = async (seed: number, count: number): Promise<void> => {
  const formats = await readFormats()
  const frames = seeds()
  const random = randomOf(seed)
  for (let done = 0; done < count; done++) {
    const { link, octets } = frames[random(frames.length)]!
    const kind = random(4)
    const format = formats[random(formats.length)]!
    const input =
      kind === 0
        ? randomOctets(random, random(format.bytesMax > 300 ? 300 : format.bytesMax + 12))
        : mutate(octets, random)
    const wireBytes = random(4) === 0 ? input.length + random(2000) : input.length
    const fcsBytes = random(8) === 0 ? 4 : 0
    const by = kind === 3 && random(4) === 0 ? links[random(links.length)]! : link
    try {
      if (kind === 0) tryFormat(format, input, wireBytes)
      else if (kind === 1) tryFormat(format, input.subarray(random(Math.min(input.length + 1, 80))), 1 << 20)
      else tryFrame(input, { link: by, wireBytes, fcsBytes })
    } catch (error) {
      const text = Buffer.from(input).toString("hex")
      const where = kind < 2 ? format.name : by
      throw new Error(`seed ${seed}, input ${done}, ${where}, ${wireBytes} octets on the wire: ${text}`, {
        cause: error,
      })
    }
  }
}
