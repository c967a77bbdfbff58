import { type ChildProcess, spawn } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Duplex } from "node:stream"
import { AgentChannel, type CommandResult } from "./AgentChannel.ts"
import type { Prepared } from "./Prepare.ts"

/** How a guest's Ethernet frames come and go. */
export type FrameLink =
  /** One frame in one UDP datagram on loopback: from QEMU's `localPort` to `remotePort` and back. */
  | { readonly type: "dgram"; readonly localPort: number; readonly remotePort: number }
  /** Frames with a length of four octets before each, over a UNIX socket that QEMU makes (`listen`) or finds. */
  | { readonly type: "stream"; readonly path: string; readonly listen: boolean }
  /** The same over a socket that this process holds: `Guest.frames`. */
  | { readonly type: "held" }

export interface GuestOptions {
  /** Of files and messages. */
  readonly name: string
  readonly link: FrameLink
  /** Addresses with their prefix lengths. */
  readonly ip4: string
  readonly ip6: string
  readonly mac: string
  /** Of the guest's Ethernet port, octets of IP: 1,500 gives a path MTU of 1,024, 4,200 one of 4,096. */
  readonly mtu?: number
  /** TCP ports of this machine's loopback that lead to ports of the guest. It reaches this machine at 10.0.2.2. */
  readonly forwards?: ReadonlyArray<{ readonly host: number; readonly guest: number }>
  readonly memoryMb?: number
}

/** The guest did not do what it should; the message ends with what its console said last. */
export class GuestError extends Error {
  override readonly name = "GuestError"
}

/** Serial ports for commands, and one for the verbs peer. */
const AGENTS = 3
const BOOT_MS = 180_000

const running = new Set<ChildProcess>()
let watching = false
/** Whatever ends this process ends its guests; a guest whose serial port falls silent also ends by itself. */
const watch = () => {
  if (watching) return
  watching = true
  const end = () => {
    for (const child of running) child.kill("SIGKILL")
  }
  process.on("exit", end)
  for (const [signal, code] of [
    ["SIGINT", 130],
    ["SIGTERM", 143],
    ["SIGHUP", 129],
  ] as const) {
    process.once(signal, () => {
      end()
      process.exit(code)
    })
  }
}

const netdev = (link: FrameLink, fd: number): string => {
  switch (link.type) {
    case "dgram":
      return [
        "dgram,id=n0,local.type=inet,local.host=127.0.0.1",
        `local.port=${link.localPort},remote.type=inet,remote.host=127.0.0.1,remote.port=${link.remotePort}`,
      ].join(",")
    case "stream":
      return `stream,id=n0,server=${link.listen ? "on" : "off"},addr.type=unix,addr.path=${link.path}`
    case "held":
      return `stream,id=n0,server=off,addr.type=fd,addr.str=${fd}`
  }
}

/** A Linux machine under emulation, with Soft-RoCE (`rxe0`) on the port that its frame link serves. */
export class Guest {
  readonly options: GuestOptions
  readonly #child: ChildProcess
  readonly #folder: string
  readonly #agents: ReadonlyArray<AgentChannel>
  readonly #exited: Promise<void>
  #complaints = ""

