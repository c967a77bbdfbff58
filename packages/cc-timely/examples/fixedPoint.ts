import { timely, timelyPresets } from "@rdmakit/cc-timely"
import { dumbbell } from "@rdmakit/conformance"

// Two flows share 10 Gb/s for 20 ms, the second from 3 ms on. Patched TIMELY rests where
// RTT = T_low · (1 + δ / (β · R)): at 5 Gb/s each, 100 µs, of which 90 µs are queue.
const { queueBytesMax, delivered } = dumbbell(timely(timelyPresets.patched), {
  flows: [{}, { startPs: 3e9 }],
  durationPs: 20e9,
  slices: 20,
})

export const queueBytes = queueBytesMax[19]
export const shares = delivered.map((slices) => slices[19])
