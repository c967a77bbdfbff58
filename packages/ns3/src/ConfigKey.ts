/** How a value is written in a config file. */
export type ConfigType =
  | "switch" // 0 or 1
  | "whole" // a whole number min..max
  | "number" // a decimal number min..max
  | "rate" // an ns-3 DataRate: "50Mb/s"
  | "time" // an ns-3 Time: "1us"
  | "file" // a path, one word
  | "mode" // a CC_MODE
  | "rate map" // n, then n pairs of a rate in bits/s and a number
  | "link down" // microseconds after 2 s, node, node

/** What a key changes in the original simulator, from its source. */
export type ConfigEffect = "yes" | "only in the trace" | "none in the original"

/** One key of a config file. */
export interface ConfigKey {
  readonly key: string
  readonly type: ConfigType
  /** The unit of the number as written; "" when it has none. */
  readonly unit: string
  readonly min: number
  readonly max: number
  /** The value the original has without the key, as it would be written; undefined when the key must be there. */
  readonly default: string | undefined
  readonly meaning: string
  readonly effect: ConfigEffect
  /** The CC_MODEs that read it; undefined for all. */
  readonly modes: ReadonlyArray<CcMode> | undefined
  /** Whether the key is rdmakit's own: the original ignores it. */
  readonly ours: boolean
}

/** The congestion controls a config can choose, by CC_MODE. */
export const ccModes = {
  1: "DCQCN",
  3: "HPCC",
  7: "TIMELY",
  8: "DCTCP",
  10: "HPCC-PINT",
} as const

export type CcMode = keyof typeof ccModes

const U32_MAX = 0xffffffff
const WHOLE_MAX = Number.MAX_SAFE_INTEGER

type Options = Partial<Pick<ConfigKey, "unit" | "min" | "max" | "effect" | "modes" | "ours">>

const define = (
  key: string,
  type: ConfigType,
  byDefault: string | undefined,
  meaning: string,
  options: Options = {},
): ConfigKey => ({
  key,
  type,
  default: byDefault,
  meaning,
  unit: options.unit ?? "",
  min: options.min ?? 0,
  max: options.max ?? (type === "switch" ? 1 : type === "whole" ? U32_MAX : WHOLE_MAX),
  effect: options.effect ?? "yes",
  modes: options.modes,
  ours: options.ours ?? false,
})

const none: Options = { effect: "none in the original" }
const us: Options = { unit: "us", max: 1e9 }
const hpcc: Options = { modes: [3] }

