import { DOUBLE_ZERO } from "@rdmakit/protocol"

/**
 * So many zeros, as an ordinary array: one of each flow. A typed array of more than 64 bytes lies apart from its flow, and
 * the collector counts it by itself. It is made of `DOUBLE_ZERO`, so that it holds doubles from the start.
 */
export const doubles = (count: number): Array<number> => new Array<number>(count).fill(DOUBLE_ZERO)
