/**
 * So many zeros, as an ordinary array: one of each flow. A typed array of more than 64 bytes lies apart from its flow, and
 * the collector counts it by itself. The zeros are negative, for these are no small integers: such an array holds doubles
 * from the start, and to add, to subtract and to compare they are zeros like any other.
 */
export const doubles = (count: number): Array<number> => new Array<number>(count).fill(-0)
