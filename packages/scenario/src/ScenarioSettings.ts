import type { AdmissionModel, EcnRule, SwitchSettings, TransportSettings, WatchdogSettings } from "@rdmakit/fabric"
import type { Ports } from "@rdmakit/topology"
import { Admission, type AdmissionLimits } from "@rdmakit/workload"
import type { ScenarioAdmission, ScenarioSwitch, ScenarioTransport } from "./ScenarioSchema.ts"

/** What is there, under other names: an absent field stays absent. */
const renamed = <A extends object>(values: object, names: Readonly<Record<string, keyof A>>): A => {
  const result: Partial<Record<keyof A, unknown>> = {}
  for (const [key, value] of Object.entries(values)) {
    const name = names[key]
    if (name !== undefined && value !== undefined) result[name] = value
  }
  return result as A
}

export const switchSettings = (section: ScenarioSwitch): SwitchSettings => ({
  ...renamed<SwitchSettings>(section, {
    buffer: "bufferBytes",
    lossless: "lossless",
    headroom: "headroomBytes",
    reserve: "reserveBytes",
    resumeOffset: "resumeOffsetBytes",
    ecn: "ecn",
    loadBalancer: "loadBalancer",
    flowletGap: "flowletGapPs",
  }),
  ...thresholdOf(section),
  ...(section.ecnRules === undefined
    ? {}
    : {
        ecnRules: new Map(
          section.ecnRules.map(({ rate, kmin, kmax, pmax }): [number, EcnRule] => [
            rate,
            { kminBytes: kmin, kmaxBytes: kmax, pmax },
          ]),
        ),
      }),
})

const thresholdOf = (section: ScenarioSwitch): Pick<SwitchSettings, "threshold"> => {
  const bytes = section.pauseThreshold ?? section.egressThreshold
  const alpha = section.pauseAlpha ?? section.egressAlpha
  if (bytes !== undefined) return { threshold: { bytes } }
  return alpha === undefined ? {} : { threshold: { alpha } }
}

/** A PFC watchdog with the times of a scenario; undefined where it has none. */
export const watchdogSettings = ({ watchdog }: ScenarioSwitch): WatchdogSettings | undefined =>
  watchdog === undefined
    ? undefined
    : renamed<WatchdogSettings>(watchdog, {
        detection: "detectionPs",
        restoration: "restorationPs",
        action: "action",
      })

/** With the marking that suits the controller at every rate for which the scenario gives none. */
export const withMarking = (
  settings: SwitchSettings,
  marking: ((linkRateBps: number) => EcnRule) | undefined,
  ports: Ports,
): SwitchSettings => {
  if (marking === undefined) return settings
  const rules = new Map<number, EcnRule>()
  for (const rateBps of ports.rateBps) if (!rules.has(rateBps)) rules.set(rateBps, marking(rateBps))
  return { ...settings, ecnRules: new Map([...rules, ...(settings.ecnRules ?? [])]) }
}

/** Admission control with the limits of a scenario; undefined where it has none. */
export const admissionModel = (section: ScenarioAdmission): AdmissionModel | undefined => {
  const limits = renamed<AdmissionLimits>(section, {
    flowsPerReceiver: "flowsPerReceiver",
    flowsPerSender: "flowsPerSender",
    creditPerReceiver: "creditBytesPerReceiver",
  })
  if (Object.keys(limits).length === 0) return undefined
  return { make: (flows) => new Admission(limits, flows), grantDelayPs: section.grantDelay ?? 0 }
}

/** The settings that fields of `transport` stand for. */
export const transportNames: Readonly<
  Record<Exclude<keyof ScenarioTransport, "name" | "options">, keyof TransportSettings>
> = {
  mtu: "mtuBytes",
  framing: "framing",
  baseRtt: "baseRtt",
  ackEvery: "ackEvery",
  nakInterval: "nakIntervalPs",
  ackDuplicates: "ackDuplicates",
  ackTimeout: "ackTimeoutPs",
  retryCount: "retryCount",
  repace: "repace",
  recovery: "recovery",
  restartSize: "restartBytes",
  bdpPackets: "bdpPackets",
  reorderPackets: "reorderPackets",
  ackTimeoutHigh: "ackTimeoutHighPs",
  ackTimeoutFewPackets: "ackTimeoutFewPackets",
}

export const transportSettings = (section: ScenarioTransport): TransportSettings =>
  renamed<TransportSettings>(section, transportNames)
