interface Place {
  /** What the names of one set have in common. */
  readonly set: string
  /** Digits that count the files, "" for the first of tcpdump's. */
  readonly number: string
}

const COMPRESSED = /\.(?:gz|zst)$/
/** dumpcap: `name_00001_20260131235959.pcapng`. */
const DUMPCAP = /^(.*)_(\d{5,})_\d{14}(\.[^.]*)?$/
/** tcpdump -C: `name.pcap`, `name.pcap1`, `name.pcap2`, with zeros in front when -W says how many. */
const TCPDUMP = /^(.*\.(?:pcap|pcapng|cap|dmp))(\d*)$/

const placeOf = (name: string): Place | undefined => {
  const plain = name.replace(COMPRESSED, "")
  const dumpcap = DUMPCAP.exec(plain)
  if (dumpcap !== null) return { set: `${dumpcap[1]}_*${dumpcap[3] ?? ""}`, number: dumpcap[2]! }
  const tcpdump = TCPDUMP.exec(plain)
  return tcpdump === null ? undefined : { set: tcpdump[1]!, number: tcpdump[2]! }
}

/**
 * The names among `siblings` that belong to one rotated set with `name`, in the order they were written, by the names
 * that dumpcap (-b) and tcpdump (-C) give. A name of no such form is a set of its own. Rings that wrapped round are
 * in the order of their names: the times inside decide there.
 */
export const rotatedSet = (name: string, siblings: ReadonlyArray<string>): ReadonlyArray<string> => {
  const place = placeOf(name)
  if (place === undefined) return [name]
  const members: Array<readonly [bigint, string]> = []
  for (const sibling of new Set([name, ...siblings])) {
    const other = placeOf(sibling)
    if (other?.set === place.set) members.push([other.number === "" ? -1n : BigInt(other.number), sibling])
  }
  members.sort(([a, nameA], [b, nameB]) => (a < b ? -1 : a > b ? 1 : nameA < nameB ? -1 : nameA > nameB ? 1 : 0))
  return members.map(([, member]) => member)
}
