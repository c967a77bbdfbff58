import type { System } from "../src/Claim.ts"

/** The systems that HPCC's simulations compare, as its repository sets them up (run.py). */
export const hpcc: System = { name: "HPCC", scenario: { controller: { name: "hpcc", preset: "simulation" } } }
export const dcqcn: System = { name: "DCQCN", scenario: { controller: { name: "dcqcn", preset: "simulation" } } }
export const dcqcnWindow: System = {
  name: "DCQCN+win",
  scenario: { controller: { name: "dcqcn", preset: "simulation+w" } },
}
export const timely: System = { name: "TIMELY", scenario: { controller: { name: "timely", preset: "simulation" } } }
export const timelyWindow: System = {
  name: "TIMELY+win",
  scenario: { controller: { name: "timely", preset: "simulation+w" } },
}
export const dctcp: System = { name: "DCTCP", scenario: { controller: { name: "dctcp", preset: "simulation" } } }
