import type { PacketRecord } from "@rdmakit/pcap"
import { emitEthernet } from "@rdmakit/wire/ethernet"
import { acknowledgement, nak, Operation, rnrNak, Service } from "@rdmakit/wire/infiniband"
import { emitPfc, PFC_MAC } from "@rdmakit/wire/pfc"
import { describe, expect, it, test } from "vitest"
import { flowRows } from "../src/index.ts"
import { captures, readPackets } from "./capture.ts"
import { analysed, answer, captured, diagnosed, type Frame, framesOf, kindsOf, roce, send } from "./synthetic.ts"

const MS = 1e6
const ack = (timeNs: number, psn: number, more = {}): Frame =>
  answer({
    timeNs,
    psn,
    operation: Operation.Acknowledge,
    headers: { aeth: { syndrome: acknowledgement(), msn: 1 } },
    ...more,
  })

/** What each capture was made to show; all the others are clean. */
const symptoms: Readonly<Record<string, ReadonlyArray<string>>> = {
  cm_reject_v4: ["connectionRejected"],
  dup_reorder_rc_v4: ["duplicates", "lateAck", "lateAck", "reordering", "timeout"],
  lossy_rc_send_v4: ["loss", "timeout"],
  v_badrkey: ["remoteAccessError"],
  v_psnwrap: ["psnWrap"],
  v_rnr: ["rnr"],
}

describe("the captures", () => {
  test.each(captures)("%s", (name) => {
    const diagnosis = diagnosed(readPackets(name))
    expect(kindsOf(diagnosis)).toEqual(symptoms[name] ?? [])
    for (const { causes, frames, text } of diagnosis.findings) {
      expect(causes.length).toBeGreaterThan(0)
      expect(frames.length).toBeGreaterThan(0)
      expect(text).not.toMatch(/NaN|undefined/)
    }
  })

  it("names frames that show it, and figures", () => {
    const [rnr] = diagnosed(readPackets("v_rnr")).findings
    expect(rnr!.text).toBe(
      "receiver not ready: 18 RNR NAKs from 10.0.0.2 (timer code 14), 130 ms waited; then it succeeded",
    )
    expect(rnr!.frames.slice(0, 3)).toEqual([12, 14, 16])
    const [bad] = diagnosed(readPackets("v_badrkey")).findings
    expect(bad).toMatchObject({ severity: "error", frames: [12, 13] })
    expect(bad!.text).toContain("to a WRITE of 100 octets in frame 12 (PSN 4247)")
    const [loss, timeout] = diagnosed(readPackets("lossy_rc_send_v4")).findings
    expect(loss!.text).toContain("6 NAKs for PSN sequence errors, 34 packets sent again")
    expect(timeout!.text).toBe("1 timeout: sent again without an answer, after 67.7 ms; local ACK timeout 14")
  })

  it("a repeat of the last message after its acknowledgement is only noted", () => {
    expect(diagnosed(readPackets("rc_send_vlan7_v4")).notes).toEqual([
      expect.stringContaining("sent the last message once more"),
    ])
  })
})

