import { existsSync, readdirSync, readFileSync, realpathSync } from "node:fs"
import { basename, join } from "node:path"
import { expandModule, type Xz } from "./Compression.ts"
import { Cpio } from "./Cpio.ts"
import { neededLibraries, neededModules } from "./Elf.ts"
import { runProgram } from "./Program.ts"

/** Programs that the guest has besides busybox. */
const TOOLS = [
  ...["rc", "uc", "ud", "srq"].map((type) => `ibv_${type}_pingpong`),
  "ibv_devinfo",
  ...["rping", "ucmatose", "udaddy", "rdma_client", "rdma_server", "rstream", "mckey"],
  ...["send", "write", "read", "atomic"].flatMap((verb) => [`ib_${verb}_bw`, `ib_${verb}_lat`]),
  ...["rdma", "ip", "tc"],
]

/** Modules by name; what they need is loaded before them, and one that the kernel has built in is no module. */
const MODULES = [
  ...["virtio_pci", "virtio_console", "virtio_net"],
  // The checksum of rxe is asked for by name, when a link is added.
  ...["crc32_generic", "crc32_pclmul"],
  ...["ib_uverbs", "ib_umad", "rdma_ucm", "rdma_rxe", "siw"],
  ...["sch_netem", "8021q"],
]

const LIBRARY_FOLDERS = ["lib/x86_64-linux-gnu", "usr/lib/x86_64-linux-gnu", "lib", "usr/lib"]
const PROGRAM_FOLDERS = ["bin", "sbin", "usr/bin", "usr/sbin"]

const within = (root: string, folders: ReadonlyArray<string>, name: string): string | undefined =>
  folders.map((folder) => join(root, folder, name)).find((path) => existsSync(path))

/** A program of the unpacked packages. */
export const packagedProgram = (root: string, name: string): string | undefined => within(root, PROGRAM_FOLDERS, name)

/** Libraries that programs need, and those need, by name. What is not in the packages is left out. */
export const libraryClosure = (root: string, programs: ReadonlyArray<string>): ReadonlyMap<string, string> => {
  const found = new Map<string, string>()
  const queue = [...programs]
  for (let path = queue.pop(); path !== undefined; path = queue.pop()) {
    for (const name of neededLibraries(readFileSync(path))) {
      const library = found.has(name) ? undefined : within(root, LIBRARY_FOLDERS, name)
      if (library === undefined) continue
      found.set(name, library)
      queue.push(library)
    }
  }
  return found
}

/** Modules in an order in which each finds what it needs. */
const orderedModules = async (
  kernel: string,
  xz: Xz,
): Promise<ReadonlyArray<{ readonly name: string; readonly octets: Buffer }>> => {
  const files = new Map<string, string>()
  for (const entry of readdirSync(kernel, { recursive: true, withFileTypes: true })) {
    const match = /^(.+)\.ko(?:\.\w+)?$/.exec(entry.name)
    if (match !== null) files.set(match[1]!.replaceAll("-", "_"), join(entry.parentPath, entry.name))
  }
  const ordered = new Map<string, Buffer>()
  const need = async (name: string): Promise<void> => {
    const file = files.get(name)
    if (file === undefined || ordered.has(name)) return
    const octets = await expandModule(readFileSync(file), xz)
    for (const before of neededModules(octets)) await need(before)
    ordered.set(name, octets)
  }
  for (const name of MODULES) await need(name)
  return [...ordered].map(([name, octets]) => ({ name, octets }))
}

export interface ImageOptions {
  /** Unpacked packages. */
  readonly root: string
  /** Unpacked kernel. */
  readonly kernel: string
  readonly xz: Xz
  /** The guest's first process. */
  readonly init: Uint8Array
  /** Programs besides the packages', by name. */
  readonly programs: ReadonlyMap<string, string>
}

/** What the guest's memory holds at boot: programs, their libraries, modules, and the first process. */
export const guestImage = async (options: ImageOptions): Promise<Uint8Array> => {
  const { root, xz } = options
  const image = new Cpio()
  for (const folder of ["bin", "sbin", "lib/m", "etc", "proc", "sys", "dev", "tmp", "run", "root"]) image.folder(folder)
  image.link("lib64", "lib").device("dev/console", 5, 1)

  const programs = new Map(options.programs)
  for (const name of TOOLS) {
    const path = packagedProgram(root, name)
    if (path !== undefined) programs.set(name, path)
  }
  for (const [name, path] of programs) image.file(`bin/${name}`, readFileSync(path), 0o755)

  const providers = join(root, "usr/lib/x86_64-linux-gnu/libibverbs")
  const drivers = readdirSync(providers).filter((name) => /^lib(?:rxe|siw)-/.test(name))
  const libraries = libraryClosure(root, [...programs.values(), ...drivers.map((name) => join(providers, name))])
  for (const [name, path] of libraries) image.file(`lib/${name}`, readFileSync(realpathSync(path)), 0o755)
  // Threads that end early load it by name.
  const unwinder = within(root, LIBRARY_FOLDERS, "libgcc_s.so.1")
  if (unwinder !== undefined) image.file("lib/libgcc_s.so.1", readFileSync(unwinder), 0o755)
  for (const name of drivers) {
    image.file(`usr/lib/x86_64-linux-gnu/libibverbs/${name}`, readFileSync(join(providers, name)), 0o755)
  }
  for (const name of ["rxe", "siw"]) {
    const path = join(root, "etc/libibverbs.d", `${name}.driver`)
    if (existsSync(path)) image.file(`etc/libibverbs.d/${name}.driver`, readFileSync(path))
  }

  const busybox = packagedProgram(root, "busybox")!
  image.file("bin/busybox", readFileSync(busybox), 0o755)
  const applets = (await runProgram(busybox, ["--list"])).stdout.toString().split("\n")
  for (const applet of applets) if (applet !== "") image.link(`bin/${applet}`, "busybox")

  const modules = await orderedModules(options.kernel, xz)
  for (const { name, octets } of modules) image.file(`lib/m/${basename(name)}.ko`, octets)
  image.file("etc/modules", Buffer.from(`${modules.map(({ name }) => name).join("\n")}\n`))
  image.file("etc/hosts", Buffer.from("127.0.0.1 localhost\n::1 localhost\n"))
  image.file("etc/passwd", Buffer.from("root:x:0:0::/root:/bin/sh\n"))
  image.file("init", options.init, 0o755)
  return image.octets()
}
