/**
 * What is shown of a text: a terminal shows values, source lines and file names, and obeys nothing in them. Files have
 * them as they are.
 */

/** C0, DEL and C1, and what turns the direction of a line. */
const COMMANDS = /[\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu
/** The same but the two that lines and columns are made of. */
const COMMANDS_IN_LINES = /[^\P{Cc}\n\t]|[\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu

/** As in JSON, where it is the same text. */
const escaped = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`

/** A text for one line or one cell: nothing in it moves the cursor, not to a new line either. */
export const inOneLine = (text: string): string => text.replace(COMMANDS, escaped)

/**
 * Stands in our own texts for what they command a terminal with, until a screen writes them. They are halves of
 * surrogate pairs: what was read from octets has none of its own. A text in JSON may, of which the sequences below are
 * the most that it can have.
 */
const ESCAPE = "\udc1b"
const RETURN = "\udc0d"
const OWN = /(?<![\ud800-\udbff])(\udc0d?)\udc1b(\[[\d;]{0,5}m|\[K)/g

/** A text in a colour: SGR codes before and after it. */
export const inColor = (code: number, text: string): string => `${ESCAPE}[${code}m${text}${ESCAPE}[0m`

/** Begins the line anew. */
export const CLEAR_LINE = `${RETURN}${ESCAPE}[K`

/** A text of ours, all of it, whose colours are to reach the terminal. */
export const withOwnColors = (text: string): string => text.replaceAll("\x1b", ESCAPE)

/** What a screen writes of a text. */
export const shown = (text: string): string =>
  text
    .replace(COMMANDS_IN_LINES, escaped)
    .replace(OWN, (_, back: string, sequence: string) => `${back === "" ? "" : "\r"}\x1b${sequence}`)
