import { Effect } from "effect"
import { type CliError, CliOutput } from "effect/cli"
import { paintOf } from "./Paint.ts"
import { Screen } from "./Screen.ts"
import { inOneLine, withOwnColors } from "./Shown.ts"

/** Help and version go to the screen; a wrong command line gets what is wrong and where to read on, not the whole help. */
export const presenterOf = (
  screen: typeof Screen.Service,
  /** What else is to be done with what is wrong. */
  wrong: (sentences: string) => Effect.Effect<void, never, Screen>,
): CliOutput.Presenter => ({
  present: (event) => {
    const formatter = CliOutput.defaultFormatter({ colors: screen.out.color })
    switch (event._tag) {
      case "Help":
        return screen.out.write(`${withOwnColors(spaced(formatter.formatHelpDoc(event.helpDoc)))}\n`)
      case "Version":
        return screen.out.write(`${event.name} ${event.version}\n`)
      case "InvalidInvocation":
        return Effect.gen(function* () {
          const paint = paintOf(screen.err)
          yield* Effect.provideService(wrong(event.errors.map(sentence).join("; ")), Screen, screen)
          for (const error of event.errors) {
            yield* screen.err.write(`${paint.red("error:")} ${paint.bold(inOneLine(sentence(error)))}\n`)
          }
          const command = event.commandPath.join(" ")
          yield* screen.err.write(`usage: ${event.helpDoc.usage}\n`)
          yield* screen.err.write(`${paint.dim(`'${command} --help' has examples.`)}\n`)
        })
    }
  },
})

/** With the blank line before the examples that the formatter leaves out after subcommands. */
const spaced = (help: string): string =>
  help
    .split("\n")
    .map((line, index, lines) => (isHeading(line, "EXAMPLES") && lines[index - 1] !== "" ? `\n${line}` : line))
    .join("\n")

/** A heading may be painted. */
const isHeading = (line: string, heading: string): boolean => !line.startsWith(" ") && line.includes(heading)

/** What is wrong, and what was probably meant. */
const sentence = (error: CliError.NonShowHelpErrors): string => {
  switch (error._tag) {
    case "UnknownSubcommand":
      return `there is no command "${error.subcommand}"${meant(error.suggestions)}`
    case "UnrecognizedOption":
      return `there is no flag ${error.option}${isLetter(error.option) ? "" : meant(error.suggestions)}`
    case "MissingArgument":
      return `${error.argument} is missing`
    case "UnexpectedArgument":
      return `too many arguments: ${error.arguments.join(" ")}`
    case "InvalidValue":
      return `${error.message}${meant(spelledAs(error.value, error.expected))}`
    default:
      return error.message
  }
}

/** A flag of one letter is as near to each of the others. */
const isLetter = (option: string): boolean => /^-[^-]$/.test(option)

/** The choices that a value is in other letters: `ib_write_bw`, `Write_BW` for `write-bw`. */
const spelledAs = (value: string, expected: string): ReadonlyArray<string> => {
  const spelled = value.toLowerCase().replaceAll("_", "-")
  const choices = [...expected.matchAll(/"([^"]+)"/g)].map(([, choice]) => choice!)
  return choices.filter((choice) => spelled === choice || spelled.endsWith(`-${choice}`))
}

const meant = (suggestions: ReadonlyArray<string>): string =>
  suggestions.length === 0 ? "" : `; did you mean ${suggestions.join(" or ")}?`
