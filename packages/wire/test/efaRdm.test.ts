import { describe, expect, it, test } from "vitest"
import { type EfaRdm, efaRdmBytes, emitEfaRdm, parseEfaRdm, parseEfaRdmAddress } from "../src/EfaRdm.ts"
import { EmitError } from "../src/Octets.ts"
import { hex, text } from "./octetText.ts"

// By hand, from the tables of efa_rdm_protocol_v4.md and the structures of efa_rdm_protocol.h. Little-endian.
const ADDRESS = "fe800000000000000401020304050607 0500 0000 44332211 0000000000000000"
const TARGET = "0010000000000000 4000000000000000 0700000000000000"
const target = { address: 0x1000n, bytes: 64n, key: 7n }
const none = { rawAddress: undefined, cqData: undefined, connid: undefined }
const message = { kind: "message", ...none, tag: undefined, deliveryComplete: false } as const
const tagged = { ...message, tag: 0x1122334455667788n }
const TAG = "8877665544332211"
const length = { messageBytes: 0x123456789an }
const LENGTH = "9a78563412000000"

const cases: ReadonlyArray<readonly [string, string, EfaRdm]> = [
  ["EAGER_MSGRTM", "40 04 0400 01000000", { ...message, protocol: "eager", messageId: 1 }],
  ["EAGER_TAGRTM", `41 04 0c00 feffffff ${TAG}`, { ...tagged, protocol: "eager", messageId: 0xfffffffe }],
  [
    "EAGER_TAGRTM to a new peer: its tag, then the address, then data for the completion",
    `41 04 0f00 01000000 ${TAG} 24000000 ${ADDRESS} 00000000 efcdab8967452301`,
    {
      ...tagged,
      protocol: "eager",
      messageId: 1,
      rawAddress: hex(`${ADDRESS}00000000`),
      cqData: 0x0123456789abcdefn,
    },
  ],
  [
    "EAGER_MSGRTM after the handshake: data for the completion, then connid",
    "40 04 0680 01000000 0100000000000000 44332211",
    { ...message, protocol: "eager", messageId: 1, cqData: 1n, connid: 0x11223344 },
  ],
  [
    "MEDIUM_MSGRTM",
    `42 04 0400 02000000 ${LENGTH} 0020000000000000`,
    { ...message, protocol: "medium", messageId: 2, ...length, offset: 0x2000n },
  ],
  [
    "MEDIUM_TAGRTM",
    `43 04 0c00 02000000 ${LENGTH} 0020000000000000 ${TAG}`,
    { ...tagged, protocol: "medium", messageId: 2, ...length, offset: 0x2000n },
  ],
  [
    "LONGCTS_MSGRTM",
    `44 04 0400 03000000 ${LENGTH} 05000000 20000000`,
    { ...message, protocol: "longCts", messageId: 3, ...length, sendId: 5, creditRequest: 32, afterNack: false },
  ],
  [
    "LONGCTS_TAGRTM after a READ_NACK",
    `45 04 0c20 03000000 ${LENGTH} 05000000 20000000 ${TAG}`,
    { ...tagged, protocol: "longCts", messageId: 3, ...length, sendId: 5, creditRequest: 32, afterNack: true },
  ],
  [
    "EAGER_RTW",
    `46 04 1000 01000000 ${TARGET}`,
    { kind: "write", ...none, protocol: "eager", deliveryComplete: false, targets: [target] },
  ],
  [
    "LONGCTS_RTW",
    `47 04 1000 01000000 ${LENGTH} 05000000 20000000 ${TARGET}`,
    {
      kind: "write",
      ...none,
      protocol: "longCts",
      deliveryComplete: false,
      ...length,
      sendId: 5,
      creditRequest: 32,
      afterNack: false,
      targets: [target],
    },
  ],
  [
    "SHORT_RTR",
    `48 04 1000 01000000 4000000000000000 09000000 40000000 ${TARGET}`,
    { kind: "read", ...none, protocol: "short", messageBytes: 64n, receiveId: 9, windowBytes: 64, targets: [target] },
  ],
  [
    "LONGCTS_RTR",
    `49 04 1000 01000000 ${LENGTH} 09000000 00000400 ${TARGET}`,
    { kind: "read", ...none, protocol: "longCts", ...length, receiveId: 9, windowBytes: 0x40000, targets: [target] },
  ],
  [
    "WRITE_RTA",
    `4a 04 2000 04000000 01000000 07000000 02000000 00000000 ${TARGET}`,
    {
      kind: "atomic",
      ...none,
      protocol: "write",
      deliveryComplete: false,
      messageId: 4,
      datatype: 7,
      operation: 2,
      targets: [target],
    },
  ],
  ...(["fetch", "compare"] as const).map((protocol): readonly [string, string, EfaRdm] => [
    protocol === "fetch" ? "FETCH_RTA" : "COMPARE_RTA",
    `${protocol === "fetch" ? "4b" : "4c"} 04 2000 04000000 01000000 07000000 0c000000 09000000 ${TARGET}`,
    {
      kind: "atomic",
      ...none,
      protocol,
      deliveryComplete: false,
      messageId: 4,
      datatype: 7,
      operation: 12,
      receiveId: 9,
      targets: [target],
    },
  ]),
  [
    "LONGREAD_MSGRTM: its data is where to read",
    `80 04 0400 05000000 ${LENGTH} 06000000 01000000 ${TARGET}`,
    { ...message, protocol: "longRead", messageId: 5, ...length, sendId: 6, sources: [target] },
  ],
  [
    "LONGREAD_TAGRTM: where to read lies behind the optional headers",
    `81 04 0c80 05000000 ${LENGTH} 06000000 01000000 ${TAG} 44332211 ${TARGET}`,
    { ...tagged, protocol: "longRead", messageId: 5, ...length, sendId: 6, connid: 0x11223344, sources: [target] },
  ],
  [
    "LONGREAD_RTW",
    `82 04 1000 01000000 ${LENGTH} 06000000 01000000 ${TARGET} ${TARGET}`,
    {
      kind: "write",
      ...none,
      protocol: "longRead",
      deliveryComplete: false,
      ...length,
      sendId: 6,
      targets: [target],
      sources: [target],
    },
  ],
  [
    "DC_EAGER_TAGRTM",
    `86 04 0c00 01000000 05000000 00000000 ${TAG}`,
    { ...tagged, protocol: "eager", deliveryComplete: true, messageId: 1, sendId: 5 },
  ],
  [
    "DC_MEDIUM_MSGRTM",
    `87 04 0400 02000000 05000000 00000000 ${LENGTH} 0020000000000000`,
    { ...message, protocol: "medium", deliveryComplete: true, messageId: 2, sendId: 5, ...length, offset: 0x2000n },
  ],
  [
    "DC_LONGCTS_TAGRTM",
    `8a 04 0c00 03000000 ${LENGTH} 05000000 20000000 ${TAG}`,
    {
      ...tagged,
      protocol: "longCts",
      deliveryComplete: true,
      messageId: 3,
      ...length,
      sendId: 5,
      creditRequest: 32,
      afterNack: false,
    },
  ],
  [
    "DC_EAGER_RTW",
    `8b 04 1000 01000000 05000000 00000000 ${TARGET}`,
    { kind: "write", ...none, protocol: "eager", deliveryComplete: true, sendId: 5, targets: [target] },
  ],
  [
    "DC_WRITE_RTA",
    `8d 04 2000 04000000 01000000 07000000 02000000 05000000 ${TARGET}`,
    {
      kind: "atomic",
      ...none,
      protocol: "write",
      deliveryComplete: true,
      messageId: 4,
      datatype: 7,
      operation: 2,
      sendId: 5,
      targets: [target],
    },
  ],
  [
    "RUNTREAD_MSGRTM",
    `91 04 0400 06000000 ${LENGTH} 06000000 01000000 0020000000000000 0040000000000000 ${TARGET}`,
    {
      ...message,
      protocol: "runtRead",
      messageId: 6,
      ...length,
      sendId: 6,
      offset: 0x2000n,
      runtBytes: 0x4000n,
      sources: [target],
    },
  ],
  [
    "CTS",
    "03 04 0080 44332211 05000000 09000000 0000040000000000",
    { kind: "cts", connid: 0x11223344, sendId: 5, receiveId: 9, windowBytes: 0x40000n, emulatedRead: false },
  ],
  [
    "CTS of an emulated READ, without connid",
    "03 04 8000 00000000 05000000 09000000 0000040000000000",
    { kind: "cts", connid: undefined, sendId: 5, receiveId: 9, windowBytes: 0x40000n, emulatedRead: true },
  ],
  [
    "CTSDATA",
    "04 04 0080 09000000 0000000000000000 0020000000000000 44332211 00000000",
    { kind: "ctsData", connid: 0x11223344, receiveId: 9, segmentBytes: 0n, offset: 0x2000n },
  ],
  [
    "READRSP: recv_id, then send_id, as efa_rdm_readrsp_hdr",
    "05 04 0080 44332211 09000000 05000000 0000000000000000",
    { kind: "readResponse", connid: 0x11223344, receiveId: 9, sendId: 5, segmentBytes: 0n },
  ],
  ["EOR", "07 04 0080 05000000 09000000 44332211", { kind: "endOfRead", connid: 0x11223344, sendId: 5, receiveId: 9 }],
  [
    "ATOMRSP",
    "08 04 0080 44332211 00000000 09000000 0000000000000000",
    { kind: "atomicResponse", connid: 0x11223344, receiveId: 9, segmentBytes: 0n },
  ],
  [
    "HANDSHAKE with all options",
    `09 04 0780 04000000 5b01000000000000 44332211 00000000 f0debc9a78563412 03000000 00000000 0a000000 0b000000`,
    {
      kind: "handshake",
      extraInfo: [0x15bn],
      connid: 0x11223344,
      hostId: 0x123456789abcdef0n,
      deviceVersion: 3,
      userReceive: { qpn: 10, queueKey: 11 },
    },
  ],
  [
    "HANDSHAKE with a host alone",
    "09 04 0100 05000000 0100000000000000 0200000000000000 f0debc9a78563412",
    {
      kind: "handshake",
      extraInfo: [1n, 2n],
      connid: undefined,
      hostId: 0x123456789abcdef0n,
      deviceVersion: undefined,
      userReceive: undefined,
    },
  ],
  [
    "RECEIPT",
    "0a 04 0080 05000000 03000000 44332211",
    { kind: "receipt", connid: 0x11223344, sendId: 5, messageId: 3 },
  ],
  [
    "READ_NACK",
    "0b 04 0080 05000000 09000000 44332211",
    { kind: "readNack", connid: 0x11223344, sendId: 5, receiveId: 9 },
  ],
]

