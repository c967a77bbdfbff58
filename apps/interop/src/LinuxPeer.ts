import type { Guest } from "./Guest.ts"
import type { Answer, CompletionAnswer, Fields, VerbsPeer } from "./VerbsPeer.ts"

const FLAG_GRH = 1
const FLAG_IMM = 2
const FLAG_INV = 8

interface RawCompletion {
  readonly id: number
  readonly status: number
  readonly opcode: number
  readonly bytes: number
  readonly imm: number
  readonly inv: number
  readonly source: number
  readonly flags: number
}

/** The verbs of a guest's kernel, through the program that its serial port leads to. */
export class LinuxPeer implements VerbsPeer {
  readonly name: string
  readonly #guest: Guest

  constructor(guest: Guest) {
    this.#guest = guest
    this.name = guest.options.name
  }

  async do(word: string, fields: Fields = {}): Promise<Answer> {
    const parts = Object.entries(fields).flatMap(([key, value]) => (value === undefined ? [] : [`${key}=${value}`]))
    const line = [word, ...parts].join(" ")
    const waitMs = Number(fields.ms ?? 0)
    const answer = JSON.parse(await this.#guest.peer(line, 30 + waitMs / 1000)) as Answer
    if (answer.ok !== true && answer.errno === -1) throw new Error(`${this.name}: ${String(answer.error)} in: ${line}`)
    if (Array.isArray(answer.completions)) {
      return { ...answer, completions: (answer.completions as ReadonlyArray<RawCompletion>).map(completionAnswer) }
    }
    return answer
  }

  async leave(): Promise<void> {
    // The program ends, its kernel frees what it made, and another program takes its place.
    await this.#guest.peer("exit", 10)
  }
}

/** What means nothing in a completion is left out of it. */
const completionAnswer = (raw: RawCompletion): CompletionAnswer => ({
  id: raw.id,
  status: raw.status,
  ...(raw.status === 0
    ? {
        opcode: raw.opcode,
        // Linux sets a length for what was received, read or fetched.
        bytes: raw.bytes,
        immediate: (raw.flags & FLAG_IMM) !== 0 ? raw.imm : undefined,
        // The key has no order of octets: it is the machine's, and `imm` was turned over.
        invalidated: (raw.flags & FLAG_INV) !== 0 ? raw.inv : undefined,
        grh: (raw.flags & FLAG_GRH) !== 0,
        source: raw.source,
      }
    : {}),
})
