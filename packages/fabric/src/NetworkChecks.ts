/** What the settings of a network have to be, before it is put together. */
import { checkFactory, checkSeed, checkTransport, hasFields, type Time } from "@rdmakit/protocol"
import { RcOptionsError } from "@rdmakit/transport-ib"
import type { AdmissionModel } from "./FlowAdmission.ts"
import { kernelNames } from "./makeKernel.ts"
import type { NativeOptions } from "./NativeParts.ts"
import { check, checkMoment, checkWord, NetworkOptionError } from "./NetworkOptionError.ts"
import type { WatchdogSettings } from "./PfcWatchdog.ts"
import type { VerbsNetworkOptions } from "./verbs/VerbsNetworkOptions.ts"
import type { WorldParts } from "./WorldParts.ts"

/** What flows and programs have in common. */
type CommonOptions = Pick<NativeOptions, "seed" | "kernel" | "switches"> & {
  readonly controller?: NativeOptions["controller"] | undefined
}

/** @throws NetworkOptionError */
const checkCommon = ({ seed = 0, kernel, switches, controller }: CommonOptions): void => {
  checkSeed(check, seed)
  checkWord("kernel", kernel, kernelNames)
  checkFunction("switches", switches, "a model of switches, such as sharedBufferSwitches()")
  if (controller !== undefined) checkFactory(check, controller)
}

/** @throws NetworkOptionError */
export const checkOptions = (options: NativeOptions): void => {
  check(
    "controller",
    options.controller,
    options.controller !== undefined,
    "a controller's factory, { name, needs, make }",
  )
  checkCommon(options)
  checkWord("baseRtt", options.baseRtt, ["fabric", "pair"])
  checkFunction("nics", options.nics, "a model of NICs, such as readyListNics")
  checkFunction("makeTransport", options.makeTransport, "a function that makes a transport")
  if (options.watchdog !== undefined) checkWatchdog(options.watchdog)
  if (options.admission !== undefined) checkAdmission(options.admission)
}

const MTUS: ReadonlyArray<number> = [256, 512, 1024, 2048, 4096]

/** @throws NetworkOptionError; RcOptionsError for an MTU that queue pairs do not have */
export const checkNetwork = (options: VerbsNetworkOptions): void => {
  checkCommon(options)
  checkFunction("makeNic", options.makeNic, "a function that makes NICs")
  checkWord("baseRtt", options.baseRtt, ["fabric", "pair"])
  if (options.transport !== undefined) checkTransport(check, "transport", options.transport)
  const { mtuBytes = 4096 } = options
  if (!MTUS.includes(mtuBytes)) throw new RcOptionsError("mtuBytes", mtuBytes, `one of ${MTUS.join(", ")}`)
}

const checkFunction = (option: string, value: unknown, expected: string): void =>
  check(option, value, value === undefined || typeof value === "function", expected)

/** @throws NetworkOptionError for what is no stop time, ps; NEVER is one */
export const checkUntil = (until: Time | undefined): void =>
  check("until", until, until === undefined || (typeof until === "number" && until >= 0), "picoseconds, at least 0")

/** Bytes of a turn have room for less. */
const TURN_BYTES = 2 ** 30

/**
 * @param ports how many directed ports the graph has
 * @param frameBytes the largest frame
 * @throws NetworkOptionError
 */
export const checkDiscipline = (discipline: WorldParts["discipline"], ports: number, frameBytes: number): void => {
  const isWord = discipline === "strict" || discipline === "round-robin"
  const weights: unknown = hasFields(discipline) ? discipline.weights : undefined
  check("discipline", discipline, isWord || weights !== undefined, "strict, round-robin or { weights }")
  if (isWord) return
  const isList = typeof weights === "object" && weights !== null
  check("discipline.weights", weights, isList, `${8 * ports} numbers, eight for each port`)
  const list = weights as ArrayLike<number>
  check("discipline.weights.length", list.length, list.length === 8 * ports, `${8 * ports}, eight for each port`)
  const most = Math.floor(TURN_BYTES / frameBytes) - 1
  const refuse = (at: number, expected: string): never => {
    throw new NetworkOptionError(`discipline.weights[${at}]`, list[at], expected)
  }
  for (let port = 0; port < ports; port++) {
    const [first, end] = [8 * port + 1, 8 * port + 8]
    let least = Number.POSITIVE_INFINITY
    for (let at = first; at < end; at++) {
      if (!(Number.isFinite(list[at]) && list[at]! > 0)) refuse(at, "a finite number above 0")
      least = Math.min(least, list[at]!)
    }
    for (let at = first; at < end; at++)
      if (list[at]! / least > most) refuse(at, `at most ${most} times the least weight of port ${port}`)
  }
}

const checkWatchdog = (watchdog: WatchdogSettings): void => {
  check("watchdog", watchdog, hasFields(watchdog), "an object of settings")
  for (const option of ["detectionPs", "restorationPs"] as const) {
    const time = watchdog[option]
    check(
      `watchdog.${option}`,
      time,
      time === undefined || (Number.isFinite(time) && time > 0),
      "a finite time above 0, ps",
    )
  }
  checkWord("watchdog.action", watchdog.action, ["drop", "forward"])
}

const checkAdmission = (admission: AdmissionModel): void => {
  const isModel = hasFields(admission) && typeof admission.make === "function"
  check("admission", admission, isModel, "an admission model, { make }")
  checkMoment("admission.grantDelayPs", admission.grantDelayPs ?? 0)
}
