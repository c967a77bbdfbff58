/** The largest distance between the shares of a sample and a distribution: the statistic of Kolmogorov and Smirnov. */
export const largestDistance = (sample: ReadonlyArray<number>, shareUpTo: (value: number) => number): number => {
  const sorted = Float64Array.from(sample).sort()
  let largest = 0
  for (let i = 0; i < sorted.length; ) {
    const value = sorted[i]!
    let end = i
    while (end < sorted.length && sorted[end] === value) end++
    largest = Math.max(largest, Math.abs(end / sorted.length - shareUpTo(value)))
    i = end
  }
  return largest
}
