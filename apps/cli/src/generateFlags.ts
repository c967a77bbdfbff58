/** The flags of `generate`, and the fields of a scenario that they give. No more than names: help loads this file. */
import type { FieldFlag } from "./FlagFields.ts"

/** A flag with a value. */
export interface GenerateFlag extends FieldFlag {
  readonly metavar: string
  readonly description: string
}

const link = (prefix: string, key: string, which: string): ReadonlyArray<GenerateFlag> => [
  {
    name: `--${prefix}rate`,
    path: [key, "rate"],
    metavar: "RATE",
    description: `Rate of the ${which}, such as 100Gbps`,
  },
  {
    name: `--${prefix}delay`,
    path: [key, "delay"],
    metavar: "TIME",
    description: `Delay of the ${which}, such as 1us`,
  },
  {
    name: `--${prefix}loss`,
    path: [key, "loss"],
    metavar: "SHARE",
    description: `Share of packets lost on the ${which}`,
  },
]

const count = (name: string, key: string, description: string): GenerateFlag => ({
  ...{ name, path: [key], metavar: "N", description },
})

export const topologyFlags: ReadonlyArray<GenerateFlag> = [
  count("--hosts", "hosts", "Hosts (star)"),
  count("--k", "k", "Ports of a switch (fat-tree)"),
  count("--leaves", "leaves", "Leaves (leaf-spine)"),
  count("--spines", "spines", "Spines (leaf-spine)"),
  count("--hosts-per-leaf", "hostsPerLeaf", "Hosts of a leaf (leaf-spine)"),
  count("--parallel", "parallel", "Links from a leaf to a spine (leaf-spine)"),
  count("--pods", "pods", "Pods (clos)"),
  count("--tors-per-pod", "torsPerPod", "Top-of-rack switches of a pod (clos)"),
  count("--aggs-per-pod", "aggsPerPod", "Aggregation switches of a pod (clos)"),
  count("--cores-per-agg", "coresPerAgg", "Core switches of an aggregation switch (clos)"),
  count("--hosts-per-tor", "hostsPerTor", "Hosts of a top-of-rack switch (clos)"),
  count("--left", "left", "Hosts on one side (dumbbell)"),
  count("--right", "right", "Hosts on the other (dumbbell)"),
  count("--switches", "switches", "Switches (ring)"),
  count("--hosts-per-switch", "hostsPerSwitch", "Hosts of a switch (ring)"),
  ...link("", "link", "hosts' links"),
  ...link("fabric-", "fabric", "links between switches"),
  ...link("bottleneck-", "bottleneck", "link in the middle (dumbbell)"),
]

const time = (name: string, key: string, description: string): GenerateFlag => ({
  ...{ name, path: [key], metavar: "TIME", description },
})

export const flowFlags: ReadonlyArray<GenerateFlag> = [
  {
    name: "--load",
    path: ["load"],
    metavar: "SHARE",
    description: "Payload as a share, such as 0.3 (poisson, random-incast)",
  },
  { name: "--of", path: ["of"], metavar: "WHAT", description: "hosts: of their links (default); bisection (poisson)" },
  { name: "--bisection", path: ["bisection"], metavar: "RATE", description: "In place of the topology's (poisson)" },
  { name: "--sizes", path: ["sizes"], metavar: "SIZES", description: "WebSearch, FB_Hadoop, AliStorage2019 or a file" },
  { name: "--size", path: ["size"], metavar: "SIZE", description: "Of every flow, such as 500KB" },
  time("--duration", "duration", "In which flows start, such as 100ms (poisson, random-incast)"),
  time("--start", "start", "When it begins (default: 2s, as the simulator has it)"),
  count("--seed", "seed", "Of all that is random, 0..4294967295 (default: 0)"),
  count("--priority", "priority", "Priority group, 1..7 (default: 3)"),
  count("--fan-in", "fanIn", "Senders of an incast"),
  { name: "--senders", path: ["senders"], metavar: "HOSTS", description: "In their place, such as 0..15 (incast)" },
  { name: "--receiver", path: ["receiver"], metavar: "HOST", description: "Of an incast (default: drawn)" },
  time("--jitter", "jitter", "In which the senders of an incast start"),
  count("--rounds", "rounds", "How often (permutation, ring)"),
  time("--gap", "gap", "From round to round (permutation, ring, all-to-all)"),
]
