import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { LeftOut } from "./LeftOut.ts"
import { lastWords, requireProgram, runProgram } from "./Program.ts"

/** What the guest and its emulator are made of. */
export const GUEST_PACKAGES = [
  "qemu-system-x86",
  "linux-image-amd64",
  "busybox-static",
  "ibverbs-utils",
  "ibverbs-providers",
  "rdmacm-utils",
  "perftest",
  "iproute2",
  "xz-utils",
  // Headers for the verbs peer.
  "libibverbs-dev",
  "libc6-dev",
]

/** A compiler, where the machine has none. */
export const COMPILER_PACKAGES = ["gcc"]

const NEEDS_DEBIAN = "The guest is made of Debian's packages, so this needs Debian or a system made from it, on x86-64."

/** Parts of the kernel's package that the guest needs: the kernel, and the folders its modules are in. */
const KERNEL_PARTS = [
  "./boot/vmlinuz*",
  ...[
    "drivers/infiniband/core",
    "drivers/infiniband/sw",
    "drivers/virtio",
    "drivers/net/virtio_net*",
    "drivers/net/net_failover*",
    "drivers/char/virtio_console*",
    "net/core",
    "net/ipv4/*udp_tunnel*",
    "net/ipv6/*udp_tunnel*",
    "net/sched/sch_netem*",
    "net/8021q",
    "net/802",
    "net/llc",
    "fs/configfs",
    "crypto/crc32*",
    "arch/x86/crypto/crc32*",
    "lib/libcrc32c*",
  ].map((part) => `*/lib/modules/*/kernel/${part}${part.endsWith("*") ? "" : "/*"}`),
]

/** What nobody in the guest or the emulator uses, though a dependency brings it. */
const NOT_UNPACKED = /^(?:iso-codes|coreutils|udev|passwd|linux-base|initramfs-tools|kmod|debconf|perl)/

/**
 * Downloads packages with everything they depend on, installing nothing: apt is shown an empty system whose lists and
 * packages are in `folder`, so it needs no rights and what is installed here makes no difference.
 * @returns the files, whole names
 * @throws LeftOut
 */
export const downloadPackages = async (
  folder: string,
  names: ReadonlyArray<string>,
  say: (what: string) => void,
): Promise<ReadonlyArray<string>> => {
  const apt = requireProgram("apt-get", NEEDS_DEBIAN)
  const dpkg = requireProgram("dpkg", NEEDS_DEBIAN)
  const architecture = (await runProgram(dpkg, ["--print-architecture"])).stdout.toString().trim()
  if (architecture !== "amd64") throw new LeftOut(`packages here are of ${architecture}, not amd64`, NEEDS_DEBIAN)

  const archives = join(folder, "debs")
  mkdirSync(join(archives, "partial"), { recursive: true })
  mkdirSync(join(folder, "lists", "partial"), { recursive: true })
  const status = join(folder, "status")
  writeFileSync(status, "")
  const config = join(folder, "apt.conf")
  writeFileSync(
    config,
    [
      // What a system does after updates is for its own lists.
      "#clear APT::Update::Post-Invoke;",
      "#clear APT::Update::Post-Invoke-Success;",
      `Dir::State "${folder}";`,
      `Dir::State::Lists "${join(folder, "lists")}";`,
      `Dir::State::status "${status}";`,
      `Dir::Cache "${folder}";`,
      `Dir::Cache::archives "${archives}";`,
      'APT::Install-Recommends "false";',
      'APT::Sandbox::User "";',
      'Acquire::Retries "2";',
      'Acquire::http::Timeout "30";',
      'Acquire::Languages "none";',
      "",
    ].join("\n"),
  )
  const run = (args: ReadonlyArray<string>) =>
    runProgram(apt, ["-c", config, "-q", "-y", ...args], { env: { ...process.env, LC_ALL: "C" }, timeoutMs: 900_000 })

  say("packages: asking what there is")
  const update = await run(["update"])
  const plan = await run(["--print-uris", "install", ...names])
  if (plan.code !== 0) {
    const unreachable = update.code !== 0 || /Failed to fetch|Could not resolve/.test(update.stderr)
    throw unreachable
      ? new LeftOut(
          `apt-get update failed (${lastWords(update.stderr)})`,
          "Is there a network, and a mirror it can reach?",
        )
      : new LeftOut(`apt knows no such packages (${lastWords(plan.stderr)})`, NEEDS_DEBIAN)
  }
  // 'http://…' file size hash
  const wanted = [...plan.stdout.toString().matchAll(/^'[^']*' (\S+\.deb) (\d+) /gm)]
  const megabytes = wanted.reduce((sum, [, , size]) => sum + Number(size) / 1e6, 0)
  say(`packages: ${wanted.length} not yet here, ${megabytes.toFixed(0)} MB`)
  const download = await run(["--download-only", "install", ...names])
  if (download.code !== 0) {
    throw new LeftOut(`packages could not be downloaded (${lastWords(download.stderr)})`, "Is there a network?")
  }
  // What is there already has no address to print, so the whole set is asked of the simulation of an installation.
  const simulation = await run(["--simulate", "install", ...names])
  const installed = [...simulation.stdout.toString().matchAll(/^Inst (\S+) \((\S+)/gm)]
  const files = readdirSync(archives)
  return installed.map(([, name, version]) => {
    const start = `${name}_${version!.replaceAll(":", "%3a")}_`
    const file = files.find((one) => one.startsWith(start))
    if (file === undefined)
      throw new LeftOut(`${name} ${version} was not downloaded`, `Delete ${archives} and run again.`)
    return join(archives, file)
  })
}

/** Unpacks packages: programs and libraries into `root`, the parts of the kernel into `kernel`. @throws LeftOut */
export const unpackPackages = async (
  files: ReadonlyArray<string>,
  root: string,
  kernel: string,
  say: (what: string) => void,
): Promise<void> => {
  const dpkg = requireProgram("dpkg-deb", NEEDS_DEBIAN)
  const tar = requireProgram("tar", "Packages are tar files inside: install tar.")
  for (const folder of [root, kernel]) {
    rmSync(folder, { recursive: true, force: true })
    mkdirSync(folder, { recursive: true })
  }
  say(`packages: unpacking ${files.length}`)
  for (const file of files) {
    const name = file.slice(file.lastIndexOf("/") + 1)
    if (NOT_UNPACKED.test(name)) continue
    let finished = { code: 0, stderr: "" }
    if (/^linux-image-\d/.test(name)) {
      const archive = `${kernel}.tar`
      finished = await runProgram("sh", ["-c", '"$0" --fsys-tarfile "$1" > "$2"', dpkg, file, archive])
      if (finished.code === 0) {
        // A pattern that finds nothing is an error to tar, and none here: kernels differ in what is a module.
        await runProgram(tar, ["-x", "-C", kernel, "-f", archive, "--wildcards", ...KERNEL_PARTS])
      }
      rmSync(archive, { force: true })
    } else {
      finished = await runProgram(dpkg, ["-x", file, root])
    }
    if (finished.code !== 0) {
      throw new LeftOut(`${name} could not be unpacked (${lastWords(finished.stderr)})`, "Is the disk full?")
    }
  }
}