// Defaults are the globals of third.cc, ranges those of its types or narrower where it would crash or mean nothing.
const table: ReadonlyArray<ConfigKey> = [
  define("ENABLE_QCN", "switch", "1", "switches mark ECN"),
  define("USE_DYNAMIC_PFC_THRESHOLD", "switch", "1", "the buffer's PFC threshold is always dynamic", none),
  define("PAUSE_TIME", "number", "5", "pause time carried in PFC frames; a pause lasts until its resume", {
    ...us,
    effect: "only in the trace",
    min: 1,
    max: U32_MAX,
  }),
  define("DATA_RATE", "rate", "", "rates come from the topology file", none),
  define("LINK_DELAY", "time", "", "delays come from the topology file", none),
  define("PACKET_PAYLOAD_SIZE", "whole", "1000", "payload of a full packet", { unit: "bytes", min: 1, max: 65000 }),
  define("L2_CHUNK_SIZE", "whole", "0", "with L2_BACK_TO_ZERO, the chunk a loss goes back to", { unit: "bytes" }),
  define("L2_ACK_INTERVAL", "whole", "0", "bytes received before a receiver starts to acknowledge each packet", {
    unit: "bytes",
  }),
  define("L2_BACK_TO_ZERO", "switch", "0", "0: go back to the lost packet, 1: to the start of its chunk"),
  define("TOPOLOGY_FILE", "file", undefined, "input: nodes and links"),
  define("FLOW_FILE", "file", undefined, "input: flows"),
  define("TRACE_FILE", "file", "", "input: nodes whose packets are traced"),
  define("TRACE_OUTPUT_FILE", "file", "", "output: packet events"),
  define("FCT_OUTPUT_FILE", "file", "fct.txt", "output: flow completion times"),
  define("PFC_OUTPUT_FILE", "file", "pfc.txt", "output: PFC frames received"),
  define("QLEN_MON_FILE", "file", "", "output: queue length histograms"),
  define("QLEN_MON_START", "whole", "2000000000", "first queue length sample", { unit: "ns", max: WHOLE_MAX }),
  define("QLEN_MON_END", "whole", "2100000000", "last queue length sample", { unit: "ns", max: WHOLE_MAX }),
  define("SIMULATOR_STOP_TIME", "number", "3.01", "end of the simulation", { unit: "s", max: 9000 }),
  define("CC_MODE", "mode", "1", "congestion control: 1 DCQCN, 3 HPCC, 7 TIMELY, 8 DCTCP, 10 HPCC-PINT"),
  define("ALPHA_RESUME_INTERVAL", "number", "55", "interval of the alpha update", { ...us, modes: [1] }),
  define("RATE_DECREASE_INTERVAL", "number", "4", "interval of the rate decrease", { ...us, modes: [1] }),
  define("RP_TIMER", "number", "0", "interval of the rate increase", { ...us, modes: [1] }),
  // The global is 1 / 16 in whole numbers.
  define("EWMA_GAIN", "number", "0", "gain g of the moving average", { max: 1, modes: [1, 8] }),
  define("FAST_RECOVERY_TIMES", "whole", "5", "increases before additive increase", { modes: [1] }),
  define("CLAMP_TARGET_RATE", "switch", "0", "every decrease lowers the target rate too", { modes: [1] }),
  define("RATE_AI", "rate", undefined, "additive increase", { modes: [1, 3, 7, 10] }),
  define("RATE_HAI", "rate", undefined, "hyper additive increase", { modes: [1, 7] }),
  define("MIN_RATE", "rate", "100Mb/s", "least rate of a flow"),
  define("DCTCP_RATE_AI", "rate", "1000Mb/s", "additive increase of DCTCP", { modes: [8] }),
  define("ERROR_RATE_PER_LINK", "number", "0", "packet loss rate of links without one of their own", { max: 1 }),
  define("HAS_WIN", "switch", "1", "flows have a window"),
  define("GLOBAL_T", "switch", "1", "one base RTT and window for all: the largest of all host pairs"),
  define("VAR_WIN", "switch", "0", "the window shrinks with the rate"),
  define("FAST_REACT", "switch", "1", "react to every ACK, not once per RTT", hpcc),
  define("U_TARGET", "number", "0.95", "target utilisation eta", { min: 1e-6, max: 1e6, modes: [3, 10] }),
  define("MI_THRESH", "whole", "5", "additive increases before a multiplicative one: maxStage", { modes: [3, 10] }),
  define("INT_MULTI", "whole", "1", "multiplies the units of bytes and queue length in INT", { ...hpcc, min: 1 }),
  define("MULTI_RATE", "switch", "1", "one rate per hop, not per flow", hpcc),
  define("SAMPLE_FEEDBACK", "switch", "0", "between full updates, ignore hops with an empty queue", hpcc),
  define("PINT_LOG_BASE", "number", "1.05", "base of PINT's logarithm", { min: 1.0001, max: 1e6, modes: [10] }),
  define("PINT_PROB", "number", "1", "share of ACKs whose PINT is used", { max: 1, modes: [10] }),
  define("RATE_BOUND", "switch", "1", "packets are paced at the flow's rate, not the line's"),
  define("ACK_HIGH_PRIO", "switch", "0", "a paused data queue does not hold a host's ACKs"),
  define("LINK_DOWN", "link down", "0 0 0", "takes one link down for good, so long after 2 s; 0: never", us),
  define("ENABLE_TRACE", "switch", "1", "write packet events"),
  define("KMAX_MAP", "rate map", "0", "ECN: queue above which all is marked, by line rate", { unit: "kB", max: 4e6 }),
  define("KMIN_MAP", "rate map", "0", "ECN: queue below which nothing is marked, by line rate", {
    unit: "kB",
    max: 4e6,
  }),
  define("PMAX_MAP", "rate map", "0", "ECN: share marked at kmax, by line rate", { max: 1 }),
  define("BUFFER_SIZE", "whole", "16", "buffer of each switch", { unit: "MiB", max: 4095 }),
  define(
    "TAIL_LOSS_TIMEOUT",
    "number",
    "100000",
    "a sender with unacknowledged bytes and no news for so long goes back; 0: never, and a lost tail never finishes, as in the original",
    { ...us, ours: true },
  ),
]

/**
 * Every key that a config file may have, with what it means and whether it changes anything.
 *
 * Source: third.cc, rdma-hw.cc, qbb-net-device.cc and switch-mmu.cc of the HPCC simulator.
 */
export const configKeys: ReadonlyMap<string, ConfigKey> = new Map(table.map((key) => [key.key, key]))
