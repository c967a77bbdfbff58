import { scenarioJsonSchema } from "@rdmakit/scenario"
import { print } from "./Screen.ts"

/** Prints the JSON Schema of scenarios. */
export const printSchema = print(JSON.stringify(scenarioJsonSchema(), null, 2))
