/** What the tools of perftest 6.06 tell each other over TCP (perftest_communication.c). */
import { FormatError } from "./FormatError.ts"
import { HexReader, hex, shown, withNul } from "./HexText.ts"

/** What a side says of one queue pair (struct pingpong_dest of perftest). */
export interface PerftestKeys {
  /** 16 bits; 0 on Ethernet. */
  readonly lid: number
  /** READs and atomics that may be outstanding there. 16 bits. */
  readonly outstandingReads: number
  /** 24 bits each. */
  readonly qpn: number
  readonly psn: number
  /** 32 bits; 0 where nothing is written or read. */
  readonly rkey: number
  /** Where the peer may write and read, 64 bits. */
  readonly address: bigint
  /** 16 octets. */
  readonly gid: Uint8Array
  /** Of XRC: 32 bits, otherwise 0. */
  readonly srqn: number
}

/** What a side measured. */
export interface PerftestResults {
  /** Of a message. */
  readonly bytes: number
  /** Of one queue pair. */
  readonly iterations: number
  /** MB/s, of 2^20 octets. */
  readonly peak: number
  readonly average: number
  /** Millions of messages a second. */
  readonly messageRate: number
}

/** The version that these messages are of. */
export const PERFTEST_VERSION = "6.06"
/** The oldest one that the tools of today talk to (check_version_compatibility). */
const VERSION_LEAST = 5.7

export const VERSION_BYTES = 16
export const WORD_BYTES = 4
export const MTU_BYTES = 2
/** `"%04x:%04x:%06x:%06x:%08x:%016llx:"`, sixteen `"%02x:"`, `"%08x:"` and a NUL. */
export const KEYS_BYTES = 108
/** One of the five numbers of a result. */
export const RESULT_BYTES = 8
export const RESULTS = 5

const MTU_LEAST = 256
const MTUS = 5

export const emitVersion = (version: string): Uint8Array => {
  const octets = new Uint8Array(VERSION_BYTES)
  octets.set(withNul(version).subarray(0, VERSION_BYTES - 1))
  return octets
}

/** @throws FormatError when there is no version, or one older than 5.70 */
export const parseVersion = (octets: Uint8Array): string => {
  const refuse = (expected: string) =>
    new FormatError({ format: "perftest version", field: "version", found: shown(octets), expected })
  const end = octets.indexOf(0)
  if (octets.length !== VERSION_BYTES || end < 0) throw refuse(`${VERSION_BYTES} octets with a text and a NUL`)
  const text = new TextDecoder("latin1").decode(octets.subarray(0, end))
  if (!/^\d+\.\d+/.test(text)) throw refuse('a version such as "6.06"')
  if (Number.parseFloat(text) < VERSION_LEAST) throw refuse(`${VERSION_LEAST.toFixed(2)} or later`)
  return text
}

/** The size of the cycle buffer, or of a cache line. */
export const emitWord = (value: number): Uint8Array => {
  const octets = new Uint8Array(WORD_BYTES)
  new DataView(octets.buffer).setUint32(0, value)
  return octets
}

/** Of a word's number: no machine has larger pages or cache lines that the tools tell of, and buffers are made from it. */
const WORD_MAX = 2 ** 20

/** @param name what the word is, for the error; @throws FormatError when it is not 1 to 2^20 */
export const parseWord = (name: string, octets: Uint8Array): number => {
  const refuse = (found: string, expected: string) =>
    new FormatError({ format: "perftest word", field: name, found, expected })
  if (octets.length !== WORD_BYTES) throw refuse(`${octets.length} octets`, `${WORD_BYTES}`)
  const value = viewOf(octets).getInt32(0)
  if (value <= 0) throw refuse(`${value}`, "a number above 0")
  if (value > WORD_MAX) throw refuse(`${value}`, `at most ${WORD_MAX}`)
  return value
}

/** @param bytes 256, 512, 1,024, 2,048 or 4,096 */
export const emitMtu = (bytes: number): Uint8Array => withNul(String(Math.log2(bytes / MTU_LEAST) + 1))

/** The path MTU of the peer, in bytes. @throws FormatError when it is none of the five */
export const parseMtu = (octets: Uint8Array): number => {
  const code = octets[0]! - 0x30
  if (octets.length === MTU_BYTES && octets[1] === 0 && code >= 1 && code <= MTUS) return MTU_LEAST << (code - 1)
  const expected = '"1" to "5" and a NUL: 256, 512, 1024, 2048, 4096 bytes'
  throw new FormatError({ format: "perftest MTU", field: "path MTU", found: shown(octets), expected })
}

export const emitKeys = (keys: PerftestKeys): Uint8Array => {
  const numbers = [
    hex(keys.lid, 4),
    hex(keys.outstandingReads, 4),
    hex(keys.qpn, 6),
    hex(keys.psn, 6),
    hex(keys.rkey, 8),
    hex(keys.address, 16),
    ...Array.from(keys.gid, (octet) => hex(octet, 2)),
    hex(keys.srqn, 8),
  ]
  return withNul(numbers.map((text) => `${text}:`).join(""))
}

/** @throws FormatError when they are no keys */
export const parseKeys = (octets: Uint8Array): PerftestKeys => {
  const reader = new HexReader("perftest keys", octets, KEYS_BYTES)
  const field = (name: string, digits: number): string => {
    const text = reader.digits(name, digits)
    reader.mark(name, ":")
    return text
  }
  const number = (name: string, digits: number): number => Number.parseInt(field(name, digits), 16)
  const lid = number("LID", 4)
  const outstandingReads = number("outstanding reads", 4)
  const qpn = number("QPN", 6)
  const psn = number("PSN", 6)
  const rkey = number("rkey", 8)
  const address = BigInt(`0x${field("address", 16)}`)
  const gid = Uint8Array.from({ length: 16 }, () => number("GID", 2))
  const srqn = number("SRQ number", 8)
  reader.mark("SRQ number", "\0")
  return { lid, outstandingReads, qpn, psn, rkey, address, gid, srqn }
}

/** Five messages of eight octets: two integers and three doubles, high octet first. */
export const emitResults = (results: PerftestResults): ReadonlyArray<Uint8Array> =>
  [results.bytes, results.iterations, results.peak, results.average, results.messageRate].map((value, index) => {
    const octets = new Uint8Array(RESULT_BYTES)
    const view = new DataView(octets.buffer)
    if (index < 2) view.setBigUint64(0, BigInt(value))
    else view.setFloat64(0, value)
    return octets
  })

/**
 * The results of a peer. The server of a test in one direction sends whatever was in its memory: any eight octets are a
 * number.
 * @throws FormatError when there are not five messages of eight octets
 */
export const parseResults = (messages: ReadonlyArray<Uint8Array>): PerftestResults => {
  const isWhole = messages.length === RESULTS && messages.every(({ length }) => length === RESULT_BYTES)
  if (!isWhole) {
    const found = `${messages.length} of ${messages.map(({ length }) => length).join(", ")} octets`
    throw new FormatError({ format: "perftest results", field: "length", found, expected: "5 of 8 octets" })
  }
  const integer = (index: number): number => Number(viewOf(messages[index]!).getBigUint64(0))
  const double = (index: number): number => viewOf(messages[index]!).getFloat64(0)
  return { bytes: integer(0), iterations: integer(1), peak: double(2), average: double(3), messageRate: double(4) }
}

const viewOf = (octets: Uint8Array): DataView => new DataView(octets.buffer, octets.byteOffset, octets.byteLength)
