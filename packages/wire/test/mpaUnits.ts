import type { FpduStream, StreamFpdu, StreamGap } from "../src/Mpa.ts"

/** The units and gaps that a stream of MPA has ready. */
export const unitsOf = (stream: FpduStream): Array<StreamFpdu | StreamGap> => {
  const units: Array<StreamFpdu | StreamGap> = []
  for (let unit = stream.next(); unit !== undefined; unit = stream.next()) units.push(unit)
  return units
}