describe("the octets of the document", () => {
  test.each(cases)("%s", (_, octets, value) => {
    const expected = hex(octets)
    expect(parseEfaRdm(expected)).toEqual({
      ok: true,
      value,
      faults: [],
      payloadStart: expected.length,
      payloadEnd: expected.length,
    })
    expect(efaRdmBytes(value)).toBe(expected.length)
    const emitted = new Uint8Array(expected.length).fill(0xff)
    expect(emitEfaRdm(value, emitted)).toBe(expected.length)
    expect(text(emitted)).toBe(text(expected))
  })

  test("the raw address", () => {
    expect(parseEfaRdmAddress(hex(ADDRESS))).toMatchObject({
      ok: true,
      faults: [],
      value: { gid: hex("fe800000000000000401020304050607"), qpn: 5, connid: 0x11223344 },
    })
  })
})

describe("what is refused, with its place", () => {
  const refused: ReadonlyArray<readonly [string, string, object]> = [
    ["a deprecated type", "01 04 0000 00000000", { what: "unsupported", field: "type", offset: 0, found: 1 }],
    ["a type of later versions", "0c 04 0000 00000000", { what: "unsupported", field: "type", offset: 0, found: 12 }],
    ["another version", "40 05 0400 01000000", { what: "reserved", field: "version", offset: 1, found: 5 }],
    ["no member of features", "09 04 0000 03000000", { what: "value", field: "infoCount", offset: 4, found: 3 }],
    ["257 members", "09 04 0000 04010000", { what: "value", field: "infoCount", offset: 4, found: 260 }],
    ["targets that are not there", `46 04 1000 02000000 ${TARGET}`, { what: "length", field: "header", offset: 8 }],
    ["four thousand million targets", `46 04 1000 ffffffff ${TARGET}`, { what: "length", field: "header", offset: 8 }],
    ["an address longer than the packet", "40 04 0500 01000000 ffffffff", { what: "length", offset: 8 }],
    [
      "more data than there is",
      "04 04 0000 09000000 0200000000000000 0000000000000000 aa",
      { what: "length", field: "segmentBytes", offset: 8, found: 2n },
    ],
  ]
  test.each(refused)("%s", (_, octets, error) => {
    expect(parseEfaRdm(hex(octets))).toMatchObject({ ok: false, error: { format: "efaRdm", ...error } })
  })

  it("takes a WRITE without REQ_RMA, as libfabric sends it, and says so", () => {
    expect(parseEfaRdm(hex(`46 04 0000 01000000 ${TARGET}`))).toMatchObject({
      ok: true,
      faults: [{ what: "value", field: "flags", offset: 2, found: 0 }],
    })
  })

  it("emits no handshake without members, and no number out of range", () => {
    const handshake = {
      kind: "handshake",
      extraInfo: [],
      connid: undefined,
      hostId: undefined,
      deviceVersion: undefined,
      userReceive: undefined,
    } as const
    expect(() => emitEfaRdm(handshake, new Uint8Array(64))).toThrow(EmitError)
    expect(() => emitEfaRdm({ ...message, protocol: "eager", messageId: 2 ** 32 }, new Uint8Array(64))).toThrow(
      "efaRdm.messageId",
    )
  })
})
