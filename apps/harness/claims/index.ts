import type { Figure } from "../src/Claim.ts"
import { growth } from "./growth.ts"
import { hpcc2, hpcc3 } from "./hpcc-2-3.ts"
import { hpcc9a, hpcc9c, hpcc9e, hpcc9g } from "./hpcc-9.ts"
import { hpcc10a, hpcc10c } from "./hpcc-10.ts"
import { hpcc11a, hpcc11c } from "./hpcc-11.ts"
import { hpcc12, hpcc12Half } from "./hpcc-12.ts"
import { hpcc13 } from "./hpcc-13.ts"
import { hpcc14 } from "./hpcc-14.ts"
import { laterHadoop30, laterHadoop50, laterWebSearch30, laterWebSearch50, laterWebSearch70 } from "./later.ts"
import { livelock } from "./livelock.ts"
import { loss12, loss100 } from "./loss.ts"
import { octets1500, octets4200 } from "./octets.ts"
import { overlay } from "./overlay.ts"
import { pintGoodput, pintSampling } from "./pint.ts"
import { collapse, collisions, parameters, remedies } from "./remedies.ts"
import { srd2, srd3, srd4 } from "./srd-incast.ts"
import { srd6, srd6Fifty, srd6Full, srd6Hundred, srdPaths, srdReroute } from "./srd-paths.ts"
import { traits } from "./traits.ts"

/** Every figure, in the order in which it is shown. */
export const figures: ReadonlyArray<Figure> = [
  hpcc2,
  hpcc3,
  hpcc9a,
  hpcc9c,
  hpcc9e,
  hpcc9g,
  hpcc10a,
  hpcc10c,
  hpcc11a,
  hpcc11c,
  hpcc12,
  hpcc12Half,
  hpcc13,
  hpcc14,
  laterWebSearch30,
  laterWebSearch50,
  laterWebSearch70,
  laterHadoop30,
  laterHadoop50,
  pintGoodput,
  pintSampling,
  collapse,
  remedies,
  collisions,
  parameters,
  srd2,
  srd3,
  srd4,
  srd6,
  srd6Fifty,
  srd6Hundred,
  srd6Full,
  srdPaths,
  srdReroute,
  livelock,
  loss12,
  loss100,
  overlay,
  growth,
  traits,
  octets1500,
  octets4200,
]