  private constructor(prepared: Prepared, options: GuestOptions) {
    this.options = options
    this.#folder = mkdtempSync(join(tmpdir(), "rdmakit-guest-"))
    const { ip4, ip6, mtu = 1500, mac, memoryMb = 256, forwards = [] } = options
    const held = options.link.type === "held"
    const ports = Array.from({ length: AGENTS + 1 }, (_, i) => i + 1)
    const kernel = [
      "console=ttyS0 quiet panic=-1 mitigations=off nokaslr no_timer_check tsc=reliable random.trust_cpu=on",
      `net.ifnames=0 ip4=${ip4} ip6=${ip6} mtu=${mtu}`,
    ].join(" ")
    const args = [
      ...prepared.data.flatMap((folder) => ["-L", folder]),
      ...["-M", "q35", "-accel", "tcg", "-cpu", "max", "-smp", "1", "-m", `${memoryMb}`, "-nodefaults"],
      ...["-no-user-config", "-display", "none", "-no-reboot"],
      ...["-kernel", prepared.kernel, "-initrd", prepared.image, "-append", kernel],
      ...["-serial", `file:${this.#console}`, "-device", "virtio-serial-pci"],
      ...ports.flatMap((n) => [
        ...["-chardev", `socket,id=c${n},fd=${2 + n}`],
        ...["-device", `virtserialport,chardev=c${n},nr=${n},name=port${n}`],
      ]),
      ...["-netdev", netdev(options.link, 3 + ports.length)],
      ...["-device", `virtio-net-pci,netdev=n0,mac=${mac},romfile=`],
      ...["-netdev", ["user,id=n1", ...forwards.map((f) => `hostfwd=tcp:127.0.0.1:${f.host}-:${f.guest}`)].join(",")],
      ...["-device", "virtio-net-pci,netdev=n1,mac=52:54:00:00:ff:01,romfile="],
    ]
    watch()
    this.#child = spawn(prepared.qemu, args, {
      env: { ...process.env, LD_LIBRARY_PATH: prepared.libraries, QEMU_MODULE_DIR: prepared.modules },
      stdio: ["ignore", "ignore", "pipe", ...ports.map(() => "pipe" as const), ...(held ? (["pipe"] as const) : [])],
      // Ctrl-C is for this process, which ends the guest in order.
      detached: true,
    })
    running.add(this.#child)
    this.#exited = new Promise((resolve) => {
      this.#child.once("error", (error) => {
        this.#complaints += error.message
        running.delete(this.#child)
        resolve()
      })
      this.#child.once("exit", () => {
        running.delete(this.#child)
        resolve()
      })
    })
    this.#child.stderr?.on("data", (octets: Buffer) => {
      this.#complaints = (this.#complaints + octets.toString()).slice(-4_000)
    })
    this.#agents = ports.map((n) => new AgentChannel(this.#child.stdio[2 + n] as Duplex))
    void this.#exited.then(() => {
      for (const agent of this.#agents) agent.fail("the guest has ended")
    })
  }

  /** Starts a guest and waits until it has booted. @throws GuestError */
  static async start(prepared: Prepared, options: GuestOptions): Promise<Guest> {
    const guest = new Guest(prepared, options)
    try {
      await guest.#agents[0]!.expect(/READY up=([\d.]+)\n/, BOOT_MS)
      return guest
    } catch (cause) {
      const error = guest.#error("it did not boot", cause)
      await guest.stop()
      throw error
    }
  }

  /** Frames of a held link, four octets of length before each. */
  get frames(): Duplex {
    return this.#child.stdio[3 + AGENTS + 1] as Duplex
  }

  /** The process of the emulator. */
  get pid(): number | undefined {
    return this.#child.pid
  }

  /**
   * Runs a line of shell, ends it after `seconds`, and gives back what it wrote and its exit code (124 or 143: it took too
   * long). Up to three run at once.
   * @throws GuestError when the guest does not answer
   */
  async run(command: string, seconds = 30): Promise<CommandResult> {
    const agents = this.#agents.slice(0, AGENTS)
    const agent = agents.find(({ busy }) => !busy) ?? agents[0]!
    const quoted = command.replaceAll("'", "'\\''")
    try {
      return await agent.run(`timeout -k 1 ${seconds} sh -c '${quoted}'`, (seconds + 20) * 1000)
    } catch (cause) {
      throw this.#error(`no answer to: ${command}`, cause)
    }
  }

  /** The same for a command that must end well. @returns its output */
  async must(command: string, seconds = 30): Promise<string> {
    const { code, output } = await this.run(command, seconds)
    if (code !== 0) throw this.#error(`exit code ${code} of: ${command}\n${output}`)
    return output
  }

  /** A line to the verbs peer, and its line back. @throws GuestError */
  async peer(line: string, seconds = 30): Promise<string> {
    try {
      return await this.#agents[AGENTS]!.line(line, seconds * 1000)
    } catch (cause) {
      throw this.#error(`no answer of the verbs peer to: ${line}`, cause)
    }
  }

  /** Ends the guest, at once. */
  async stop(): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) this.#child.kill("SIGKILL")
    await this.#exited
    rmSync(this.#folder, { recursive: true, force: true })
  }

  get #console(): string {
    return join(this.#folder, "console")
  }

  #error(what: string, cause?: unknown): GuestError {
    let said = ""
    try {
      said = readFileSync(this.#console, "latin1").trim().split("\n").slice(-25).join("\n")
    } catch {
      // It never wrote to its console.
    }
    const why = cause instanceof Error ? ` (${cause.message})` : ""
    const emulator = this.#complaints === "" ? "" : `\nQEMU: ${this.#complaints.trim()}`
    return new GuestError(`guest ${this.options.name}: ${what}${why}${emulator}\n--- its console ends with\n${said}`)
  }
}
