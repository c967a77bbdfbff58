/* Values of programs that no compiler has checked: one of a wrong type is refused with its name, whatever it is. */
import { hasFields, shown } from "@rdmakit/protocol"
import { DeviceError } from "./DeviceError.ts"

export const wrongType = (verb: string, attribute: string, found: unknown, remedy: string): DeviceError =>
  new DeviceError("EINVAL", verb, attribute, `found ${shown(found)}`, remedy)

/** Refuses what is no object. @throws DeviceError EINVAL */
export const checkFields = (verb: string, attribute: string, value: unknown, remedy: string): void => {
  if (!hasFields(value)) throw wrongType(verb, attribute, value, remedy)
}

/** Refuses what is no array. @throws DeviceError EINVAL */
export const checkList = (verb: string, attribute: string, value: unknown, remedy: string): void => {
  if (!Array.isArray(value)) throw wrongType(verb, attribute, value, remedy)
}

/** Refuses what is no `Uint8Array`. @throws DeviceError EINVAL */
export const checkOctets = (verb: string, attribute: string, value: unknown, remedy: string): void => {
  if (!(value instanceof Uint8Array)) throw wrongType(verb, attribute, value, remedy)
}
