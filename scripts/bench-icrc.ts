/**
 * Measures the ICRC: `node --conditions=@rdmakit/source scripts/bench-icrc.ts`. For each length of a packet the gigabytes a second
 * of processor time, in JavaScript, by zlib and by WebAssembly's vectors, each the best of twenty rounds.
 */
import * as Fast from "../packages/wire/src/node.ts"
import * as Plain from "../packages/wire/src/Roce.ts"
import { crc32 } from "../packages/wire/src/simd.ts"

const OCTETS_EACH = 40_000_000
const ROUNDS = 20
/** Ethernet, IPv4, UDP, BTH. */
const HEADERS_BYTES = 54

const measure = (icrcOf: (octets: Uint8Array, place: Plain.IcrcPlace) => number, payloadBytes: number): string => {
  const icrc = HEADERS_BYTES + payloadBytes
  const octets = Uint8Array.from({ length: icrc + 4 }, (_, at) => (at * 7919) >>> 3)
  octets[14] = 0x45
  const place = { carrier: "ipv4", header: 14, bth: 42, icrc } as const
  const times = Math.floor(OCTETS_EACH / octets.length)
  let best = Number.POSITIVE_INFINITY
  for (let round = 0; round < ROUNDS; round++) {
    const before = process.cpuUsage()
    for (let count = 0; count < times; count++) icrcOf(octets, place)
    const { user, system } = process.cpuUsage(before)
    best = Math.min(best, user + system)
  }
  return ((times * octets.length) / best / 1000).toFixed(2)
}

const byVectors = (octets: Uint8Array, place: Plain.IcrcPlace): number => Plain.icrcOf(octets, place, crc32)

console.log("payload   JavaScript   zlib, by length   vectors, by length   GB/s")
for (const payloadBytes of [0, 64, 256, 512, 1024, 2048, 4096]) {
  const [plain, fast, vectors] = [Plain.icrcOf, Fast.icrcOf, byVectors].map((icrcOf) => measure(icrcOf, payloadBytes))
  console.log(
    `${`${payloadBytes}`.padStart(7)}   ${plain!.padStart(10)}   ${fast!.padStart(15)}   ${vectors!.padStart(18)}`,
  )
}
