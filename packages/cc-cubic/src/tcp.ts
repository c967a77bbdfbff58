import type { ControllerFactory } from "@rdmakit/protocol"
import { Cubic } from "./Cubic.ts"
import { NewReno } from "./NewReno.ts"
import { checkOptions, checkPath, type TcpOptions } from "./TcpOptions.ts"

/**
 * The congestion control of TCP: CUBIC (RFC 9438) or NewReno (RFC 5681, RFC 6582). It goes by losses, and by marks where
 * the packets are capable of them (RFC 3168).
 *
 * Throws `TcpOptionsError` when an option is out of its range; `make` throws it when the path has no line rate.
 */
export const tcp = (options: TcpOptions): ControllerFactory => {
  checkOptions(options)
  return {
    name: options.variant,
    needs: ["rtt"],
    make: (_now, path) => {
      checkPath(path.lineRateBps, path.mtuBytes)
      return options.variant === "cubic" ? new Cubic(options, path) : new NewReno(options, path)
    },
  }
}
