/** A worker thread: takes runs by their place, one after another, and sends back what was measured. */
import { parentPort, workerData } from "node:worker_threads"
import { figures } from "../claims/index.ts"
import { runSystem } from "./Experiment.ts"
import type { Job } from "./Jobs.ts"

const port = parentPort
if (port !== null && (workerData as { readonly role?: string } | null)?.role === "claims") {
  port.on("message", async ({ figure: id, system: name, scale }: Job) => {
    const figure = figures.find((each) => each.id === id)!
    const system = figure.systems.find((each) => each.name === name)!
    port.postMessage(await runSystem(figure, system, scale))
  })
}
