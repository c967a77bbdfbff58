import { PLANES, STATE_PLANES, STEP_BYTES } from "./SimdTables.ts"

/** Where in its memory the program finds what it reads. */
export const NIBBLES_AT = 0
export const OCTETS_AT = 1024
const STATE_AT = OCTETS_AT + 8 * 1024
/** Before it are zeros. */
export const DATA_AT = 16_384

/** Numbers of any length, seven bits an octet (WebAssembly core §5.2.2). */
const unsigned = (value: number): Array<number> =>
  value < 128 ? [value] : [(value & 127) | 128, ...unsigned(value >>> 7)]

const signed = (value: number): Array<number> =>
  value >= -64 && value < 64 ? [value & 127] : [(value & 127) | 128, ...signed(value >> 7)]

// WebAssembly core 2.0 §5.4; relaxed SIMD §5.4.10 of 3.0.
const VECTOR = 0x7b
const I32 = 0x7f
const NOTHING = 0x40
const get = (local: number): Array<number> => [0x20, local]
const set = (local: number): Array<number> => [0x21, local]
const i32 = (value: number): Array<number> => [0x41, ...signed(value)]
const load = (offset: number): Array<number> => [0x28, 0, ...unsigned(offset)]
const store = (offset: number): Array<number> => [0x36, 0, ...unsigned(offset)]
const IS_ZERO = [0x45]
const ADD = [0x6a]
const SUB = [0x6b]
const AND = [0x71]
const XOR = [0x73]
const SHIFT_LEFT = [0x74]
const SHIFT_RIGHT = [0x76]
const BLOCK = [0x02, NOTHING]
const LOOP = [0x03, NOTHING]
const BRANCH_AGAIN = [0x0c, 0]
const BRANCH_OUT = [0x0d, 1]
const END = [0x0b]
const vector = (code: number): Array<number> => [0xfd, ...unsigned(code)]
const vectorLoad = (offset: number): Array<number> => [...vector(0), 0, ...unsigned(offset)]
const vectorStore = (offset: number): Array<number> => [...vector(11), 0, ...unsigned(offset)]
const vectorOf = (octet: number): Array<number> => [...vector(12), ...new Array<number>(16).fill(octet)]
const SWIZZLE = vector(14)
const RELAXED_SWIZZLE = vector(0x100)
const VECTOR_AND = vector(78)
const VECTOR_XOR = vector(81)
const SHIFT_OCTETS_RIGHT = vector(109)

const list = (items: ReadonlyArray<ReadonlyArray<number>>): Array<number> => [
  ...unsigned(items.length),
  ...items.flat(),
]
const section = (id: number, body: ReadonlyArray<number>): Array<number> => [id, ...unsigned(body.length), ...body]
const named = (name: string): Array<number> => [name.length, ...Array.from(name, (letter) => letter.charCodeAt(0))]

const AT = 0
const LEFT = 1
const CRC = 2
const WORD = 3
/** `body` as long as octets are left, which are a multiple of `bytes`. */
const each = (bytes: number, body: ReadonlyArray<number>): Array<number> =>
  [
    [BLOCK, LOOP, get(LEFT), IS_ZERO, BRANCH_OUT, body].flat(),
    [get(AT), i32(bytes), ADD, set(AT), get(LEFT), i32(bytes), SUB, set(LEFT), BRANCH_AGAIN, END, END].flat(),
  ].flat()

/** Eight octets of a CRC by tables of 256 words. */
const plainStep = (): Array<number> => {
  /** What a word of the table has for one of the octets of `WORD`. */
  const lookUp = (octet: number, table: number): Array<number> =>
    [get(WORD), i32(8 * octet), SHIFT_RIGHT, i32(255), AND, i32(2), SHIFT_LEFT, load(OCTETS_AT + 1024 * table)].flat()
  const octets = [1, 2, 3]
  return [
    ...[get(CRC), get(AT), load(0), XOR, set(WORD)].flat(),
    ...[lookUp(0, 7), octets.flatMap((octet) => [...lookUp(octet, 7 - octet), ...XOR])].flat(),
    ...[get(AT), load(4), set(WORD)].flat(),
    ...[0, ...octets].flatMap((octet) => [...lookUp(octet, 3 - octet), ...XOR]),
    ...set(CRC),
  ]
}

/** `whole(at, left, crc)`: the state after so many octets, a multiple of a step, with zeros before `DATA_AT`. */
const whole = (swizzle: ReadonlyArray<number>): Array<number> => {
  const STATE = WORD + 1
  const NEXT = STATE + PLANES
  const LOW = NEXT + PLANES
  const HIGH = LOW + 1
  const MASK = HIGH + 1
  const planes = Array.from({ length: PLANES }, (_, plane) => plane)
  const found = (nibble: number, out: number, local: number): Array<number> =>
    [i32(0), vectorLoad(NIBBLES_AT + 16 * (nibble * STATE_PLANES.length + out)), get(local), swizzle].flat()
  const fold = (plane: number): Array<number> => [
    ...[get(STATE + plane), get(MASK), VECTOR_AND, set(LOW)].flat(),
    ...[get(STATE + plane), i32(4), SHIFT_OCTETS_RIGHT, set(HIGH)].flat(),
    ...STATE_PLANES.flatMap((to, out) => [
      ...[get(NEXT + to), found(2 * plane, out, LOW), found(2 * plane + 1, out, HIGH)].flat(),
      ...[VECTOR_XOR, VECTOR_XOR, set(NEXT + to)].flat(),
    ]),
  ]
  const step = [
    ...planes.flatMap((plane) => [...get(AT), ...vectorLoad(16 * plane), ...set(NEXT + plane)]),
    ...planes.flatMap(fold),
    ...planes.flatMap((plane) => [...get(NEXT + plane), ...set(STATE + plane)]),
  ]
  return [
    ...list([
      [1, I32],
      [2 * PLANES + 3, VECTOR],
    ]),
    ...[vectorOf(15), set(MASK)].flat(),
    ...[i32(DATA_AT), i32(DATA_AT), load(0), get(CRC), XOR, store(0)].flat(),
    ...each(STEP_BYTES, step),
    ...planes.flatMap((plane) => [...i32(0), ...get(STATE + plane), ...vectorStore(STATE_AT + 16 * plane)]),
    ...[i32(STATE_AT), set(AT), i32(STEP_BYTES), set(LEFT), i32(0), set(CRC)].flat(),
    ...each(8, plainStep()),
    ...[get(CRC), END].flat(),
  ]
}

/**
 * A WebAssembly module that has its memory from `m.m`, and gives `whole`. With relaxed SIMD an index is known to be below 16
 * without being looked at.
 */
export const simdProgram = (relaxed: boolean): Uint8Array => {
  const body = whole(relaxed ? RELAXED_SWIZZLE : SWIZZLE)
  return Uint8Array.of(
    ...[0, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(1, list([[0x60, ...list([[I32], [I32], [I32]]), ...list([[I32]])]])),
    ...section(2, list([[...named("m"), ...named("m"), 2, 0, 1]])),
    ...section(3, list([[0]])),
    ...section(7, list([[...named("whole"), 0, 0]])),
    ...section(10, list([[...unsigned(body.length), ...body]])),
  )
}
