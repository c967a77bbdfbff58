import { Context } from "effect"
import type { Device } from "./Device.ts"

/** Where a program's devices come from: a world's layer gives it. */
export class Provider extends Context.Service<Provider, { readonly devices: ReadonlyArray<Device> }>()(
  "@rdmakit/device/Provider",
) {}
