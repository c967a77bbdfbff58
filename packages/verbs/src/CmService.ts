import type { Cm, CmCommand, CmEvent } from "@rdmakit/cm"
import type { Device, ProtectionDomain } from "@rdmakit/device"
import type { Effect } from "effect"
import type { VerbsError } from "./VerbsError.ts"

/** Who is told of an id's events. */
export type CmHandler = (event: CmEvent) => void

/** Connection management of a device, as connections use it: by datagrams (`CmPort`), or where the world has streams by those. */
export interface CmService {
  readonly device: Device
  readonly pd: ProtectionDomain
  readonly cm: Pick<Cm, "settings" | "command">
  /** Tells it, and lets it say what it has to. @throws VerbsError */
  command(verb: string, command: CmCommand): number
  /** Ends an id, in whatever state it is. */
  close(id: number): void
  /** Events of an id, or of a listener's requests, go to this handler. */
  handle(id: number, handler: CmHandler): void
  /** Its events are of no use any more. */
  unhandle(id: number): void
  nextPort(): number
  /** A listener can be reached. */
  opened(id: number): Effect.Effect<void, VerbsError>
}