describe("captures as people have them", () => {
  const noisy = ["lossy_rc_send_v4", "dup_reorder_rc_v4", "v_rnr", "v_badrkey", "v_psnwrap"]

  test.each(noisy)("%s, cut to 128 octets a packet, shows the same", (name) => {
    const frames = framesOf(readPackets(name))
    const cut = frames.map(({ timeNs, octets }) => ({ timeNs, octets: octets.slice(0, 128), wireBytes: octets.length }))
    const diagnosis = diagnosed(captured(cut))
    expect(kindsOf(diagnosis)).toEqual(symptoms[name])
    expect(diagnosis.notes.join("\n")).toMatch(/cut short by the capture: their ICRCs and payloads cannot be checked/)
  })

  test.each(noisy)("%s, two capture points merged, shows the same", (name) => {
    const frames = framesOf(readPackets(name)).flatMap((frame) => {
      const octets = frame.octets.slice()
      // Behind a router: the hop limit is one less.
      if (octets[12] === 0x08 && octets[13] === 0x00) octets[22]! -= 1
      return [frame, { timeNs: frame.timeNs + 5000, octets }]
    })
    const sorted = frames.toSorted((a, b) => a.timeNs - b.timeNs)
    const diagnosis = diagnosed(captured(sorted))
    expect(diagnosis.notes.join("\n")).toContain(name === "v_badrkey" ? "" : "two points of one path were merged")
    const expected = (symptoms[name] ?? []).filter((kind) => kind !== "duplicates")
    expect(kindsOf(diagnosis).filter((kind) => kind !== "duplicates")).toEqual(expected)
  })

  it("two capture points of a network without identifications, clocks apart, show what one shows", () => {
    const frames = framesOf(readPackets("rc_send_8192_v4")).filter(({ octets }) => octets[23] === 17)
    const both = frames.flatMap(({ timeNs, octets }) => {
      octets.fill(0, 18, 20)
      const other = octets.slice()
      other[22]! -= 1
      return [
        { timeNs, octets },
        { timeNs: timeNs + 2 * MS, octets: other },
      ]
    })
    const diagnosis = diagnosed(captured(both.toSorted((a, b) => a.timeNs - b.timeNs)))
    expect(diagnosis.findings).toEqual([])
    expect(diagnosis.notes.join("\n")).toContain("two points of one path were merged")
  })

  it("two capture points carry the octets of one", () => {
    const once = readPackets("uc_send_4096_v4")
    const twice = framesOf(once).flatMap((frame) => [frame, { timeNs: frame.timeNs + 1000, octets: frame.octets }])
    const bytesOf = (packets: ReadonlyArray<PacketRecord>) =>
      flowRows(analysed(packets)).map(({ payloadBytes, copies }) => ({ payloadBytes, copies }))
    expect(bytesOf(once)).toEqual(Array(2).fill({ payloadBytes: 20_480, copies: 0 }))
    expect(bytesOf(captured(twice.toSorted((a, b) => a.timeNs - b.timeNs)))).toEqual(
      Array(2).fill({ payloadBytes: 20_480, copies: 20 }),
    )
    expect(diagnosed(captured(twice)).notes.join()).toContain("copies count as packets and marks, not as data")
  })

  it.each(["read_5000_v4", "cm_rping_v4", "v_imm"])(
    "%s at two capture points: responses to READs count once",
    (name) => {
      const once = readPackets(name)
      const twice = framesOf(once).flatMap((frame) => [frame, { timeNs: frame.timeNs + 1000, octets: frame.octets }])
      const bytesOf = (packets: ReadonlyArray<PacketRecord>) =>
        flowRows(analysed(packets)).map(({ payloadBytes, readBytes }) => ({ payloadBytes, readBytes }))
      expect(bytesOf(captured(twice.toSorted((a, b) => a.timeNs - b.timeNs)))).toEqual(bytesOf(once))
    },
  )

  it.each([0, 1])(
    "responses to a READ whose copies come behind later ones: none is missing, identifications %i",
    (id) => {
      const reth = { virtualAddress: 0n, remoteKey: 1, dmaBytes: 5120 }
      const { ReadResponseFirst, ReadResponseMiddle, ReadResponseLast } = Operation
      const responses = [0, 1, 2, 3, 4].map((index) => {
        const operation = [
          ReadResponseFirst,
          ReadResponseMiddle,
          ReadResponseMiddle,
          ReadResponseMiddle,
          ReadResponseLast,
        ]
        const headers = index % 4 === 0 ? { aeth: { syndrome: acknowledgement(), msn: 1 } } : {}
        const fields = {
          psn: 50 + index,
          operation: operation[index]!,
          payloadBytes: 1024,
          headers,
          ipId: id * (9 + index),
        }
        return answer({ timeNs: 1000 * (1 + index), ...fields })
      })
      const copies = responses.map(({ timeNs, octets }) => ({ timeNs: timeNs + 2500, octets }))
      const asked = roce({ timeNs: 0, psn: 50, operation: Operation.ReadRequest, headers: { reth } })
      const sorted = [asked, ...responses, ...copies].toSorted((a, b) => a.timeNs - b.timeNs)
      expect(diagnosed(captured(sorted)).findings).toEqual([])
      expect(flowRows(analysed(captured(sorted)))[1]).toMatchObject({ readBytes: 5120, payloadBytes: 5120, copies: 5 })
    },
  )

  it.each([
    ["lossy_rc_send_v4", 1],
    ["lossy_rc_send_v4", 1000],
    ["v_rnr", 1],
    ["v_rnr", 1000],
  ])("%s without identifications, %i times as fast, shows the same", (name, times) => {
    const frames = framesOf(readPackets(name)).map(({ timeNs, octets }) => {
      if (octets[23] === 17) octets.fill(0, 18, 20)
      return { timeNs: timeNs / times, octets }
    })
    const { findings } = diagnosed(captured(frames))
    expect(findings.map(({ kind }) => kind).toSorted()).toEqual(symptoms[name])
    expect(findings.map(({ count }) => count)).toEqual(diagnosed(readPackets(name)).findings.map(({ count }) => count))
  })

  it("one side of a conversation: what happened, and what cannot be known", () => {
    const frames = framesOf(readPackets("lossy_rc_send_v4"))
    const from = (last: number) => captured(frames.filter(({ octets }) => octets[29] === last))
    const requests = diagnosed(from(1))
    expect(kindsOf(requests)).toContain("repeats")
    expect(requests.notes.join("\n")).toMatch(/in one direction only \(10\.0\.0\.1 to 10\.0\.0\.2\): .*cannot be known/)
    const answers = diagnosed(from(2))
    expect(answers.notes.join("\n")).toContain("in one direction only (10.0.0.2 to 10.0.0.1)")
    const waiting = framesOf(readPackets("v_rnr")).filter(({ octets }) => octets[29] === 1)
    const [repeats] = diagnosed(captured(waiting)).findings
    expect(repeats!.text).toMatch(/^19 identical PSN 4239 at 8.\d* ms steps; why cannot be known/)
    expect(answers.findings[0]!.text).toBe(
      "6 NAKs for PSN sequence errors from 10.0.0.2; the requests are not in the capture",
    )
    const refused = framesOf(readPackets("v_badrkey")).filter(({ octets }) => octets[29] === 2)
    expect(kindsOf(diagnosed(captured(refused)))).toEqual(["remoteAccessError"])
  })

  it("the capture dropped packets, not the network", () => {
    const frames = framesOf(readPackets("rc_send_8192_v4")).filter((_, index) => index % 10 !== 5)
    const diagnosis = diagnosed(captured(frames))
    expect(diagnosis.findings).toEqual([])
    expect(diagnosis.notes.join("\n")).toContain("the capture dropped them, not the network")
  })

  it("every ICRC is wrong: taken before the NIC computed them", () => {
    const frames = framesOf(readPackets("rc_send_256_v4"))
    for (const { octets } of frames) octets.fill(0, octets.length - 4)
    const diagnosis = diagnosed(captured(frames))
    expect(diagnosis.findings).toEqual([])
    expect(diagnosis.notes).toEqual([
      expect.stringContaining(
        "every ICRC is wrong, each 0x00000000: the packets were taken before the NIC computed them",
      ),
    ])
  })

  it("some ICRCs are wrong: damage", () => {
    const frames = framesOf(readPackets("rc_send_256_v4"))
    const at = frames.findIndex(({ octets }) => octets.length > 300)
    frames[at]!.octets[100]! ^= 4
    const diagnosis = diagnosed(captured(frames))
    expect(diagnosis.findings).toMatchObject([{ kind: "damaged", severity: "error", frames: [at + 1] }])
  })
})

