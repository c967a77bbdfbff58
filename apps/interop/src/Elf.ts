/*
 * What the guest's preparation asks of ELF files (System V ABI, x86-64): which libraries a program needs, and which
 * modules a module needs.
 */

const PT_DYNAMIC = 2
const PT_LOAD = 1
const DT_NULL = 0
const DT_NEEDED = 1
const DT_STRTAB = 5

export const isElf = (octets: Uint8Array): boolean =>
  octets[0] === 0x7f && octets[1] === 0x45 && octets[2] === 0x4c && octets[3] === 0x46

const string = (octets: Uint8Array, at: number): string =>
  Buffer.from(octets.subarray(at, octets.indexOf(0, at))).toString("latin1")

/** Names of the libraries that a 64-bit program or library asks for (DT_NEEDED). Empty for a static program. */
export const neededLibraries = (octets: Uint8Array): ReadonlyArray<string> => {
  if (!isElf(octets) || octets[4] !== 2) return []
  const view = new DataView(octets.buffer, octets.byteOffset, octets.byteLength)
  const word = (at: number) => Number(view.getBigUint64(at, true))
  const headers = word(32)
  const size = view.getUint16(54, true)
  const count = view.getUint16(56, true)
  const loads: Array<{ offset: number; address: number; bytes: number }> = []
  let dynamic: { offset: number; bytes: number } | undefined
  for (let i = 0; i < count; i++) {
    const at = headers + i * size
    const type = view.getUint32(at, true)
    if (type === PT_LOAD) loads.push({ offset: word(at + 8), address: word(at + 16), bytes: word(at + 32) })
    if (type === PT_DYNAMIC) dynamic = { offset: word(at + 8), bytes: word(at + 32) }
  }
  if (dynamic === undefined) return []
  const names: Array<number> = []
  let table = 0
  for (let at = dynamic.offset; at < dynamic.offset + dynamic.bytes; at += 16) {
    const tag = word(at)
    if (tag === DT_NULL) break
    if (tag === DT_NEEDED) names.push(word(at + 8))
    if (tag === DT_STRTAB) table = word(at + 8)
  }
  const load = loads.find(({ address, bytes }) => table >= address && table < address + bytes)
  if (load === undefined) return []
  return names.map((name) => string(octets, table - load.address + load.offset + name))
}

/** Names of the modules that a kernel module needs loaded before it (`depends=` of its section .modinfo). */
export const neededModules = (octets: Uint8Array): ReadonlyArray<string> => {
  const key = "depends="
  const buffer = Buffer.from(octets.buffer, octets.byteOffset, octets.byteLength)
  for (let at = buffer.indexOf(key); at >= 0; at = buffer.indexOf(key, at + 1)) {
    // It begins a string of the section, so a zero stands before it, or the section begins.
    if (at > 0 && buffer[at - 1] !== 0 && at % 4 !== 0) continue
    const list = string(buffer, at + key.length)
    if (!/^[\w,-]*$/.test(list)) continue
    return list
      .split(",")
      .filter((name) => name !== "")
      .map((name) => name.replaceAll("-", "_"))
  }
  return []
}
