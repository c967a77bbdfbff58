import { type ControllerFactory, fireTimer, NEVER, type PathInfo, type Time } from "@rdmakit/protocol"
import { fail } from "./ContractViolation.ts"
import type { Check } from "./controllerChecks.ts"
import { Draws } from "./Draws.ts"
import { type AckScript, type Hop, scriptedAck } from "./scriptedAck.ts"
import { WatchedController } from "./WatchedController.ts"

const MODULUS_PS = 2 ** 24 * 1000
const MODULUS_BYTES = 2 ** 24
/** PINT digests: none, the least, about a full link, the largest of one octet and of two. */
const DIGESTS = [-1, 0, 100, 128, 255, 65_535]

const usual: PathInfo = {
  lineRateBps: 10e9,
  baseRttPs: 10e6,
  windowBytes: 12_500,
  mtuBytes: 1000,
  timeModulusPs: MODULUS_PS,
  bytesModulus: MODULUS_BYTES,
  flow: 0,
  seed: 1,
}

/** Networks from one end of the field to the other. */
const paths: Readonly<Record<string, PathInfo>> = {
  usual,
  "no window": { ...usual, windowBytes: 0 },
  "a bandwidth-delay product below one packet": { ...usual, baseRttPs: 100_000, windowBytes: 125 },
  "1 Mb/s and a second": { ...usual, lineRateBps: 1e6, baseRttPs: 1e12, windowBytes: 125_000 },
  "800 Gb/s": { ...usual, lineRateBps: 800e9, windowBytes: 1_000_000 },
  "counters that never wrap": { ...usual, timeModulusPs: NEVER, bytesModulus: NEVER },
}

const hop = (timePs: number, bytes: number, queueBytes = 0, rateBps = 10e9): Hop => [
  timePs % MODULUS_PS,
  bytes % MODULUS_BYTES,
  queueBytes,
  rateBps,
]

/** A few ordinary acknowledgements, then what the script says. */
const afterWarmUp =
  (factory: ControllerFactory, script: ReadonlyArray<AckScript>): (() => void) =>
  () => {
    for (const path of Object.values(paths)) {
      const controller = new WatchedController(factory.make(0, path), 0, path)
      let now = 0
      const feed = (each: AckScript): void => {
        now += 1e6
        while (controller.nextTimer <= now) fireTimer(controller, controller.nextTimer)
        controller.onSent(now, 1000)
        controller.onAck(now, scriptedAck(each))
      }
      for (let i = 1; i <= 20; i++) feed({ sequence: 1000 * i, hops: [hop(i * 1e6, i * 1000)] })
      for (const each of script) feed(each)
      for (let i = 21; i <= 40; i++) feed({ sequence: 1000 * i, hops: [hop(i * 1e6, i * 1000)] })
      controller.metrics()
    }
  }

const scripts: Readonly<Record<string, ReadonlyArray<AckScript>>> = {
  "a round trip of no time": [
    { sequence: 21_000, rttPs: 0, hops: [hop(21e6, 21_000)] },
    { sequence: 32_000, rttPs: 0, hops: [hop(22e6, 22_000)] },
  ],
  "a round trip of an hour": [
    { sequence: 21_000, rttPs: 3600e12, congestion: true, hops: [hop(21e6, 21_000, 1e12)] },
    { sequence: 32_000, rttPs: 3600e12, congestion: true, hops: [hop(22e6, 22_000, 1e12)] },
  ],
  "no time stamp": [
    { sequence: 21_000, rttPs: Number.NaN },
    { sequence: 32_000, rttPs: Number.NaN },
  ],
  "no telemetry": [{ sequence: 21_000 }, { sequence: 32_000 }],
  "no new bytes": [{ sequence: 20_000, bytes: 0, hops: [hop(21e6, 21_000)] }],
  "equal telemetry twice (B39)": [
    { sequence: 21_000, hops: [hop(21e6, 21_000, 5000)] },
    { sequence: 32_000, hops: [hop(21e6, 21_000, 5000)] },
    { sequence: 43_000, hops: [hop(21e6, 22_000, 5000)] },
  ],
  "counters that wrap": [
    { sequence: 21_000, hops: [hop(MODULUS_PS - 1000, MODULUS_BYTES - 1000)] },
    { sequence: 32_000, hops: [hop(1e6, 500)] },
  ],
  "telemetry that goes back in time": [
    { sequence: 21_000, hops: [hop(9e6, 9000)] },
    { sequence: 32_000, hops: [hop(8e6, 8000)] },
  ],
  "a change of path, shorter and longer": [
    { sequence: 21_000, pathId: 2, hops: [hop(1e6, 0), hop(2e6, 9e6), hop(3e6, 0, 7000, 400e9)] },
    { sequence: 32_000, pathId: 2, hops: [hop(2e6, 1000), hop(3e6, 9_001_000), hop(4e6, 1000, 7000, 400e9)] },
    { sequence: 43_000, pathId: 3, hops: Array.from({ length: 12 }, (_, i) => hop(4e6, i * 1000)) },
    { sequence: 54_000, pathId: 3, hops: Array.from({ length: 12 }, (_, i) => hop(6e6, i * 2000)) },
    { sequence: 65_000, pathId: 2, hops: [hop(7e6, 0)] },
  ],
  "a link without rate": [
    { sequence: 21_000, hops: [hop(21e6, 21_000, 0, 0)] },
    { sequence: 32_000, hops: [hop(22e6, 22_000, 0, 0)] },
  ],
  "go-back-N: what was sent falls": [
    { sequence: 20_000, sent: 20_000, bytes: 0, hops: [hop(21e6, 21_000)] },
    { sequence: 20_000, sent: 21_000, bytes: 0, hops: [hop(22e6, 22_000)] },
  ],
  "digests from one end to the other, and none": [
    { sequence: 21_000, pint: 0 },
    { sequence: 32_000, pint: 65_535 },
    { sequence: 43_000, pint: -1 },
  ],
  "an acknowledgement of nothing": [{ sequence: 0, sent: 0, bytes: 0 }],
  duplicates: Array.from({ length: 50 }, () => ({ sequence: 20_000, bytes: 0, hops: [hop(21e6, 21_000)] })),
  "bytes past 2^32 and 2^52": [
    { sequence: 2 ** 32 + 1000, bytes: 2 ** 32, hops: [hop(21e6, 21_000)] },
    { sequence: 2 ** 52 + 1000, bytes: 2 ** 52, hops: [hop(22e6, 22_000)] },
  ],
}

