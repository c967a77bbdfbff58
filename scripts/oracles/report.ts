/**
 * Opens pages that `rdmakit run` and `rdmakit claims` write in Chromium: `node --conditions=@rdmakit/source scripts/oracles/report.ts`.
 * At 1,280 and 400 pixels, light and dark: nothing on the console, no request besides the page, nothing wider than the
 * window, one picture of each chart, text that can be read on what is behind it. It ends with a line of counts, and
 * skips where there is no Chromium (`CHROMIUM` names one that is not on the path).
 */
import { spawnSync } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import { Browser, findChromium, type View } from "./Browser.ts"

const root = fileURLToPath(new URL("../..", import.meta.url))
/** Inputs whose pages differ in what they show: one size or several, queues, losses, pauses, unfinished flows. */
const inputs: ReadonlyArray<readonly [name: string, args: ReadonlyArray<string>, page?: string]> = [
  ["dumbbell", ["run", "examples/scenarios/dumbbell.yaml"]],
  ["fat-tree", ["run", "examples/scenarios/fat-tree.yaml"]],
  ["pauses", ["run", "testdata/ns3/pfcdemo/timely.config.txt"]],
  ["unfinished", ["run", "testdata/ns3/incast16/hpcc.config.txt", "--set", "SIMULATOR_STOP_TIME=2.0001"]],
  ["nothing", ["run", "examples/scenarios/incast-16.yaml", "--set", "stop=1ns"]],
  ["claims", ["claims", "hpcc-14", "hpcc-9c", "hpcc-13", "parameters"], "claims.html"],
]
const views: ReadonlyArray<View> = [1280, 400].flatMap((width) =>
  (["light", "dark"] as const).map((scheme) => ({ width, scheme })),
)

/** What is looked at in the page. */
interface Seen {
  readonly overflow: number
  readonly charts: number
  readonly pictures: number
  readonly background: string
  readonly contrast: number
  readonly fontPixels: number
}

// Contrast as in WCAG 2.2 §1.4.3: (lighter + 0.05) / (darker + 0.05) of relative luminances.
const look = `(() => {
  const luminance = (color) => {
    const [r, g, b] = color.match(/[\\d.]+/g).slice(0, 3).map((part) => {
      const c = part / 255
      return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4
    })
    return 0.2126 * r + 0.7152 * g + 0.0722 * b
  }
  const behind = (element) => {
    for (let at = element; at !== null; at = at.parentElement) {
      const color = getComputedStyle(at).backgroundColor
      if (color !== "rgba(0, 0, 0, 0)") return color
    }
    return "rgb(255, 255, 255)"
  }
  const contrast = (element) => {
    const style = getComputedStyle(element)
    const own = luminance(element.closest("svg") === null ? style.color : style.fill)
    const other = luminance(behind(element))
    return (Math.max(own, other) + 0.05) / (Math.min(own, other) + 0.05)
  }
  const shown = (element) => element.getClientRects().length > 0
  const texts = [...document.querySelectorAll("h1, h2, h3, p, dt, dd, th, td, li, svg text")].filter(shown)
  const pictures = [...document.querySelectorAll("svg")].filter(shown)
  return {
    overflow: document.documentElement.scrollWidth - document.documentElement.clientWidth,
    charts: document.querySelectorAll("svg.wide").length,
    pictures: pictures.length,
    background: getComputedStyle(document.body).backgroundColor,
    contrast: Math.min(...texts.map(contrast)),
    fontPixels: Math.min(...pictures.map((svg) => 12 * svg.getBoundingClientRect().width / svg.viewBox.baseVal.width), 12),
  }
})()`

/** What is wrong with a page in one view, in words. */
const examine = async (browser: Browser, url: string, view: View): Promise<ReadonlyArray<string>> => {
  const page = await browser.open(url, view)
  const seen = await page.evaluate<Seen>(look)
  const lightness = Number(/\d+/.exec(seen.background)?.[0])
  const faults: Array<string> = page.complaints.map((complaint) => `the console says ${complaint}`)
  const others = page.requests.filter((request) => request !== url && !request.startsWith("data:"))
  if (others.length > 0) faults.push(`asks for ${others.join(", ")}`)
  if (seen.overflow > 0) faults.push(`is ${seen.overflow} pixels too wide`)
  if (seen.pictures !== seen.charts) faults.push(`shows ${seen.pictures} pictures of ${seen.charts} charts`)
  if (lightness > 128 !== (view.scheme === "light")) faults.push(`has the background ${seen.background}`)
  if (seen.contrast < 4.5) faults.push(`has text with a contrast of ${seen.contrast.toFixed(2)}`)
  if (seen.fontPixels < 11) faults.push(`has charts with text of ${seen.fontPixels.toFixed(1)} pixels`)
  return faults
}

const program = findChromium()
if (program === undefined) {
  console.log("report: no Chromium on this machine, so its pages are not opened (apt-get install chromium)")
  console.log("0 passed, 0 failed, 1 skipped")
  process.exit(0)
}

const folder = mkdtempSync(join(tmpdir(), "rdmakit-report-"))
let passed = 0
let failed = 0
const browser = await Browser.start(program)
try {
  for (const [name, args, page = "report.html"] of inputs) {
    const out = join(folder, name)
    const command = ["--conditions=@rdmakit/source", "apps/cli/src/main.ts", ...args, "--out", out]
    const { status, stderr } = spawnSync(process.execPath, command, { cwd: root, encoding: "utf8" })
    if (status !== 0 && status !== 1) throw new Error(`${name}: rdmakit ended with ${status}\n${stderr}`)
    for (const view of views) {
      const faults = await examine(browser, pathToFileURL(join(out, page)).href, view)
      if (faults.length === 0) passed++
      else failed++
      for (const fault of faults) console.log(`${name}, ${view.width} pixels, ${view.scheme}: ${fault}`)
    }
  }
} finally {
  await browser.close()
  rmSync(folder, { recursive: true, force: true })
}
console.log(`${passed} passed, ${failed} failed`)
process.exit(failed === 0 ? 0 : 1)
