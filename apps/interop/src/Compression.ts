import * as zlib from "node:zlib"
import { runProgram } from "./Program.ts"

/** Where an xz program is, and the folder of its libraries when it is not the system's. */
export interface Xz {
  readonly program: string
  readonly env: NodeJS.ProcessEnv
}

const XZ = Buffer.from([0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00])
const ZSTD = Buffer.from([0x28, 0xb5, 0x2f, 0xfd])
const GZIP = Buffer.from([0x1f, 0x8b, 0x08])

/** What a compressed stream gives, though something follows it. undefined: it is none. */
const expand = async (octets: Buffer, xz: Xz): Promise<Buffer | undefined> => {
  if (octets.subarray(0, 6).equals(XZ)) {
    // xz complains of what follows the stream, after it has written all of it.
    const { stdout } = await runProgram(xz.program, ["-dc", "--single-stream"], { env: xz.env, input: octets })
    return stdout.length > 0 ? stdout : undefined
  }
  try {
    if (octets.subarray(0, 4).equals(ZSTD)) return zlib.zstdDecompressSync(octets)
    if (octets.subarray(0, 3).equals(GZIP)) return zlib.gunzipSync(octets)
  } catch {
    return undefined
  }
  return undefined
}

/** A kernel module as it is loaded: `.ko`, or one compressed. */
export const expandModule = async (octets: Buffer, xz: Xz): Promise<Buffer> => (await expand(octets, xz)) ?? octets

/**
 * The kernel proper in a bzImage (Documentation/arch/x86/boot.rst): an ELF file, compressed somewhere behind the loader.
 * It starts sooner than the bzImage, which would unpack itself under emulation. undefined: none was found.
 */
export const extractKernel = async (image: Buffer, xz: Xz): Promise<Buffer | undefined> => {
  for (const magic of [XZ, ZSTD, GZIP]) {
    for (let at = image.indexOf(magic); at >= 0; at = image.indexOf(magic, at + 1)) {
      const kernel = await expand(image.subarray(at), xz)
      if (kernel?.subarray(0, 4).toString("latin1") === "\x7fELF") return kernel
    }
  }
  return undefined
}
