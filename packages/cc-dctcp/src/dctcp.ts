import type { ControllerFactory } from "@rdmakit/protocol"
import { DctcpNs3 } from "./DctcpNs3.ts"
import { checkOptions, checkPath, type DctcpOptions } from "./DctcpOptions.ts"
import { DctcpPaper } from "./DctcpPaper.ts"

/**
 * DCTCP, Data Center TCP: the sender slows down by how large a share of what it sent comes back marked (Alizadeh et al.,
 * SIGCOMM 2010).
 *
 * Throws `DctcpOptionsError` when an option is out of its range; `make` throws it when the path has no line rate,
 * base RTT or packet.
 */
export const dctcp = (options: DctcpOptions): ControllerFactory => {
  checkOptions(options)
  return {
    name: `dctcp/${options.variant}`,
    needs: ["ecn"],
    make: (_now, path) => {
      checkPath(path)
      return options.variant === "paper" ? new DctcpPaper(options, path) : new DctcpNs3(options, path)
    },
  }
}
