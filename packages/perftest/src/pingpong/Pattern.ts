import type { WrongOctets as Wrong } from "../ProgramError.ts"
import { WrongOctets } from "../ProgramError.ts"

/** What the examples of libibverbs fill their buffers with; that of srq_pingpong is 0. */
const LINUX_FILL = 0x7b
const PAGE = 4096
const STEP = 7
const ROUND_STEP = 31

/**
 * Octet of message `round` at an offset: no two neighbours, pages or rounds are alike. Pages begin with 0, which the servers
 * of libibverbs look for when they are told to check (`-c`).
 */
const octetAt = (round: number, offset: number): number =>
  offset % PAGE === 0 ? 0 : (offset * STEP + (offset >> 8) + (offset >> 16) + round * ROUND_STEP) & 0xff

/** Fills a message as this package does. */
export const fillPattern = (octets: Uint8Array, round: number): void => {
  for (let offset = 0; offset < octets.length; offset++) octets[offset] = octetAt(round, offset)
}

/** The first octet that is not as `fillPattern` has it. @param doThis what a network does to make it so */
export const checkPattern = (octets: Uint8Array, round: number, number: number, doThis?: string): Wrong | undefined => {
  for (let offset = 0; offset < octets.length; offset++) {
    const found = octets[offset]!
    const wanted = octetAt(round, offset)
    if (found !== wanted) {
      return new WrongOctets({ number, offset, found, expected: `0x${wanted.toString(16)}`, doThis })
    }
  }
  return undefined
}

/** What a server is sent: by a client of this package, or by one of libibverbs, which fills with one octet, and with `-c` marks pages. */
export const checkMessage = (octets: Uint8Array, round: number, number: number, doThis?: string): Wrong | undefined => {
  const ours = checkPattern(octets, round, number, doThis)
  if (ours === undefined || isLinux(octets, LINUX_FILL) || isLinux(octets, 0)) return undefined
  return ours
}

const isLinux = (octets: Uint8Array, fill: number): boolean =>
  octets.every((octet, offset) => octet === fill || (octet === 0 && offset % PAGE === 0))
