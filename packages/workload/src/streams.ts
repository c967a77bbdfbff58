/** Random streams that are no host's: hosts have those of their numbers, below 65,536. */
export const INCASTS = 0x100000
export const ONE_INCAST = 0x100001
export const PERMUTATIONS = 0x100002
export const PATTERN_SIZES = 0x100003