describe("what the captures do not have", () => {
  const before = [send(0, 100, { ipId: 1 }), ack(0.1 * MS, 100)]
  const silent = Array.from({ length: 8 }, (_, index) => send(1 * MS + index * 67.1 * MS, 101, { ipId: 2 + index }))

  it("retries exceeded", () => {
    const { findings } = diagnosed(captured([...before, ...silent]))
    expect(findings).toMatchObject([
      { kind: "retryExceeded", severity: "error", count: 8, frames: [3, 4, 5, 6, 7, 8, 9, 10] },
    ])
    expect(findings[0]!.text).toBe(
      "retry exceeded: 8 identical PSN 101 at 67.1 ms steps, no answer from 10.0.0.2 to it; local ACK timeout 14",
    )
    expect(findings[0]!.causes[0]).toMatchObject({ likelihood: "likely", text: expect.stringContaining("is gone") })
  })

  it("retries exceeded, the peer never answered, another one of its hosts does", () => {
    const other = answer({ timeNs: 0, psn: 1, operation: Operation.SendOnly, qp: 0x99, payloadBytes: 8 })
    const { findings } = diagnosed(captured([other, ...silent]))
    expect(findings).toMatchObject([{ kind: "retryExceeded" }])
    expect(findings[0]!.causes[0]!.text).toContain("never answered")
  })

  it("retries exceeded behind a router, with a hop limit of 1", () => {
    const frames = silent.map((_, index) => send(index * 67.1 * MS, 101, { ipId: 2 + index, ttl: 1 }))
    const { findings } = diagnosed(
      captured([answer({ timeNs: 0, psn: 1, operation: Operation.SendOnly, qp: 0x99 }), ...frames]),
    )
    expect(findings[0]!.causes[0]!.text).toContain("hop limit is 1")
  })

  it("retries at steps that grow, as NICs have them", () => {
    const times = [0, 2, 6, 14, 30, 62].map((ms) => (1 + ms) * MS)
    const frames = times.map((timeNs, index) => send(timeNs, 101, { ipId: 2 + index }))
    expect(diagnosed(captured([...before, ...frames])).findings[0]!.text).toContain(
      "6 identical PSN 101 at steps that grow from 2 ms to 32 ms, no answer from 10.0.0.2 to it; local ACK timeout 12",
    )
  })

  it("RNR retries exceeded", () => {
    const frames = [0, 1, 2].flatMap((round) => [
      send(round * 2 * MS, 7, { ipId: 1 + round }),
      ack(round * 2 * MS + 0.1 * MS, 7, { headers: { aeth: { syndrome: rnrNak(14), msn: 0 } }, ipId: 1 + round }),
    ])
    expect(diagnosed(captured(frames)).findings).toMatchObject([
      { kind: "rnrRetryExceeded", severity: "error", count: 3 },
    ])
  })

  it("packets lost behind this point", () => {
    const refusal = ack(0.5 * MS, 11, { headers: { aeth: { syndrome: nak("psnSequenceError"), msn: 0 } } })
    const first = [10, 11, 12, 13].map((psn, index) => send(index * 1000, psn, { ipId: index + 1 }))
    const again = [11, 12, 13].map((psn, index) => send(0.6 * MS + index * 1000, psn, { ipId: index + 9 }))
    const { findings } = diagnosed(captured([...first, refusal, ...again, ack(MS, 13)]))
    expect(findings).toMatchObject([{ kind: "loss", frames: [5] }])
    expect(findings[0]!.text).toContain("packets lost behind this point: 1 NAK")
  })

  it.each([0.5 * MS, 5000])("the same without identifications that count up, after %i ns", (afterNs) => {
    const refusal = ack(afterNs, 11, { headers: { aeth: { syndrome: nak("psnSequenceError"), msn: 0 } } })
    const first = [10, 11, 12, 13].map((psn, index) => send(index * 1000, psn))
    const again = [11, 12, 13].map((psn, index) => send(1.2 * afterNs + index * 1000, psn))
    expect(kindsOf(diagnosed(captured([...first, refusal, ...again, ack(MS, 13)])))).toEqual(["loss"])
  })

  it.each([
    ["invalidRequest", "invalidRequest"],
    ["remoteOperationalError", "remoteOperationalError"],
  ] as const)("NAK %s", (meaning, kind) => {
    const refusal = ack(MS, 5, { headers: { aeth: { syndrome: nak(meaning), msn: 0 } } })
    expect(kindsOf(diagnosed(captured([send(0, 5), refusal])))).toEqual([kind])
  })

  it("a response to a READ that is lost", () => {
    const reth = { virtualAddress: 0n, remoteKey: 1, dmaBytes: 4096 }
    const part = (timeNs: number, psn: number, operation: number) =>
      answer({
        ...{ timeNs, psn, operation, payloadBytes: 1024 },
        headers: operation === Operation.ReadResponseMiddle ? {} : { aeth: { syndrome: acknowledgement(), msn: 1 } },
      })
    const frames = [
      roce({ timeNs: 0, psn: 50, operation: Operation.ReadRequest, headers: { reth } }),
      part(1000, 50, Operation.ReadResponseFirst),
      part(2000, 52, Operation.ReadResponseMiddle),
      part(3000, 53, Operation.ReadResponseLast),
    ]
    const { findings } = diagnosed(captured(frames))
    expect(findings).toMatchObject([{ kind: "readResponseLoss", frames: [3] }])
    // Asked for again from where they are missing.
    const rest = { ...reth, virtualAddress: 1024n, dmaBytes: 3072 }
    const again = [
      ...frames.slice(0, 3),
      roce({ timeNs: 4000, psn: 51, operation: Operation.ReadRequest, headers: { reth: rest } }),
      part(5000, 51, Operation.ReadResponseFirst),
      part(6000, 52, Operation.ReadResponseMiddle),
      part(7000, 53, Operation.ReadResponseLast),
      send(8000, 54),
    ]
    const repeated = diagnosed(captured(again)).findings
    expect(repeated).toMatchObject([{ kind: "readResponseLoss" }])
    expect(repeated[0]!.text).toBe("1 response to READs missing, asked for again 1 time")
    // What comes again because it was asked for is no copy, though it is the same to the bit.
    expect(flowRows(analysed(captured(again)))[1]).toMatchObject({ readBytes: 5120, copies: 0 })
  })

  it.each([64, 62])(
    "a requester that goes back twice, without identifications, the second time at hop limit %i",
    (ttl) => {
      const sent = [0, 1, 3, 4, 5, 2, 3, 4, 5].map((psn, index) => send(index * 1000, psn))
      const again = [2, 3, 4, 5].map((psn, index) => send(9000 + index * 1000, psn, { ttl }))
      const headers = { aeth: { syndrome: nak("psnSequenceError"), msn: 0 } }
      const refused = answer({ timeNs: 2500, psn: 2, operation: Operation.Acknowledge, headers })
      const frames = captured([...sent.slice(0, 3), refused, ...sent.slice(3), ...again])
      expect(kindsOf(diagnosed(frames))).not.toContain("duplicates")
      expect(flowRows(analysed(frames))[0]).toMatchObject({ copies: 0, repeated: 8 })
    },
  )

  it("a loss on an unreliable connection", () => {
    const frames = [1, 2, 5, 6].map((psn, index) => send(index * 1000, psn, { service: Service.Uc }))
    expect(diagnosed(captured(frames)).findings).toMatchObject([
      { kind: "unreliableLoss", severity: "error", count: 2, frames: [3] },
    ])
  })

  it("marks on every packet, congestion, and a sender that does not slow down", () => {
    const marked = Array.from({ length: 30 }, (_, psn) => send(psn * 1000, psn, { trafficClass: 3 }))
    expect(kindsOf(diagnosed(captured(marked)))).toEqual(["alwaysMarked"])
    const data = Array.from({ length: 9000 }, (_, psn) =>
      send(psn * 1000, psn, { trafficClass: psn % 10 === 0 ? 3 : 2 }),
    )
    const acks = [ack(500, 0)]
    const cnps = [1, 2, 3, 4, 5, 6].map((round) =>
      answer({
        timeNs: round * 1.2 * MS + 1,
        service: 0x80,
        operation: 1,
        headers: { cnp: {} },
        bth: { becn: true, partition: 0xffff },
      }),
    )
    const sorted = [...data, ...acks, ...cnps].toSorted((a, b) => a.timeNs - b.timeNs)
    const { findings } = diagnosed(captured(sorted))
    expect(findings.map(({ kind }) => kind)).toEqual(["noReaction", "congestion"])
    expect(findings[0]!.text).toMatch(/slower after 0 of \d \(5\d\d Mb\/s before, 5\d\d Mb\/s after\)/)
    expect(findings[1]!.text).toMatch(/^congestion on the way to 10.0.0.2: 900 of 9000 packets marked \(CE\), 6 CNPs/)
    const slowing = sorted.filter((frame, index) => cnps.includes(frame) || frame.timeNs < 1.2 * MS || index % 3 === 0)
    expect(kindsOf(diagnosed(captured(slowing)))).not.toContain("noReaction")
  })

  it("pauses with their durations", () => {
    const frame = (timeNs: number, quanta: number): Frame => {
      const octets = new Uint8Array(60)
      const at = emitEthernet({ destination: PFC_MAC, source: 0x5254_0000_0007, tags: [], etherType: 0x8808 }, octets)
      const none = undefined
      emitPfc({ kind: "pfc", quanta: [none, none, none, quanta, none, none, none, none] }, octets, at)
      return { timeNs, octets }
    }
    const analysis = analysed(
      captured([frame(0, 65535), frame(50_000, 65535), frame(80_000, 0), frame(MS, 9), frame(1.1 * MS, 0)]),
    )
    expect(analysis.pauses.series).toMatchObject([
      { priority: 3, pauses: 2, pausedNs: 80_000, longestNs: 80_000, unended: 1 },
    ])
    const storm = diagnosed(captured([frame(0, 65535), frame(5 * MS, 65535), frame(9 * MS, 0)]))
    expect(storm.findings).toMatchObject([{ kind: "pause", severity: "warning" }])
    expect(storm.findings[0]!.text).toBe("52:54:00:00:00:07 pauses priority 3 1 time: 9 ms in all, 9 ms at most")
  })

  it("connections that nobody answers", () => {
    const [request] = framesOf(readPackets("cm_rping_v4"))
    const frames = [0, 4000, 8000].map((ms) => ({ ...request!, timeNs: ms * MS }))
    expect(diagnosed(captured(frames)).findings).toMatchObject([{ kind: "connectionUnanswered", count: 3 }])
    const client = framesOf(readPackets("cm_rping_v4")).filter(({ octets }) => octets[29] === 1)
    const later = { ...client.at(-1)!, timeNs: 9000 * MS }
    expect(
      diagnosed(captured([...client, later])).findings.filter(({ kind }) => kind.startsWith("connection")),
    ).toEqual([])
  })
})
