export { type BandwidthTimes, bandwidthResult, receivedResult, sumOf } from "./Bandwidth.ts"
export { ITERATIONS_LEAST, type LatencyResult, latencyResult } from "./Latency.ts"
export { FormatError } from "./outofband/FormatError.ts"
export {
  memoryOutOfBand,
  OctetBuffer,
  OutOfBand,
  type OutOfBandConnection,
  OutOfBandError,
  type OutOfBandListener,
  peerClosed,
} from "./outofband/OutOfBand.ts"
export {
  emitKeys,
  emitMtu,
  emitResults,
  emitVersion,
  emitWord,
  KEYS_BYTES,
  MTU_BYTES,
  PERFTEST_VERSION,
  type PerftestKeys,
  type PerftestResults,
  parseKeys,
  parseMtu,
  parseResults,
  parseVersion,
  parseWord,
  RESULT_BYTES,
  RESULTS,
  VERSION_BYTES,
  WORD_BYTES,
} from "./outofband/PerftestMessages.ts"
export { CYCLE_BUFFER, PerftestSession, type Role } from "./outofband/PerftestSession.ts"
export {
  DONE,
  emitPingpong,
  PINGPONG_BYTES,
  type PingpongDestination,
  parsePingpong,
} from "./outofband/PingpongMessage.ts"
export { emitRping, parseRping, RPING_BYTES, type RpingBuffer } from "./outofband/RpingMessage.ts"
export { PeerSilent, type ProgramError, WrongOctets } from "./ProgramError.ts"
export { type PerfReport, type PerfStart, type PerfWatch, perf } from "./perf/Perf.ts"
export { addressLines, testLines } from "./perf/perfText.ts"
export { type OnAddresses, type PingpongReport, pingpong } from "./pingpong/Pingpong.ts"
export {
  type PingpongOptions,
  PingpongSettingError,
  type PingpongSettings,
  type PingpongType,
  pingpongSettings,
  pingpongTypes,
} from "./pingpong/PingpongOptions.ts"
export { BANDWIDTH_HEADER, bandwidthLine, LATENCY_HEADER, latencyLine, RESULT_LINE } from "./Report.ts"
export {
  RPING_BYTES_MAX,
  RPING_BYTES_MIN,
  type RpingReport,
  RpingSettingError,
  type RpingSettings,
  type RpingWatch,
  rpingClient,
  rpingServer,
  rpingSettings,
} from "./rping/Rping.ts"
export {
  moderationOf,
  type PerfOptions,
  PerfSettingError,
  type PerfSettings,
  type PerfTest,
  type PerfVerb,
  perfSettings,
  perfTests,
  sizesOf,
} from "./Settings.ts"
