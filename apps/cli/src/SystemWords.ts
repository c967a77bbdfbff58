/** By the system's code: why a file cannot be read or written. */
const WORDS: Readonly<Record<string, string>> = {
  EACCES: "permission denied",
  EPERM: "permission denied",
  EROFS: "the file system is read-only",
  EISDIR: "it is a folder",
  ENOTDIR: "a part of its path is a file, and no folder",
  EEXIST: "a part of its path is a file, and no folder",
  ELOOP: "its symbolic links lead back to themselves",
  ENAMETOOLONG: "its name is too long",
  ENOSPC: "there is no room left on the disk",
  EDQUOT: "there is no room left in the quota",
  EFBIG: "it would be larger than a file may be",
  EMFILE: "too many files are open",
  ENFILE: "too many files are open",
  EBUSY: "it is in use",
  EIO: "the disk has failed",
}

/** The system's code in an error of Node, or in one of Effect that has it as its cause. */
export const systemCode = (error: unknown): string | undefined => {
  if (!(error instanceof Error)) return undefined
  if ("code" in error && typeof error.code === "string") return error.code
  return systemCode(error.cause)
}

/** Why a file cannot be read or written, for users: messages of Node and Effect name calls and temporary folders. */
export const systemWords = (error: unknown): string => {
  const code = systemCode(error)
  return (code === undefined ? undefined : WORDS[code]) ?? `the system says ${code ?? "no more"}`
}
