import { Ns3FormatError } from "../src/index.ts"

/** The message of the format error that `read` throws. */
export const messageOf = (read: () => unknown): string => {
  try {
    read()
  } catch (error) {
    if (error instanceof Ns3FormatError) return error.message
    throw error
  }
  return "no error"
}
