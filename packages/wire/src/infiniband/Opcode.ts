/** The transport services and their upper three bits of the opcode (IBTA 1.7 §9.2.1). CNP has codes of its own. */
export const Service = { Rc: 0x00, Uc: 0x20, Rd: 0x40, Ud: 0x60, Xrc: 0xa0 } as const

/** The operations, the lower five bits: a code is `Service.Rc | Operation.SendOnly`. */
export const Operation = {
  SendFirst: 0x00,
  SendMiddle: 0x01,
  SendLast: 0x02,
  SendLastImmediate: 0x03,
  SendOnly: 0x04,
  SendOnlyImmediate: 0x05,
  WriteFirst: 0x06,
  WriteMiddle: 0x07,
  WriteLast: 0x08,
  WriteLastImmediate: 0x09,
  WriteOnly: 0x0a,
  WriteOnlyImmediate: 0x0b,
  ReadRequest: 0x0c,
  ReadResponseFirst: 0x0d,
  ReadResponseMiddle: 0x0e,
  ReadResponseLast: 0x0f,
  ReadResponseOnly: 0x10,
  Acknowledge: 0x11,
  AtomicAcknowledge: 0x12,
  CompareSwap: 0x13,
  FetchAdd: 0x14,
  /** RD alone. */
  Resync: 0x15,
  SendLastInvalidate: 0x16,
  SendOnlyInvalidate: 0x17,
  Flush: 0x1c,
  AtomicWrite: 0x1d,
} as const

/** A congestion notification on RoCEv2 (IBTA 1.7 §A17.9.3). */
export const CNP = 0x81
/** A congestion notification on native InfiniBand (IBTA 1.7 §A10.3.2). The two are not the same code. */
export const CNP_NATIVE = 0x80

export type ServiceName = keyof typeof Service | "Cnp"
export type OperationName = keyof typeof Operation | "Notify"

/** The headers that may follow a BTH. An ATOMIC WRITE carries its eight octets as payload. */
export type ExtendedHeader =
  | "rdeth"
  | "deth"
  | "xrceth"
  | "reth"
  | "atomicEth"
  | "aeth"
  | "atomicAckEth"
  | "immDt"
  | "ieth"
  | "feth"
  | "cnp"

export interface Opcode {
  readonly code: number
  readonly service: ServiceName
  readonly operation: OperationName
  /** What follows the BTH, in order (IBTA 1.7 §9.2, table 38). */
  readonly headers: ReadonlyArray<ExtendedHeader>
  /** Whether octets of a message may follow the headers. */
  readonly payload: boolean
}

type Shape = readonly [response: boolean, payload: boolean, headers: ReadonlyArray<ExtendedHeader>]
const request = (payload: boolean, ...headers: ReadonlyArray<ExtendedHeader>): Shape => [false, payload, headers]
const response = (payload: boolean, ...headers: ReadonlyArray<ExtendedHeader>): Shape => [true, payload, headers]

const shapes: Readonly<Record<keyof typeof Operation, Shape>> = /* @__PURE__ */ (() => ({
  SendFirst: request(true),
  SendMiddle: request(true),
  SendLast: request(true),
  SendLastImmediate: request(true, "immDt"),
  SendOnly: request(true),
  SendOnlyImmediate: request(true, "immDt"),
  WriteFirst: request(true, "reth"),
  WriteMiddle: request(true),
  WriteLast: request(true),
  WriteLastImmediate: request(true, "immDt"),
  WriteOnly: request(true, "reth"),
  WriteOnlyImmediate: request(true, "reth", "immDt"),
  ReadRequest: request(false, "reth"),
  ReadResponseFirst: response(true, "aeth"),
  ReadResponseMiddle: response(true),
  ReadResponseLast: response(true, "aeth"),
  ReadResponseOnly: response(true, "aeth"),
  Acknowledge: response(false, "aeth"),
  AtomicAcknowledge: response(false, "aeth", "atomicAckEth"),
  CompareSwap: request(false, "atomicEth"),
  FetchAdd: request(false, "atomicEth"),
  Resync: request(false),
  SendLastInvalidate: request(true, "ieth"),
  SendOnlyInvalidate: request(true, "ieth"),
  Flush: request(false, "feth", "reth"),
  AtomicWrite: request(true, "reth"),
}))()

const isOf = (service: keyof typeof Service, operation: keyof typeof Operation): boolean => {
  const code = Operation[operation]
  if (service === "Ud") return code === Operation.SendOnly || code === Operation.SendOnlyImmediate
  if (service === "Uc") return code <= Operation.WriteOnlyImmediate
  if (code === Operation.Resync) return service === "Rd"
  if (code === Operation.SendLastInvalidate || code === Operation.SendOnlyInvalidate) return service !== "Rd"
  return true
}

const before = (service: keyof typeof Service, isResponse: boolean): ReadonlyArray<ExtendedHeader> => {
  if (service === "Ud") return ["deth"]
  if (service === "Rd") return isResponse ? ["rdeth"] : ["rdeth", "deth"]
  return service === "Xrc" && !isResponse ? ["xrceth"] : []
}

const table: ReadonlyArray<Opcode | undefined> = /* @__PURE__ */ (() => {
  const all = new Array<Opcode | undefined>(256).fill(undefined)
  for (const code of [CNP, CNP_NATIVE])
    all[code] = { code, service: "Cnp", operation: "Notify", headers: ["cnp"], payload: false }
  for (const [service, base] of Object.entries(Service) as Array<[keyof typeof Service, number]>) {
    for (const [operation, low] of Object.entries(Operation) as Array<[keyof typeof Operation, number]>) {
      if (!isOf(service, operation)) continue
      const [isResponse, payload, headers] = shapes[operation]
      const code = base | low
      all[code] = { code, service, operation, headers: [...before(service, isResponse), ...headers], payload }
    }
  }
  return all
})()

/** What a code is; undefined for reserved and manufacturers' ones. */
export const opcodeOf = (code: number): Opcode | undefined => table[code]
