/** What rping sends: a number, and letters that begin one further each time (librdmacm/examples/rping.c). */

const FIRST = 65
const LAST = 122
const LETTERS = LAST - FIRST + 1

/** Fills a ping; its last octet is NUL. @param round from 0 */
export const fillPing = (octets: Uint8Array, round: number): void => {
  const text = `rdma-ping-${round}: `
  for (let offset = 0; offset < octets.length; offset++) {
    const letter = FIRST + ((round + offset - text.length) % LETTERS)
    octets[offset] = offset < text.length ? text.charCodeAt(offset) : letter
  }
  octets[octets.length - 1] = 0
}

/** A ping as text, up to its NUL. */
export const pingText = (octets: Uint8Array): string => {
  const end = octets.indexOf(0)
  let text = ""
  for (const octet of end < 0 ? octets : octets.subarray(0, end)) {
    text += octet >= 0x20 && octet < 0x7f ? String.fromCharCode(octet) : "."
  }
  return text
}
