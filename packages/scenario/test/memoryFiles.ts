import { Effect, FileSystem, Layer, Path, PlatformError } from "effect"

/** A file system of these files, by absolute path; a path that ends in "/" is a folder. */
export const memoryFiles = (
  files: Readonly<Record<string, string | Uint8Array>>,
): Layer.Layer<FileSystem.FileSystem | Path.Path> => {
  const missing = (method: string, path: string) =>
    PlatformError.systemError({ _tag: "NotFound", module: "FileSystem", method, pathOrDescriptor: path })
  return Layer.merge(
    Path.layer,
    FileSystem.layerNoop({
      stat: (path) => {
        if (Object.hasOwn(files, `${path}/`)) return Effect.succeed(info("Directory"))
        return Object.hasOwn(files, path) ? Effect.succeed(info("File")) : Effect.fail(missing("stat", path))
      },
      readFile: (path) => {
        const content = files[path]
        if (content === undefined) return Effect.fail(missing("readFile", path))
        return Effect.succeed(typeof content === "string" ? new TextEncoder().encode(content) : content)
      },
    }),
  )
}

const info = (type: FileSystem.File.Type) => ({ type }) as FileSystem.File.Info
