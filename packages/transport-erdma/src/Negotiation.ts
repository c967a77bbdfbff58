import { type ControllerFactory, hasFields } from "@rdmakit/protocol"
import { check, ErdmaError } from "./ErdmaError.ts"

/**
 * Congestion control as the driver numbers it (Linux, erdma.h: enum erdma_cc_alg), and as the extension of an MPA request
 * carries it, in four bits. Alibaba's driver outside the kernel calls number 4 MPCC, of which nothing else is public.
 */
export const CcAlgorithm = { NewReno: 0, Cubic: 1, HpccRtt: 2, HpccEcn: 3, HpccInt: 4 } as const
export type CcAlgorithm = (typeof CcAlgorithm)[keyof typeof CcAlgorithm]

/** What two ends that want different ones use (erdma_cm.c: COMPROMISE_CC). */
const COMPROMISE: CcAlgorithm = CcAlgorithm.Cubic

/**
 * The algorithm that a connection uses, from what each end asks for. Numbers of the four bits that nobody has named are
 * as good as any other: ends that ask for the same one use it.
 */
export const negotiate = (ours: number, theirs: number): number => {
  for (const [option, value] of [["ours", ours] as const, ["theirs", theirs] as const])
    check(option, value, Number.isInteger(value) && value >= 0 && value <= 15, "an integer of 0 to 15")
  return ours === theirs ? ours : COMPROMISE
}

/** The controllers of a device, by the driver's numbers. */
export type ControllerList = Readonly<Partial<Record<number, ControllerFactory>>>

/** The controller of a connection between ends that ask for these. @throws ErdmaError when the list has it not */
export const negotiatedController = (controllers: ControllerList, ours: number, theirs: number): ControllerFactory => {
  const algorithm = negotiate(ours, theirs)
  check("controllers", controllers, hasFields(controllers), "controllers' factories by their numbers, an object")
  const controller = controllers[algorithm]
  if (controller === undefined)
    throw new ErdmaError(
      `controllers.${algorithm}`,
      controller,
      `the controller with number ${algorithm}, beside [${Object.keys(controllers).join(", ")}]`,
    )
  return controller
}
