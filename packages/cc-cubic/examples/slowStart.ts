import { tcp } from "@rdmakit/cc-cubic"
import { dumbbell } from "@rdmakit/conformance"

// A flow from a 40 Gb/s NIC over a link of 10 Gb/s, with a buffer of 100,000 bytes: 8 bandwidth-delay products.
const lone = (hyStart: boolean) =>
  dumbbell(tcp({ variant: "cubic", hyStart }), {
    flows: [{}],
    durationPs: 4e9,
    lineRateBps: 40e9,
    linkRateBps: 10e9,
    bufferBytes: 100_000,
    slices: 20,
  })

// Ten segments, twenty, forty: one goes on until packets are lost, the other until round trips grow by an eighth.
const [plain, careful] = [lone(false), lone(true)]
export const dropped = [plain.dropped, careful.dropped]
/** Of a full link, in the last fifth of a millisecond. */
export const shares = [plain, careful].map(({ delivered }) => (delivered[0]?.[19] ?? 0) / 250_000)
