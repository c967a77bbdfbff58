import type { PathInfo } from "@rdmakit/protocol"

/**
 * What is the same for flows on paths that are alike: made anew only where a path is unlike that of the flow before.
 * Flows that share it find it in the cache.
 */
export const shared = <Constants>(make: (path: PathInfo) => Constants): ((path: PathInfo) => Constants) => {
  let before: PathInfo | undefined
  let constants: Constants
  return (path) => {
    if (before === undefined || !isAlike(before, path)) constants = make(path)
    before = path
    return constants
  }
}

/** In all that is not a flow's own. */
const isAlike = (a: PathInfo, b: PathInfo): boolean =>
  a.lineRateBps === b.lineRateBps &&
  a.baseRttPs === b.baseRttPs &&
  a.windowBytes === b.windowBytes &&
  a.mtuBytes === b.mtuBytes &&
  a.timeModulusPs === b.timeModulusPs &&
  a.bytesModulus === b.bytesModulus
