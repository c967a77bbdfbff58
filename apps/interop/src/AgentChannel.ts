import type { Duplex } from "node:stream"

export interface CommandResult {
  readonly code: number
  readonly output: string
}

/** One serial port of a guest: lines of shell to it, output and exit codes from it, one command at a time. */
export class AgentChannel {
  readonly #port: Duplex
  #buffer = ""
  #wake: (() => void) | undefined
  #failure: string | undefined
  #count = 0
  #last: Promise<unknown> = Promise.resolve()
  #waiting = 0

  constructor(port: Duplex) {
    this.#port = port
    port.setEncoding("latin1")
    port.on("data", (text: string) => {
      this.#buffer += text
      this.#wake?.()
    })
    port.on("error", () => this.fail("the port is closed"))
  }

  /** A command is running, or waits for its turn. */
  get busy(): boolean {
    return this.#waiting > 0
  }

  /** Whoever waits learns that nothing will come. */
  fail(why: string): void {
    this.#failure ??= why
    this.#wake?.()
  }

  /** Waits for a pattern, and takes what came before it. */
  async expect(
    pattern: RegExp,
    timeoutMs: number,
  ): Promise<{ readonly before: string; readonly match: RegExpExecArray }> {
    const end = performance.now() + timeoutMs
    for (;;) {
      const match = pattern.exec(this.#buffer)
      if (match !== null) {
        const before = this.#buffer.slice(0, match.index)
        this.#buffer = this.#buffer.slice(match.index + match[0].length)
        return { before, match }
      }
      if (this.#failure !== undefined) throw new Error(this.#failure)
      const left = end - performance.now()
      if (left <= 0) throw new Error(`${timeoutMs / 1000} s are over; until then: ${this.#buffer.slice(-500)}`)
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, left)
        this.#wake = () => {
          clearTimeout(timer)
          resolve()
        }
      })
      this.#wake = undefined
    }
  }

  run(command: string, timeoutMs: number): Promise<CommandResult> {
    return this.#next(async () => {
      this.#count += 1
      const mark = `__END${this.#count}`
      this.#port.write(`{ ${command}; } 2>&1; echo "${mark}:$?__"\n`)
      const { before, match } = await this.expect(new RegExp(`${mark}:(\\d+)__\\n`), timeoutMs)
      return { code: Number(match[1]), output: before }
    })
  }

  /** One line there, one line back. */
  line(line: string, timeoutMs: number): Promise<string> {
    return this.#next(async () => {
      this.#port.write(`${line}\n`)
      return (await this.expect(/\n/, timeoutMs)).before
    })
  }

  #next<A>(work: () => Promise<A>): Promise<A> {
    this.#waiting += 1
    const result = this.#last.then(work, work).finally(() => {
      this.#waiting -= 1
    })
    this.#last = result.catch(() => {})
    return result
  }
}
