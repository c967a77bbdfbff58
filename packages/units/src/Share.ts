const pattern = /^\s*(\d+(?:\.\d*)?|\.\d+)\s*(%?)\s*$/

/** What `tryParseShare` reads matches it; it is for schemas. */
export const sharePattern: RegExp = /^\s*(?:\d+(?:\.\d*)?|\.\d+)\s*%?\s*$/u
/** Longest text that is looked at. */
const TEXT_LENGTH_MAX = 64

/**
 * Reads a share such as "2%", "0.5 %" or "0.02"; undefined for a text that is none. A share may be above 1: whoever
 * asks for a probability has to look.
 */
export const tryParseShare = (text: string): number | undefined => {
  const match = text.length > TEXT_LENGTH_MAX ? null : pattern.exec(text)
  return match === null ? undefined : Number(match[1]) / (match[2] === "%" ? 100 : 1)
}
