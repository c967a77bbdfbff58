/** Fields of a command; undefined ones are left out. */
export type Fields = Readonly<Record<string, string | number | bigint | undefined>>

/** What came of a command. `errno` says why it was refused. */
export interface Answer {
  readonly ok: boolean
  readonly errno?: number
  readonly [key: string]: unknown
}

/** A work completion, with what its status gives a meaning to. */
export interface CompletionAnswer {
  readonly id: number
  readonly status: number
  readonly opcode?: number
  readonly bytes?: number
  readonly immediate?: number | undefined
  readonly invalidated?: number | undefined
  readonly grh?: boolean
  readonly source?: number
}

/**
 * One side of a case: verbs by words, the same for the kernel's and for ours. The words are those of `guest/peer.c`:
 * open, pd, mr, mw, cq, srq, qp, ah, destroy, modify, query, send, receive, poll, notify, event, async, attach, detach,
 * fill, clear, check, peek, poke.
 */
export interface VerbsPeer {
  readonly name: string
  do(word: string, fields?: Fields): Promise<Answer>
  /** Frees all it made; what comes next begins anew. */
  leave(): Promise<void>
}

/** What a verb refused. */
export class Refused extends Error {
  override readonly name = "Refused"
  readonly errno: number
  constructor(what: string, errno: number) {
    super(`${what}: errno ${errno}`)
    this.errno = errno
  }
}

/** The same for what has to be done: @throws Refused */
export const must = async (peer: VerbsPeer, word: string, fields: Fields = {}): Promise<Answer> => {
  const answer = await peer.do(word, fields)
  if (!answer.ok) throw new Refused(`${peer.name}: ${word} ${JSON.stringify(fields)}`, answer.errno ?? 0)
  return answer
}
