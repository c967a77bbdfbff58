import { QpState, WcOpcode, WcStatus } from "@rdmakit/protocol"
import { describe, expect, it } from "vitest"
import { opcodeName, statusName, statusText } from "../src/index.ts"
import { stateName, stateOf, statusAdvice } from "../src/Names.ts"

/** LocLenErr as LOC_LEN_ERR. */
const upper = (name: string): string => name.replace(/(?<=[a-z])[A-Z]/g, "_$&").toUpperCase()

describe("names", () => {
  it("of completion statuses are those of ibv_wc_status, 0 to 23", () => {
    const entries = Object.entries(WcStatus)
    expect(entries).toHaveLength(24)
    for (const [name, code] of entries) {
      expect(statusName(code)).toBe(upper(name))
      expect(statusText(code)).not.toBe("unknown")
    }
    expect(statusText(WcStatus.RnrRetryExcErr)).toBe("RNR retry counter exceeded")
    expect(statusText(WcStatus.MwBindErr)).toBe("memory management operation error")
    expect(statusName(99 as WcStatus)).toBe("GENERAL_ERR")
  })

  it("say what to look at for every status that these devices give", () => {
    const given = [
      WcStatus.LocLenErr,
      WcStatus.LocQpOpErr,
      WcStatus.LocProtErr,
      WcStatus.WrFlushErr,
      WcStatus.MwBindErr,
      WcStatus.BadRespErr,
      WcStatus.LocAccessErr,
      WcStatus.RemInvReqErr,
      WcStatus.RemAccessErr,
      WcStatus.RemOpErr,
      WcStatus.RetryExcErr,
      WcStatus.RnrRetryExcErr,
    ]
    for (const status of given) expect(statusAdvice(status)).not.toBe("")
  })

  it("of opcodes are those of ibv_wc_opcode", () => {
    for (const code of Object.values(WcOpcode)) expect(opcodeName(code)).toMatch(/^[A-Z_]+$/)
    expect(opcodeName(WcOpcode.RecvRdmaWithImm)).toBe("RECV_RDMA_WITH_IMM")
  })

  it("of states are those of ibv_qp_state, and lead back", () => {
    for (const [name, code] of Object.entries(QpState)) {
      expect(stateName(code)).toBe(name.toUpperCase())
      expect(stateOf(stateName(code))).toBe(code)
    }
  })
})