/** What takes no network: single acknowledgements, as odd as they come. */
export const extremeChecks = (factory: ControllerFactory): ReadonlyArray<Check> => [
  {
    name: "starts at a rate and a window within bounds, on any path",
    run: () => {
      for (const path of Object.values(paths)) new WatchedController(factory.make(5e6, path), 5e6, path).metrics()
    },
  },
  ...Object.entries(scripts).map(([name, script]) => ({ name: `bears ${name}`, run: afterWarmUp(factory, script) })),
  { name: "bears losses, timeouts and notifications, at any moment", run: () => signals(factory) },
  { name: "bears whatever comes", run: () => whatever(factory) },
  { name: "keeps flows apart", run: () => apart(factory) },
]

const signals = (factory: ControllerFactory): void => {
  for (const path of Object.values(paths)) {
    const controller = new WatchedController(factory.make(0, path), 0, path)
    controller.onLoss(0, true)
    controller.onCnp(0)
    for (let i = 1; i <= 200; i++) {
      const now = i * 7e6
      while (controller.nextTimer <= now) fireTimer(controller, controller.nextTimer)
      if (i % 3 === 0) controller.onLoss(now, i % 2 === 0)
      if (i % 5 === 0) controller.onCnp(now)
      controller.onAck(now, scriptedAck({ sequence: 1000 * i, congestion: i % 7 === 0, hops: [hop(now, i * 1000)] }))
    }
    controller.metrics()
  }
}

const whatever = (factory: ControllerFactory): void => {
  Object.values(paths).forEach((path, seed) => {
    const draws = new Draws(seed)
    const controller = new WatchedController(factory.make(0, path), 0, path)
    let now: Time = 0
    let sequence = 0
    for (let i = 0; i < 500; i++) {
      now += draws.pick([0, 1, 1000, 1e6, 50e6, 1e9]) * draws.below(3)
      // A timer with a short period is not to be run a million times over a long pause.
      for (let turn = 0; turn < 100 && controller.nextTimer <= now; turn++) fireTimer(controller, controller.nextTimer)
      if (controller.nextTimer < now) now = controller.nextTimer
      const kind = draws.below(20)
      if (kind === 0) controller.onLoss(now, draws.below(2) === 0)
      else if (kind === 1) controller.onCnp(now)
      else if (kind === 2) controller.onSent(now, draws.below(9000))
      else {
        const bytes = draws.pick([0, 1, 1000, 1e6])
        sequence += bytes
        controller.onAck(
          now,
          scriptedAck({
            sequence,
            bytes,
            sent: sequence + draws.pick([0, 1, 1000, 100_000, 1e9]),
            rttPs: draws.pick([Number.NaN, 0, 1, 9_999_999, 10e6, 60e6, 400e6, 1e9, 1e15]),
            congestion: draws.below(2) === 0,
            pathId: draws.below(8) === 0 ? 2 : 1,
            pint: DIGESTS[i % DIGESTS.length]!,
            hops: Array.from({ length: draws.pick([0, 1, 1, 3, 9]) }, () =>
              hop(
                draws.below(2) === 0 ? now : draws.below(MODULUS_PS),
                draws.below(MODULUS_BYTES),
                draws.pick([0, 1, 80_000, 1e12]),
                draws.pick([10e9, 25e9, 800e9, 1e6, 0]),
              ),
            ),
          }),
        )
      }
    }
    controller.metrics()
  })
}

const apart = (factory: ControllerFactory): void => {
  const [busy, idle] = [factory.make(0, usual), factory.make(0, usual)]
  const before = [idle.rate, idle.window, idle.nextTimer]
  for (let i = 1; i <= 100; i++) {
    const now = i * 1e6
    busy.onCnp(now)
    busy.onLoss(now, true)
    busy.onAck(now, scriptedAck({ sequence: 1000 * i, congestion: true, rttPs: i * 20e6, hops: [hop(now, 0, 1e6)] }))
  }
  const after = [idle.rate, idle.window, idle.nextTimer]
  if (!(before.join() === after.join())) fail("what one flow was told changed another flow's controller")
}
