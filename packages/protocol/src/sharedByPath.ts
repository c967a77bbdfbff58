import type { PathInfo } from "./Controller.ts"

/**
 * What a controller reckons from its path, once for flows on paths that are alike: it is made anew only where a path is
 * unlike that of the flow before. Flows that share it find it in the cache.
 */
export const sharedByPath = <Law>(make: (path: PathInfo) => Law): ((path: PathInfo) => Law) => {
  let before: PathInfo | undefined
  let law: Law
  return (path) => {
    if (before === undefined || !isAlike(before, path)) {
      law = make(path)
      // A copy: the caller's may be one object for all flows.
      before = { ...path }
    }
    return law
  }
}

/** In all that is not a flow's own: its number. */
const isAlike = (a: PathInfo, b: PathInfo): boolean =>
  a.lineRateBps === b.lineRateBps &&
  a.baseRttPs === b.baseRttPs &&
  a.windowBytes === b.windowBytes &&
  a.mtuBytes === b.mtuBytes &&
  a.timeModulusPs === b.timeModulusPs &&
  a.bytesModulus === b.bytesModulus &&
  a.seed === b.seed
