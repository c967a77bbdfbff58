import { checkTransport, hasFields, type Time, type VerbsTransport } from "@rdmakit/protocol"
import { check, type SrdConfig, type SrdOptions, srdConfig } from "../SrdConfig.ts"

/** What a device can do (rdma-core, providers/efa/efadv.h: EFADV_DEVICE_ATTR_CAPS_…). */
export interface EfaCapabilities {
  readonly rdmaRead: boolean
  /** WRITE, and WRITE with immediate. */
  readonly rdmaWrite: boolean
  /** Queue pairs may be told how often to try again where no receive is posted. */
  readonly rnrRetry: boolean
  /** Completions of receives say who sent what came. */
  readonly cqWithSgid: boolean
  /** A WRITE with immediate need not take a receive. */
  readonly unsolicitedWriteRecv: boolean
  /** Bytes of a READ or a WRITE, at most; 0 without them. */
  readonly maxRdmaBytes: number
}

const GIB = 2 ** 30

/**
 * Three generations, each with what came with it: the first sends alone, the second reads, the third writes as well. Which
 * instance has which device, and what its firmware has learned since, is not in them.
 */
export const efaGenerations = {
  v1: {
    rdmaRead: false,
    rdmaWrite: false,
    rnrRetry: true,
    cqWithSgid: false,
    unsolicitedWriteRecv: false,
    maxRdmaBytes: 0,
  },
  v2: {
    rdmaRead: true,
    rdmaWrite: false,
    rnrRetry: true,
    cqWithSgid: true,
    unsolicitedWriteRecv: false,
    maxRdmaBytes: GIB,
  },
  v3: {
    rdmaRead: true,
    rdmaWrite: true,
    rnrRetry: true,
    cqWithSgid: true,
    unsolicitedWriteRecv: true,
    maxRdmaBytes: GIB,
  },
} as const satisfies Readonly<Record<string, EfaCapabilities>>

export interface SrdVerbsOptions extends Omit<SrdOptions, "mtuBytes" | "framing"> {
  /** Default `efaGenerations.v3`. */
  readonly capabilities?: EfaCapabilities
  /** Queue pairs are made so that a WRITE with immediate takes no receive (EFADV_QP_FLAGS_UNSOLICITED_WRITE_RECV). Default false. */
  readonly unsolicitedWrites?: boolean
  /** How long a request waits that found no receive, before it is tried again, ps. Default 100 µs. */
  readonly rnrDelayPs?: Time
  /** Of the paths that packets take, 32 bits. Default 0. */
  readonly seed?: number
  /** What makes queue pairs of other types than SRD: the device has UD as well. Default: such a queue pair is refused. */
  readonly datagrams?: VerbsTransport
}

/** The options with every default in place. */
export interface SrdVerbsConfig {
  readonly srd: SrdConfig
  readonly capabilities: EfaCapabilities
  readonly unsolicitedWrites: boolean
  readonly rnrDelayPs: Time
  readonly seed: number
}

const CAPABILITIES = ["rdmaRead", "rdmaWrite", "rnrRetry", "cqWithSgid", "unsolicitedWriteRecv"] as const
const RNR_DELAY_PS = 100e6

/** @throws SrdOptionsError */
export const srdVerbsConfig = (options: SrdVerbsOptions): SrdVerbsConfig => {
  check("options", options, hasFields(options), "an object")
  const { capabilities = efaGenerations.v3, unsolicitedWrites = false, seed = 0, datagrams, ...rest } = options
  const { rnrDelayPs = RNR_DELAY_PS, ...srd } = rest
  check("rnrDelayPs", rnrDelayPs, Number.isFinite(rnrDelayPs) && rnrDelayPs > 0, "a finite time above 0")
  check("capabilities", capabilities, hasFields(capabilities), "an object, such as one of efaGenerations")
  for (const capability of CAPABILITIES)
    check(
      `capabilities.${capability}`,
      capabilities[capability],
      typeof capabilities[capability] === "boolean",
      "true or false",
    )
  const { maxRdmaBytes } = capabilities
  check(
    "capabilities.maxRdmaBytes",
    maxRdmaBytes,
    Number.isSafeInteger(maxRdmaBytes) && maxRdmaBytes >= 0,
    "a count of bytes",
  )
  check("unsolicitedWrites", unsolicitedWrites, typeof unsolicitedWrites === "boolean", "true or false")
  check(
    "unsolicitedWrites",
    unsolicitedWrites,
    !unsolicitedWrites || capabilities.unsolicitedWriteRecv,
    "false: the device has not got the capability",
  )
  check("seed", seed, Number.isSafeInteger(seed), "an integer of 32 bits")
  if (datagrams !== undefined) checkTransport(check, "datagrams", datagrams)
  return { srd: srdConfig(srd), capabilities, unsolicitedWrites, rnrDelayPs, seed: seed >>> 0 }
}
