/** Octets from hexadecimal text; spaces and line ends are left out. */
export const hex = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text.replaceAll(/\s/g, ""), "hex"))
export const text = (octets: Uint8Array): string => Buffer.from(octets).toString("hex")
