import type { Claim, Figure, System } from "../src/Claim.ts"

const systems: ReadonlyArray<System> = [
  { name: "InfiniBand", scenario: {}, format: "infiniband" },
  { name: "RoCEv1", scenario: {}, format: "rocev1" },
  { name: "RoCEv2", scenario: {}, format: "rocev2" },
  { name: "iWARP", scenario: {}, format: "iwarp" },
]

/** What the sizes of headers lead to, whatever the message. */
const ORDER = [["InfiniBand", "RoCEv2", "RoCEv1"]]

const sizes: ReadonlyArray<readonly [id: string, words: string, bytes: number]> = [
  ["64b", "64 B", 64],
  ["1k", "1 KiB", 1024],
  ["4k", "4 KiB", 4096],
  ["64k", "64 KiB", 65_536],
  ["1m", "1 MiB", 1_048_576],
]

const shares: ReadonlyArray<Claim> = sizes.map(([id, words, message]) => ({
  id: `share-${id}`,
  what: `octets of a WRITE of ${words} that are no payload, preamble and gap included`,
  metric: { kind: "octets", message, of: "line", as: "share" },
  unit: "share",
  mark: "read",
  published: {},
  order: ORDER,
}))

/** Sums of the sizes that the standards give of each header: the sums are ours. */
const packets: ReadonlyArray<Claim> = [
  {
    id: "only",
    what: "octets beside the payload in the one frame of a WRITE of 64 B; published: the standards' header sizes added up",
    metric: { kind: "octets", message: 64, of: "frame" },
    unit: "",
    mark: "read",
    published: {
      InfiniBand: 8 + 12 + 16 + 4 + 2,
      RoCEv1: 14 + 40 + 12 + 16 + 4 + 4,
      RoCEv2: 14 + 20 + 8 + 12 + 16 + 4 + 4,
      iWARP: 14 + 20 + 20 + 2 + 14 + 4 + 4,
    },
  },
  {
    id: "middle",
    what: "octets beside the payload in a frame in the middle of a WRITE; published: the standards' header sizes added up",
    metric: { kind: "octets", message: "middle", of: "frame" },
    unit: "",
    mark: "read",
    published: {
      InfiniBand: 8 + 12 + 4 + 2,
      RoCEv1: 14 + 40 + 12 + 4 + 4,
      RoCEv2: 14 + 20 + 8 + 12 + 4 + 4,
      iWARP: 14 + 20 + 20 + 2 + 14 + 4 + 4,
    },
  },
]

/** Numbers that others have published for RoCEv2. */
const said: ReadonlyArray<Claim> = [
  {
    id: "line",
    what: "the same with preamble and gap; published by pingdo.net, Quantifying RoCE v2 Header Overhead (its summary leaves the preamble out and has 74)",
    metric: { kind: "octets", message: "middle", of: "line" },
    unit: "",
    mark: "read",
    published: { RoCEv2: 82 },
  },
  {
    id: "at-scale",
    what: "a frame of 1,086 octets with 1,024 of payload, in Guo et al., RDMA over Commodity Ethernet at Scale, SIGCOMM 2016",
    metric: { kind: "octets", message: "middle", of: "frame" },
    unit: "",
    mark: "remembered",
    published: { RoCEv2: 1086 - 1024 },
  },
]

const figure = (ethernetMtuBytes: number, path: string, claims: ReadonlyArray<Claim>): Figure => ({
  id: `octets-${ethernetMtuBytes}`,
  title: `InfiniBand, RoCE and iWARP in octets, Ethernet frames of ${ethernetMtuBytes.toLocaleString("en-US")}`,
  source: "IBTA 1.7, IEEE 802.3, RFCs 791, 768, 9293, 5040, 5041, 5044",
  section: "sizes of headers",
  about: `A WRITE, made by the wire package: native InfiniBand inside a subnet and RoCE with a path MTU of ${path} bytes, iWARP in segments that fill the frame, with CRC and without markers. Acknowledgements are not counted, nor symbols of InfiniBand's link. Nothing is simulated.`,
  scenario: {},
  extents: { quick: { scenario: {} }, full: { scenario: {} } },
  octets: { ethernetMtuBytes },
  systems,
  pictures: [{ kind: "overhead-by-size", title: "Octets that are no payload, by message size" }],
  claims,
})

export const octets1500 = figure(1500, "1,024", [...packets, ...said, ...shares])
export const octets4200 = figure(4200, "4,096", shares)
