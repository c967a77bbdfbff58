import type { Surface } from "./Screen.ts"
import { inColor } from "./Shown.ts"

const codes = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, cyan: 36 } as const

type Paint = Readonly<Record<keyof typeof codes, (text: string) => string>>

const painted = Object.fromEntries(
  Object.entries(codes).map(([name, code]) => [name, (text: string) => inColor(code, text)]),
) as Paint

const plain = Object.fromEntries(Object.keys(codes).map((name) => [name, (text: string) => text])) as Paint

/** The colours of a surface: none where they are not wanted. */
export const paintOf = (surface: Pick<Surface, "color">): Paint => (surface.color ? painted : plain)
