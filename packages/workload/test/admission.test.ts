import { Random } from "@rdmakit/units"
import { describe, expect, it } from "vitest"
import { Admission, type AdmissionLimits, WorkloadError } from "../src/index.ts"

type Triple = readonly [source: number, destination: number, bytes: number]

const admissionOf = (limits: AdmissionLimits, flows: ReadonlyArray<Triple>): Admission =>
  new Admission(limits, {
    source: flows.map(([source]) => source),
    destination: flows.map(([, destination]) => destination),
    bytes: flows.map(([, , bytes]) => bytes),
  })

/** Every flow asks in turn; which may start. */
const askAll = (admission: Admission, count: number): ReadonlyArray<number> =>
  Array.from({ length: count }, (_, flow) => flow).filter((flow) => admission.offer(flow))

const admittedBy = (admission: Admission, flow: number): ReadonlyArray<number> => {
  const admitted: Array<number> = []
  admission.ended(flow, (next) => admitted.push(next))
  return admitted
}

describe("admission", () => {
  it("without limits lets everything start", () => {
    const admission = admissionOf({}, [
      [0, 2, 1],
      [1, 2, 1],
    ])
    expect(askAll(admission, 2)).toEqual([0, 1])
    expect(admittedBy(admission, 0)).toEqual([])
    expect(admission.delayed).toBe(0)
  })

  it("two flows at a time to a receiver, first come, first served", () => {
    const incast = [0, 1, 2, 3, 4].map((source): Triple => [source, 9, 1000])
    const admission = admissionOf({ flowsPerReceiver: 2 }, incast)
    expect(askAll(admission, 5)).toEqual([0, 1])
    expect(admission.waiting).toBe(3)
    expect(admittedBy(admission, 1)).toEqual([2])
    expect(admittedBy(admission, 2)).toEqual([3])
    expect(admittedBy(admission, 0)).toEqual([4])
    expect(admittedBy(admission, 4)).toEqual([])
    expect([admission.waiting, admission.delayed]).toEqual([0, 3])
  })

  it("one flow at a time from a sender; who waits for a sender keeps nobody else back", () => {
    const admission = admissionOf({ flowsPerSender: 1, flowsPerReceiver: 1 }, [
      [0, 5, 1],
      [0, 6, 1],
      [1, 6, 1],
      [2, 6, 1],
    ])
    // Flow 1 waits for sender 0, so 2 may go to receiver 6, and 3 waits for it.
    expect(askAll(admission, 4)).toEqual([0, 2])
    // Sender 0 is free, receiver 6 is not.
    expect(admittedBy(admission, 0)).toEqual([])
    // Flow 1 asked before flow 3.
    expect(admittedBy(admission, 2)).toEqual([1])
    expect(admittedBy(admission, 1)).toEqual([3])
  })

  it("credit in bytes: nobody takes what one before waits for, and a large flow is alone", () => {
    const admission = admissionOf({ creditBytesPerReceiver: 100 }, [
      [0, 9, 60],
      [1, 9, 50],
      [2, 9, 10],
      [3, 9, 500],
      [4, 9, 1],
    ])
    // 50 does not fit; 10 would, but comes after it.
    expect(askAll(admission, 5)).toEqual([0])
    expect(admittedBy(admission, 0)).toEqual([1, 2])
    expect(admittedBy(admission, 1)).toEqual([])
    expect(admittedBy(admission, 2)).toEqual([3])
    expect(admittedBy(admission, 3)).toEqual([4])
  })

  it("one end that makes room for several starts several", () => {
    const admission = admissionOf({ creditBytesPerReceiver: 100 }, [
      [0, 9, 100],
      [1, 9, 40],
      [2, 9, 40],
      [3, 9, 40],
    ])
    expect(askAll(admission, 4)).toEqual([0])
    expect(admittedBy(admission, 0)).toEqual([1, 2])
  })

  it("limits are whole and at least 1", () => {
    expect(() => admissionOf({ flowsPerReceiver: 0 }, [])).toThrow(WorkloadError)
    expect(() => admissionOf({ flowsPerSender: 1.5 }, [])).toThrow("flowsPerSender is 1.5, expected a whole number")
    expect(() => admissionOf({ creditBytesPerReceiver: -1 }, [])).toThrow("creditBytesPerReceiver is -1")
  })

  it.each<[AdmissionLimits]>([
    [{ flowsPerReceiver: 2 }],
    [{ flowsPerSender: 1 }],
    [{ creditBytesPerReceiver: 300 }],
    [{ flowsPerReceiver: 3, flowsPerSender: 2, creditBytesPerReceiver: 500 }],
  ])("random flows under %o: no limit is passed, nobody waits without reason, all run", (limits) => {
    const { flowsPerReceiver = 1e9, flowsPerSender = 1e9, creditBytesPerReceiver = 1e9 } = limits
    for (let seed = 0; seed < 30; seed++) {
      const random = new Random(seed)
      const flows = Array.from({ length: 80 }, (): Triple => {
        const source = random.int(6)
        return [source, (source + 1 + random.int(5)) % 6, 1 + random.int(400)]
      })
      const admission = admissionOf(limits, flows)
      const running = new Set<number>()
      const waiting: Array<number> = []
      const creditOf = (flow: number): number => Math.min(flows[flow]![2], creditBytesPerReceiver)
      const used = (host: number) => {
        const to = [...running].filter((flow) => flows[flow]![1] === host)
        const credit = to.reduce((sum, flow) => sum + creditOf(flow), 0)
        return { to: to.length, credit, from: [...running].filter((flow) => flows[flow]![0] === host).length }
      }
      const fits = (flow: number): boolean =>
        used(flows[flow]![0]).from < flowsPerSender &&
        used(flows[flow]![1]).to < flowsPerReceiver &&
        used(flows[flow]![1]).credit + creditOf(flow) <= creditBytesPerReceiver
      const check = (): void => {
        for (let host = 0; host < 6; host++) {
          const { to, from, credit } = used(host)
          expect(to <= flowsPerReceiver && from <= flowsPerSender && credit <= creditBytesPerReceiver).toBe(true)
        }
        // Who waits does not fit; where there is credit, one before may have a claim on the same receiver's.
        for (const [place, flow] of waiting.entries()) {
          const before = waiting.slice(0, place).some((other) => flows[other]![1] === flows[flow]![1])
          expect(!fits(flow) || (limits.creditBytesPerReceiver !== undefined && before)).toBe(true)
        }
        expect(admission.waiting).toBe(waiting.length)
      }
      const admit = (flow: number): void => {
        waiting.splice(waiting.indexOf(flow), 1)
        running.add(flow)
      }
      let asked = 0
      let done = 0
      while (done < flows.length) {
        if (asked < flows.length && (running.size === 0 || random.int(2) === 0)) {
          const flow = asked++
          if (admission.offer(flow)) running.add(flow)
          else waiting.push(flow)
        } else {
          const flow = [...running][random.int(running.size)]!
          running.delete(flow)
          done++
          admission.ended(flow, admit)
        }
        check()
      }
      expect(admission.waiting).toBe(0)
    }
  })
})
