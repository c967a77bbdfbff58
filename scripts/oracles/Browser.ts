/** A headless Chromium, spoken to in its DevTools protocol: what an oracle needs of it and no more. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

const NAMES = ["chromium", "chromium-browser", "google-chrome"]
const START_MS = 30_000
const ANSWER_MS = 30_000

/** The browser of this machine; undefined when there is none. */
export const findChromium = (): string | undefined =>
  [process.env.CHROMIUM, ...NAMES].find(
    (name) => name !== undefined && spawnSync(name, ["--version"], { stdio: "ignore" }).status === 0,
  )

interface Message {
  readonly id?: number
  readonly method?: string
  readonly params?: Record<string, unknown>
  readonly result?: Record<string, unknown>
  readonly error?: { readonly message: string }
  readonly sessionId?: string
}

/** How a reader looks at a page. */
export interface View {
  readonly width: number
  readonly scheme: "light" | "dark"
}

export class Browser {
  private readonly child: ChildProcess
  private readonly socket: WebSocket
  private readonly profile: string
  private readonly answers = new Map<number, (message: Message) => void>()
  private readonly pages = new Map<string, Page>()
  private count = 0

  private constructor(child: ChildProcess, socket: WebSocket, profile: string) {
    this.child = child
    this.socket = socket
    this.profile = profile
    socket.addEventListener("message", ({ data }) => this.heard(JSON.parse(String(data)) as Message))
  }

  static async start(program: string): Promise<Browser> {
    const profile = mkdtempSync(join(tmpdir(), "rdmakit-chromium-"))
    const flags = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"]
    const child = spawn(program, [...flags, "--remote-debugging-port=0", `--user-data-dir=${profile}`, "about:blank"], {
      stdio: ["ignore", "ignore", "pipe"],
    })
    const url = await new Promise<string>((resolve, reject) => {
      const late = setTimeout(() => reject(new Error(`${program} did not start`)), START_MS)
      let said = ""
      child.stderr!.on("data", (chunk) => {
        said += chunk
        const match = /DevTools listening on (ws:\S+)/.exec(said)
        if (match === null) return
        clearTimeout(late)
        resolve(match[1]!)
      })
      child.on("close", () => reject(new Error(`${program} ended: ${said}`)))
    })
    const socket = new WebSocket(url)
    await new Promise((resolve, reject) => {
      socket.addEventListener("open", resolve)
      socket.addEventListener("error", () => reject(new Error("no connection to the browser")))
    })
    return new Browser(child, socket, profile)
  }

  /** Opens a page in a tab of its own. */
  async open(url: string, { width, scheme }: View): Promise<Page> {
    const { targetId } = await this.send("Target.createTarget", { url: "about:blank" })
    const { sessionId } = await this.send("Target.attachToTarget", { targetId, flatten: true })
    const page = new Page(this, String(sessionId))
    this.pages.set(String(sessionId), page)
    for (const domain of ["Page", "Runtime", "Log", "Network"]) await page.send(`${domain}.enable`)
    await page.send("Emulation.setDeviceMetricsOverride", { width, height: 900, deviceScaleFactor: 1, mobile: false })
    await page.send("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value: scheme }] })
    const loaded = page.next("Page.loadEventFired")
    await page.send("Page.navigate", { url })
    await loaded
    return page
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.child.on("close", resolve))
    this.socket.close()
    this.child.kill()
    await closed
    rmSync(this.profile, { recursive: true, force: true, maxRetries: 5 })
  }

  send(method: string, params: object = {}, sessionId?: string): Promise<Record<string, unknown>> {
    const id = ++this.count
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => reject(new Error(`${method}: no answer`)), ANSWER_MS)
      this.answers.set(id, ({ result, error }) => {
        clearTimeout(late)
        if (error === undefined) resolve(result ?? {})
        else reject(new Error(`${method}: ${error.message}`))
      })
      this.socket.send(JSON.stringify({ id, method, params, ...(sessionId === undefined ? {} : { sessionId }) }))
    })
  }

  private heard(message: Message): void {
    if (message.id !== undefined) {
      this.answers.get(message.id)?.(message)
      this.answers.delete(message.id)
    } else if (message.sessionId !== undefined) {
      this.pages.get(message.sessionId)?.heard(message.method ?? "", message.params ?? {})
    }
  }
}

export class Page {
  /** What the console said, errors of scripts and of loading included. */
  readonly complaints: Array<string> = []
  /** What was asked for, the page itself included. */
  readonly requests: Array<string> = []
  private readonly browser: Browser
  private readonly session: string
  private readonly waiting = new Map<string, () => void>()

  constructor(browser: Browser, session: string) {
    this.browser = browser
    this.session = session
  }

  send(method: string, params: object = {}): Promise<Record<string, unknown>> {
    return this.browser.send(method, params, this.session)
  }

  next(method: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => reject(new Error(`${method} did not come`)), ANSWER_MS)
      this.waiting.set(method, () => {
        clearTimeout(late)
        resolve()
      })
    })
  }

  /** The value of an expression in the page. */
  async evaluate<A>(expression: string): Promise<A> {
    const { result, exceptionDetails } = await this.send("Runtime.evaluate", { expression, returnByValue: true })
    if (exceptionDetails !== undefined) throw new Error(JSON.stringify(exceptionDetails))
    return (result as { readonly value: A }).value
  }

  heard(method: string, params: Record<string, unknown>): void {
    this.waiting.get(method)?.()
    this.waiting.delete(method)
    if (method === "Network.requestWillBeSent") {
      this.requests.push((params.request as { readonly url: string }).url)
    } else if (
      method === "Log.entryAdded" ||
      method === "Runtime.consoleAPICalled" ||
      method === "Runtime.exceptionThrown"
    ) {
      this.complaints.push(JSON.stringify(params))
    }
  }
}
