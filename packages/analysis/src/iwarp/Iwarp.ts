import type { Mpa, StreamFpdu } from "@rdmakit/wire/mpa"
import { parseRdmap, terminateText } from "@rdmakit/wire/rdmap"
import type { Sighting } from "../Sighting.ts"
import { Tally } from "../Tally.ts"
import type { Direction } from "./Direction.ts"
import { IwarpStreams } from "./IwarpStreams.ts"

/** One direction of an iWARP connection. */
export interface IwarpFlow {
  readonly direction: Direction
  readonly opening: Mpa | undefined
  readonly openingFrame: number | undefined
  /** Units of each operation of RDMAP. */
  readonly operations: Map<string, number>
  units: number
  /** Messages of RDMAP: units that are their message's last. */
  messages: number
  /** Octets of DDP segments. */
  bytes: number
  crcRight: number
  crcAbsent: number
  readonly crcWrong: Tally
  /** Octets that are not in the capture. */
  lostBytes: number
  readonly losses: Tally
  unalignedBytes: number
  /** Units that do not start where a TCP segment starts. */
  unalignedUnits: number
  readonly terminates: Array<{ readonly frame: number; readonly text: string }>
}

const FLOWS_MAX = 1 << 14
const TERMINATES_KEPT = 8

/** Follows iWARP: units, operations, CRCs and how connections end. */
export class Iwarp {
  readonly #flows = new Map<Direction, IwarpFlow>()
  readonly #streams: IwarpStreams

  constructor() {
    this.#streams = new IwarpStreams({
      opened: (direction, mpa, frame) => {
        // Private data is a view of the packet.
        this.#flowOf(direction, { ...mpa, privateData: mpa.privateData.slice() }, frame)
      },
      unit: (direction, unit, frame) => this.#unit(direction, unit, frame),
      gap: (direction, bytes, reason, frame) => {
        const flow = this.#flowOf(direction)
        if (flow === undefined) return
        if (reason === "unaligned") flow.unalignedBytes += bytes
        else {
          flow.lostBytes += bytes
          flow.losses.add(frame)
        }
      },
    })
  }

  get flows(): ReadonlyArray<IwarpFlow> {
    return [...this.#flows.values()]
  }

  segment(sighting: Sighting): void {
    this.#streams.segment(sighting)
  }

  end(): void {
    this.#streams.end()
  }

  #flowOf(direction: Direction, opening?: Mpa, frame?: number): IwarpFlow | undefined {
    const known = this.#flows.get(direction)
    if (known !== undefined || this.#flows.size === FLOWS_MAX) return known
    const flow: IwarpFlow = {
      direction,
      opening,
      openingFrame: frame,
      operations: new Map(),
      units: 0,
      messages: 0,
      bytes: 0,
      crcRight: 0,
      crcAbsent: 0,
      crcWrong: new Tally(),
      lostBytes: 0,
      losses: new Tally(),
      unalignedBytes: 0,
      unalignedUnits: 0,
      terminates: [],
    }
    this.#flows.set(direction, flow)
    return flow
  }

  #unit(direction: Direction, { ulpdu, crc, aligned }: StreamFpdu, frame: number): void {
    const flow = this.#flowOf(direction)
    if (flow === undefined) return
    flow.units++
    flow.bytes += ulpdu.length
    if (crc === "right") flow.crcRight++
    else if (crc === "absent") flow.crcAbsent++
    else flow.crcWrong.add(frame)
    if (!aligned) flow.unalignedUnits++
    const rdmap = parseRdmap(ulpdu)
    if (rdmap.ok && rdmap.value.last) flow.messages++
    const name = rdmap.ok ? rdmap.value.kind : "unreadable"
    flow.operations.set(name, (flow.operations.get(name) ?? 0) + 1)
    if (rdmap.ok && rdmap.value.kind === "terminate" && flow.terminates.length < TERMINATES_KEPT) {
      flow.terminates.push({ frame, text: terminateText(rdmap.value.terminate) })
    }
  }
}
