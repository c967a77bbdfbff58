/** The process: its arguments, streams, signals and exit code, tied to the command line. */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import * as NodeStdio from "@effect/platform-node/NodeStdio"
import { Cause, Effect, Exit, Layer } from "effect"
import { runCommandLine } from "./CommandLine.ts"
import { exitCodes } from "./Exit.ts"
import { Interrupts, makeInterrupts, type SignalName, signals } from "./Interrupts.ts"
import { processScreen } from "./ProcessScreen.ts"
import { leaveStaging } from "./StagingFolder.ts"

const interrupts = makeInterrupts()
const services = Layer.mergeAll(
  processScreen,
  NodeFileSystem.layer,
  NodePath.layer,
  NodeStdio.layer,
  Layer.succeed(Interrupts, interrupts.service),
)

const fiber = Effect.runFork(Effect.provide(runCommandLine(process.argv.slice(2)), services))

/** A terminal and what runs us may both pass one Ctrl-C on: signals so close together are one. */
const SAME_SIGNAL_MS = 500

/**
 * Ends the process for a signal. Node waits, as it exits, for what its threads are at: one that waits for the writer of
 * a FIFO, or for more of the kernel's log, does not come back. Then the signal itself ends the process, as it ends cat.
 */
const endFor = (signal: SignalName): void => {
  const isReading = process.getActiveResourcesInfo().some((name) => name.startsWith("FSReq"))
  if (isReading) {
    leaveStaging()
    process.removeAllListeners(signal)
    process.kill(process.pid, signal)
  }
  process.exit(signals[signal].code)
}

let signalled: SignalName | undefined
let signalledMs = 0
for (const signal of Object.keys(signals) as ReadonlyArray<SignalName>) {
  process.on(signal, () => {
    if (signalled !== undefined) {
      if (performance.now() - signalledMs > SAME_SIGNAL_MS) endFor(signal)
      return
    }
    signalled = signal
    signalledMs = performance.now()
    if (!interrupts.signal(signal)) fiber.interruptUnsafe(fiber.id)
  })
}

const codeOf = (exit: Exit.Exit<number>): number => {
  if (Exit.isSuccess(exit)) return exit.value
  if (Cause.hasInterruptsOnly(exit.cause)) return signals[signalled ?? "SIGINT"].code
  return exitCodes.bug
}

/** A command whose output was lost has not ended as it thinks. */
const endOf = (code: number): typeof process.exitCode =>
  code === exitCodes.fine || code === exitCodes.notWell ? (process.exitCode ?? code) : code

fiber.addObserver((exit) => {
  const code = codeOf(exit)
  // Pipes may still hold text of ours: the process ends when it is written, or when its reader has gone.
  process.stdout.write("", () => {
    if (signalled === undefined || code !== signals[signalled].code) process.exit(endOf(code))
    // The last read or write of ours counts as under way until its callback, in which this may be, has returned.
    setImmediate(endFor, signalled)
  })
})
