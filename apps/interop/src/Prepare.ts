import { createHash } from "node:crypto"
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { homedir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { extractKernel, type Xz } from "./Compression.ts"
import { guestImage, libraryClosure, packagedProgram } from "./Image.ts"
import { LeftOut } from "./LeftOut.ts"
import { COMPILER_PACKAGES, downloadPackages, GUEST_PACKAGES, unpackPackages } from "./Packages.ts"
import { compilePeer, hasCompiler, PEER_SOURCES } from "./PeerProgram.ts"
import { findProgram } from "./Program.ts"

/** What guests are started from. */
export interface Prepared {
  readonly qemu: string
  /** QEMU's libraries, those of glibc excepted, and its own folders of data and modules. */
  readonly libraries: string
  readonly data: ReadonlyArray<string>
  readonly modules: string
  readonly kernel: string
  readonly image: string
  /** Why there is no verbs peer. undefined: there is one. */
  readonly peerMissing: string | undefined
  /** Versions of what the guest runs. */
  readonly versions: Readonly<Record<"kernel" | "rdma-core" | "perftest" | "qemu", string>>
}

/** Changes when what is made from the same packages changes. */
const RECIPE = "1"
/** These are the machine's own, whose loader starts QEMU. */
const GLIBC = /^(?:ld-linux-x86-64|lib(?:c|m|dl|rt|pthread|resolv|util|anl|mvec))\.so\.\d$/

const guestSources = fileURLToPath(new URL("../guest", import.meta.url))

/** Where packages and images are kept between runs: RDMAKIT_INTEROP_CACHE, or a folder of XDG_CACHE_HOME. */
export const cacheFolder = (): string =>
  process.env.RDMAKIT_INTEROP_CACHE ??
  join(process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache"), "rdmakit", "interop")

const digest = (...parts: ReadonlyArray<string | Uint8Array>): string => {
  const hash = createHash("sha256")
  for (const part of parts) hash.update(part).update("\0")
  return hash.digest("hex").slice(0, 16)
}

/** Makes a folder whole or not at all: `make` fills a new one, which then takes its name. */
const once = async (folder: string, make: (folder: string) => Promise<void>): Promise<void> => {
  if (existsSync(folder)) return
  const fresh = `${folder}.${process.pid}`
  rmSync(fresh, { recursive: true, force: true })
  mkdirSync(fresh, { recursive: true })
  try {
    await make(fresh)
    // Somebody else may have made the same meanwhile.
    if (!existsSync(folder)) renameSync(fresh, folder)
  } finally {
    rmSync(fresh, { recursive: true, force: true })
  }
}

const versionsOf = (files: ReadonlyArray<string>): Prepared["versions"] => {
  const version = (name: RegExp) =>
    files
      .map((file) => name.exec(file.slice(file.lastIndexOf("/") + 1)))
      .find((match) => match !== null)?.[1]
      ?.replaceAll("%3a", ":") ?? "?"
  return {
    kernel: version(/^linux-image-\d[^_]*_([^_]+)_/),
    "rdma-core": version(/^ibverbs-utils_([^_]+)_/),
    perftest: version(/^perftest_([^_]+)_/),
    qemu: version(/^qemu-system-x86_([^_]+)_/),
  }
}

const packages = async (folder: string, names: ReadonlyArray<string>, say: (what: string) => void): Promise<void> => {
  const root = join(folder, "root")
  const kernel = join(folder, "kernel")
  const files = await downloadPackages(join(folder, "..", "apt"), names, say)
  await unpackPackages(files, root, kernel, say)
  const qemu = packagedProgram(root, "qemu-system-x86_64")
  const busybox = packagedProgram(root, "busybox")
  const boot = existsSync(join(kernel, "boot")) ? readdirSync(join(kernel, "boot")) : []
  for (const [what, there] of [
    ["qemu-system-x86_64", qemu],
    ["busybox", busybox],
    ["a kernel", boot[0]],
  ] as const) {
    if (there === undefined)
      throw new LeftOut(`the packages have no ${what}`, "Their names may differ in this release.")
  }
  // Libraries that the machine's own programs of the same name would not fit.
  const libraries = join(folder, "libraries")
  mkdirSync(libraries)
  const modules = join(root, "usr/lib/x86_64-linux-gnu/qemu")
  const parts = existsSync(modules) ? readdirSync(modules).map((name) => join(modules, name)) : []
  const xz = packagedProgram(root, "xz")
  const closure = libraryClosure(root, [qemu!, ...(xz === undefined ? [] : [xz]), ...parts])
  for (const [name, path] of closure) {
    if (!GLIBC.test(name)) symlinkSync(join("..", path.slice(folder.length + 1)), join(libraries, name))
  }
  say("kernel: taking it out of its compressed image")
  const image = readFileSync(join(kernel, "boot", boot[0]!))
  const own = findProgram("xz")
  if (own === undefined && xz === undefined) throw new LeftOut("there is no xz here", "Install xz-utils.")
  const vmlinux = await extractKernel(image, xzOf(folder))
  // The compressed one starts too, in more time.
  writeFileSync(join(folder, "vmlinux"), vmlinux ?? image)
  writeFileSync(join(folder, "versions.json"), JSON.stringify(versionsOf(files)))
}

const xzOf = (folder: string): Xz => {
  const own = findProgram("xz")
  return own !== undefined
    ? { program: own, env: process.env }
    : {
        program: packagedProgram(join(folder, "root"), "xz")!,
        env: { ...process.env, LD_LIBRARY_PATH: join(folder, "libraries") },
      }
}

/**
 * Prepares what guests are started from, from Debian's packages alone, downloaded and not installed. What was prepared
 * before is used again; `fresh` asks for the packages anew.
 * @throws LeftOut when the machine lacks something
 */
export const prepare = async (say: (what: string) => void = () => {}, fresh = false): Promise<Prepared> => {
  if (process.platform !== "linux" || process.arch !== "x64") {
    throw new LeftOut(`this is ${process.platform} on ${process.arch}`, "The guest needs Linux on x86-64.")
  }
  const cache = cacheFolder()
  const names = [...GUEST_PACKAGES, ...(hasCompiler() ? [] : COMPILER_PACKAGES)]
  const base = join(cache, `packages-${digest(RECIPE, ...names)}`)
  if (fresh) rmSync(base, { recursive: true, force: true })
  await once(base, (folder) => packages(folder, names, say))

  const sources = ["init", ...PEER_SOURCES].map((name) => readFileSync(join(guestSources, name)))
  const folder = join(base, `image-${digest(RECIPE, ...sources)}`)
  const root = join(base, "root")
  await once(folder, async (made) => {
    const program = join(made, "verbs-peer")
    say("verbs peer: compiling")
    const complaint = await compilePeer(root, guestSources, program, join(base, "libraries"))
    if (complaint !== undefined) {
      say(`verbs peer: not made (${complaint}); its cases are left out`)
      writeFileSync(join(made, "peer-missing"), complaint)
    }
    say("guest: writing its image")
    const image = await guestImage({
      root,
      kernel: join(base, "kernel"),
      xz: xzOf(base),
      init: sources[0]!,
      programs: new Map(complaint === undefined ? [["verbs-peer", program]] : []),
    })
    writeFileSync(join(made, "initrd.cpio"), image)
  })
  const missing = join(folder, "peer-missing")
  return {
    qemu: packagedProgram(root, "qemu-system-x86_64")!,
    libraries: join(base, "libraries"),
    data: [join(root, "usr/share/qemu"), join(root, "usr/share/seabios")],
    modules: join(root, "usr/lib/x86_64-linux-gnu/qemu"),
    kernel: join(base, "vmlinux"),
    image: join(folder, "initrd.cpio"),
    peerMissing: existsSync(missing) ? readFileSync(missing, "utf8") : undefined,
    versions: JSON.parse(readFileSync(join(base, "versions.json"), "utf8")) as Prepared["versions"],
  }
}
