/** The flags for a controller of the user's own. */
import { Flag } from "effect/cli"

export const controllerFlags = {
  controller: Flag.String("controller").pipe(
    Flag.withMetavar("MODULE"),
    Flag.withDescription("A controller of your own, in place of the input's: ./mine.ts"),
    Flag.optional,
  ),
  option: Flag.String("option").pipe(
    Flag.withMetavar("KEY=VALUE"),
    Flag.withDescription("For MODULE's make(options); may be repeated"),
    Flag.atLeast(0),
  ),
}
