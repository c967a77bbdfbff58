import { type ExtendedHeader, type Opcode, opcodeOf } from "@rdmakit/wire/infiniband"

/** What an opcode is and where its headers lie. */
export interface Operation {
  readonly opcode: Opcode
  /** As people write it: "RC SEND only". */
  readonly name: string
  readonly isResponse: boolean
  /** SEND, RDMA WRITE, READ request, atomic, flush: what has a message of its own. */
  readonly kind: "send" | "write" | "read" | "atomic" | "flush" | "response" | "notify" | "resync"
  readonly isFirst: boolean
  readonly isLast: boolean
  /** Octets of BTH and the headers behind it. */
  readonly headerBytes: number
  /** Octets from the BTH to a header; -1 where there is none. */
  readonly deth: number
  readonly reth: number
  readonly aeth: number
  readonly immediate: number
}

const BTH_BYTES = 12
const bytesOf: Readonly<Record<ExtendedHeader, number>> = {
  rdeth: 4,
  deth: 8,
  xrceth: 4,
  reth: 16,
  atomicEth: 28,
  aeth: 4,
  atomicAckEth: 8,
  immDt: 4,
  ieth: 4,
  feth: 4,
  cnp: 16,
}

const names: Readonly<Record<string, string>> = {
  Send: "SEND",
  Write: "WRITE",
  ReadRequest: "READ request",
  ReadResponse: "READ response",
  Acknowledge: "ACK",
  AtomicAcknowledge: "ATOMIC ACK",
  CompareSwap: "COMPARE SWAP",
  FetchAdd: "FETCH ADD",
  Resync: "RESYNC",
  Flush: "FLUSH",
  AtomicWrite: "ATOMIC WRITE",
}

const nameOf = ({ service, operation, code }: Opcode): string => {
  if (service === "Cnp") return code === 0x80 ? "CNP (native)" : "CNP"
  const [, base = operation, position = "", extra = ""] =
    /^(Send|Write|ReadResponse)(First|Middle|Last|Only)(Immediate|Invalidate)?$/.exec(operation) ?? []
  const words = [service.toUpperCase(), names[base] ?? base, position.toLowerCase(), extra.toLowerCase()]
  return words.filter((word) => word !== "").join(" ")
}

const kindOf = ({ service, operation }: Opcode): Operation["kind"] => {
  if (service === "Cnp") return "notify"
  if (/^(?:ReadResponse|Acknowledge|AtomicAcknowledge)/.test(operation)) return "response"
  if (operation.startsWith("Send")) return "send"
  if (operation.startsWith("Write") || operation === "AtomicWrite") return "write"
  if (operation === "ReadRequest") return "read"
  if (operation === "Flush") return "flush"
  return operation === "Resync" ? "resync" : "atomic"
}

const describe = (opcode: Opcode): Operation => {
  const places: Partial<Record<ExtendedHeader, number>> = {}
  let at = BTH_BYTES
  for (const header of opcode.headers) {
    places[header] = at
    at += bytesOf[header]
  }
  const kind = kindOf(opcode)
  const isPart = /First|Middle|Last/.test(opcode.operation)
  return {
    opcode,
    name: nameOf(opcode),
    isResponse: kind === "response",
    kind,
    isFirst: !isPart || opcode.operation.includes("First"),
    isLast: !isPart || opcode.operation.includes("Last"),
    headerBytes: at,
    deth: places.deth ?? -1,
    reth: places.reth ?? -1,
    aeth: places.aeth ?? -1,
    immediate: places.immDt ?? -1,
  }
}

const table: ReadonlyArray<Operation | undefined> = /* @__PURE__ */ Array.from({ length: 256 }, (_, code) => {
  const opcode = opcodeOf(code)
  return opcode === undefined ? undefined : describe(opcode)
})

/** What a code is; undefined for reserved and manufacturers' ones. */
export const operationOf = (code: number): Operation | undefined => table[code]
