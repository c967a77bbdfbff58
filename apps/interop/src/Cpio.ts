/**
 * An archive in the form that the kernel unpacks at boot (cpio "newc", initramfs-buffer-format of the kernel's
 * documentation). Owners are root, times are 0, so that the same entries make the same octets.
 */
export class Cpio {
  readonly #parts: Array<Uint8Array> = []
  readonly #seen = new Set<string>()
  #inode = 0

  /** Names of what is in it. */
  has(path: string): boolean {
    return this.#seen.has(path)
  }

  /** A folder, and those it is in. */
  folder(path: string): this {
    let whole = ""
    for (const part of path.split("/")) {
      whole = whole === "" ? part : `${whole}/${part}`
      this.#entry(whole, 0o040755, new Uint8Array(0))
    }
    return this
  }

  /** @param mode permissions, 0o755 for a program */
  file(path: string, octets: Uint8Array, mode = 0o644): this {
    const slash = path.lastIndexOf("/")
    if (slash > 0) this.folder(path.slice(0, slash))
    return this.#entry(path, 0o100000 | mode, octets)
  }

  link(path: string, target: string): this {
    return this.#entry(path, 0o120777, Buffer.from(target))
  }

  /** A character device. */
  device(path: string, major: number, minor: number): this {
    return this.#entry(path, 0o020600, new Uint8Array(0), major, minor)
  }

  /** The whole archive. */
  octets(): Uint8Array {
    return Buffer.concat([...this.#parts, ...record("TRAILER!!!", 0, 0, new Uint8Array(0), 0, 0)])
  }

  /** The first entry of a name counts. */
  #entry(path: string, mode: number, octets: Uint8Array, major = 0, minor = 0): this {
    if (this.#seen.has(path)) return this
    this.#seen.add(path)
    this.#inode += 1
    this.#parts.push(...record(path, this.#inode, mode, octets, major, minor))
    return this
  }
}

const pad = (bytes: number) => Buffer.alloc((4 - (bytes % 4)) % 4)

const record = (
  path: string,
  inode: number,
  mode: number,
  octets: Uint8Array,
  major: number,
  minor: number,
): ReadonlyArray<Uint8Array> => {
  const name = Buffer.from(`${path}\0`)
  // Magic, inode, mode, uid, gid, links, mtime, size, device, special device, length of the name, checksum.
  const numbers = [inode, mode, 0, 0, 1, 0, octets.length, 0, 0, major, minor, name.length, 0]
  const head = `070701${numbers.map((n) => n.toString(16).toUpperCase().padStart(8, "0")).join("")}`
  return [Buffer.from(head), name, pad(head.length + name.length), octets, pad(octets.length)]
}
