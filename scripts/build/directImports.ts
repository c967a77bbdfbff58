const imports = /^import \{([^}]*)\} from "(effect(?:\/[a-z]+)?)"/gm

/**
 * The source with each module of Effect imported by itself: `import * as Schema from "effect/Schema"` in the place of
 * `import { Schema } from "effect"`. That is the same module; but of the latter the bundler keeps all, since it is an
 * object there, and of the former what is used. Types fall away.
 */
export const directly = (source: string): string =>
  source.replace(imports, (_, list: string, from: string) =>
    list
      .split(",")
      .map((name) => name.trim())
      .filter((name) => name !== "" && !name.startsWith("type "))
      .map((name) => moduleImport(name, from))
      .join("; "),
  )

const moduleImport = (name: string, from: string): string => {
  if (!/^[A-Z]\w*$/.test(name)) throw new Error(`${from} has no module ${name}: import it from the module it is in`)
  return `import * as ${name} from "${from}/${name}"`
}
