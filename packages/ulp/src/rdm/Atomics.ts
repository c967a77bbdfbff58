/** `enum fi_datatype` as far as it is supported: what it is, and its octets. */
interface Datatype {
  readonly kind: "integer" | "bigint" | "float"
  readonly bytes: number
  readonly read: (view: DataView, at: number) => number | bigint
  readonly write: (view: DataView, at: number, value: never) => void
}

const integer = (bits: 8 | 16 | 32, signed: boolean): Datatype => {
  const name = `${signed ? "Int" : "Uint"}${bits}` as "Int16"
  return {
    kind: "integer",
    bytes: bits / 8,
    read: (view, at) => view[`get${name}`](at, true),
    write: (view, at, value) => view[`set${name}`](at, value, true),
  }
}

/** By number: INT8, UINT8, … UINT64, FLOAT, DOUBLE. */
const datatypes: ReadonlyArray<Datatype> = [
  integer(8, true),
  integer(8, false),
  integer(16, true),
  integer(16, false),
  integer(32, true),
  integer(32, false),
  {
    kind: "bigint",
    bytes: 8,
    read: (view, at) => view.getBigInt64(at, true),
    write: (view, at, value) => view.setBigInt64(at, value, true),
  },
  {
    kind: "bigint",
    bytes: 8,
    read: (view, at) => view.getBigUint64(at, true),
    write: (view, at, value) => view.setBigUint64(at, value, true),
  },
  {
    kind: "float",
    bytes: 4,
    read: (view, at) => view.getFloat32(at, true),
    write: (view, at, value) => view.setFloat32(at, value, true),
  },
  {
    kind: "float",
    bytes: 8,
    read: (view, at) => view.getFloat64(at, true),
    write: (view, at, value) => view.setFloat64(at, value, true),
  },
]

/** `enum fi_datatype`. */
export const AtomicDatatype = {
  Int8: 0,
  Uint8: 1,
  Int16: 2,
  Uint16: 3,
  Int32: 4,
  Uint32: 5,
  Int64: 6,
  Uint64: 7,
  Float: 8,
  Double: 9,
} as const

/** `enum fi_op`. The first ten change memory, `Read` and `Write` are for fetches, the rest compare. */
export const AtomicOperation = {
  Min: 0,
  Max: 1,
  Sum: 2,
  Product: 3,
  LogicalOr: 4,
  LogicalAnd: 5,
  BitOr: 6,
  BitAnd: 7,
  LogicalXor: 8,
  BitXor: 9,
  Read: 10,
  Write: 11,
  SwapIfEqual: 12,
  SwapIfNotEqual: 13,
  SwapIfLessOrEqual: 14,
  SwapIfLess: 15,
  SwapIfGreaterOrEqual: 16,
  SwapIfGreater: 17,
  MaskedSwap: 18,
} as const

const { Read, SwapIfEqual, MaskedSwap } = AtomicOperation
const BITWISE: ReadonlySet<number> = new Set([
  AtomicOperation.BitOr,
  AtomicOperation.BitAnd,
  AtomicOperation.BitXor,
  AtomicOperation.MaskedSwap,
])

/** Octets of one operand; undefined for a datatype that is not supported. */
export const atomicBytes = (datatype: number): number | undefined => datatypes[datatype]?.bytes

/** Whether there is such an operation on such data, of this kind (fi_atomic(3)). */
export const isAtomic = (kind: "write" | "fetch" | "compare", datatype: number, operation: number): boolean => {
  const type = datatypes[datatype]
  if (type === undefined || !(operation >= 0 && operation <= MaskedSwap)) return false
  if (type.kind === "float" && BITWISE.has(operation)) return false
  if (kind === "compare") return operation >= SwapIfEqual
  return operation < SwapIfEqual && (kind === "fetch" || operation !== Read)
}

type Value = number & bigint
const BIG = [0n, 1n] as unknown as readonly [Value, Value]
const SMALL = [0, 1] as unknown as readonly [Value, Value]

/** What memory becomes. `old` is what it holds, `operand` comes with the request; both of one type. */
const combined = (kind: Datatype["kind"], operation: number, old: Value, operand: Value): number | bigint => {
  const [zero, one] = kind === "bigint" ? BIG : SMALL
  switch (operation) {
    case AtomicOperation.Min:
      return old > operand ? operand : old
    case AtomicOperation.Max:
      return old < operand ? operand : old
    case AtomicOperation.Sum:
      return old + operand
    case AtomicOperation.Product:
      // A double would lose the low bits of what is above 2^53.
      return kind === "integer" ? Math.imul(old, operand) : old * operand
    case AtomicOperation.LogicalOr:
      return old !== zero || operand !== zero ? one : zero
    case AtomicOperation.LogicalAnd:
      return old !== zero && operand !== zero ? one : zero
    case AtomicOperation.LogicalXor:
      return (old !== zero) !== (operand !== zero) ? one : zero
    case AtomicOperation.BitOr:
      return old | operand
    case AtomicOperation.BitAnd:
      return old & operand
    case AtomicOperation.BitXor:
      return old ^ operand
    case AtomicOperation.Read:
      return old
    default:
      return operand
  }
}

/** Whether a swap takes place: `compare` stands left of the sign (fi_atomic(3)). */
const swaps = (operation: number, old: Value, compare: Value): boolean => {
  switch (operation) {
    case AtomicOperation.SwapIfEqual:
      return compare === old
    case AtomicOperation.SwapIfNotEqual:
      return compare !== old
    case AtomicOperation.SwapIfLessOrEqual:
      return compare <= old
    case AtomicOperation.SwapIfLess:
      return compare < old
    case AtomicOperation.SwapIfGreaterOrEqual:
      return compare >= old
    default:
      return compare > old
  }
}

const viewOf = (octets: Uint8Array): DataView => new DataView(octets.buffer, octets.byteOffset, octets.byteLength)

/**
 * Does an atomic on `memory`, operand by operand; with `compare`, one that compares. All have the length of `memory`, and
 * `isAtomic` has said that there is such an operation. Integers wrap.
 */
export const applyAtomic = (
  datatype: number,
  operation: number,
  memory: Uint8Array,
  operands: Uint8Array,
  compare: Uint8Array | undefined,
): void => {
  const { bytes, kind, read, write } = datatypes[datatype]!
  const [memoryView, operandView] = [viewOf(memory), viewOf(operands)]
  const compareView = compare === undefined ? undefined : viewOf(compare)
  for (let at = 0; at + bytes <= memory.length; at += bytes) {
    const old = read(memoryView, at) as Value
    const operand = read(operandView, at) as Value
    let value: number | bigint
    if (compareView === undefined) value = combined(kind, operation, old, operand)
    else {
      const other = read(compareView, at) as Value
      if (operation === MaskedSwap) value = (operand & other) | (old & (~other as Value))
      else value = swaps(operation, old, other) ? operand : old
    }
    write(memoryView, at, value as never)
  }
}
