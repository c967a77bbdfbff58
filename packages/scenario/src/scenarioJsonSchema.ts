/** The JSON Schema of scenarios, for editors and other programs. */
import { type JsonSchema, Schema } from "effect"
import { controllers, type NamedController, type OptionKind } from "./Controllers.ts"
import { Flow, FlowFile, scenarioSchema, TransportSection } from "./ScenarioSchema.ts"
import { builders, ExplicitTopology, TopologyFile } from "./ScenarioTopologies.ts"
import { workloads } from "./ScenarioWorkloads.ts"
import { type NamedTransport, transports } from "./Transports.ts"
import { type Written, writtenOption, writtenSome, writtenWord } from "./WrittenFields.ts"

type AnyStruct = Schema.Struct<Schema.Struct.Fields>

/**
 * The JSON Schema (draft 2020-12) of a scenario, made from the schema that reads one: every topology, workload,
 * transport and controller by name with its options. Whatever `loadScenario` accepts fits it. It refuses what is wrong
 * in one place, such as a word, a unit, a number out of its range; a workload without a size; an admission without a
 * limit; an option of another variant. The ranges of a controller's and a transport's options, what two places say
 * together, and files it leaves to `loadScenario`.
 *
 * @param registry controllers that scenarios can name
 */
export const scenarioJsonSchema = (
  registry: ReadonlyMap<string, NamedController> = controllers,
): JsonSchema.JsonSchema => {
  const topology = Schema.Union([
    ...namedOf("builder", builders),
    TopologyFile as AnyStruct,
    ExplicitTopology as AnyStruct,
  ])
  const byName = namedOf("workload", workloads)
  const flows = Schema.Union([
    FlowFile as AnyStruct,
    ...byName,
    Schema.Array(Schema.Union([Flow as AnyStruct, ...byName])),
  ])
  const { fields } = scenarioSchema(topology as unknown as Written, flows as unknown as Written)
  const controller = Schema.Union([...registry].flatMap(([name, named]) => controllerOf(name, named)))
  const transport = Schema.Union([reliableConnections, ...[...transports].map(transportOf)])
  const scenario = Schema.Struct({
    ...fields,
    controller: Schema.optionalKey(controller),
    transport: Schema.optionalKey(transport),
  })
  const { schema, definitions } = Schema.toJsonSchemaDocument(scenario, { onExcessProperty: "error" })
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "rdmakit scenario",
    ...schema,
    ...(Object.keys(definitions).length === 0 ? {} : { $defs: definitions }),
  }
}

/** Choices by name: each is a struct in which `key` is the name. */
const namedOf = (key: string, choices: Readonly<Record<string, { readonly schema: unknown }>>): Array<AnyStruct> =>
  Object.entries(choices).map(([name, { schema }]) =>
    (schema as AnyStruct).mapFields((fields) => ({ ...fields, [key]: Schema.Literal(name) }), {
      unsafePreserveChecks: true,
    }),
  )

const { options: _, ...ownFields } = TransportSection.fields
/** The transport whose fields stand beside its name, which may be left out. */
const reliableConnections = Schema.Struct({ ...ownFields, name: Schema.optionalKey(Schema.Literal("rc")) })

const transportOf = ([name, { options }]: readonly [string, NamedTransport]) =>
  Schema.Struct({
    name: Schema.Literal(name),
    options: Schema.optionalKey(optionsOf(options)),
    baseRtt: ownFields.baseRtt,
  })

const optionsOf = (kinds: Readonly<Record<string, OptionKind>>) =>
  Schema.Struct(
    Object.fromEntries(
      Object.entries(kinds).map(([option, kind]) => [option, Schema.optionalKey(writtenOptionOf(kind))]),
    ),
  )

const writtenOptionOf = (kind: OptionKind): Written =>
  typeof kind === "string" ? writtenOption[kind] : writtenWord(kind)

/** A struct for each variant: its presets and its options. The first preset of all needs neither to be named. */
const controllerOf = (name: string, { presets, preset, variants }: NamedController): Array<AnyStruct> =>
  Object.entries(variants).map(([variant, kinds]) => {
    const own = Object.keys(presets).filter((each) => presets[each]!.variant === variant)
    const struct = Schema.Struct({
      name: Schema.Literal(name),
      ...(own.length === 0 ? {} : { preset: Schema.optionalKey(Schema.Literals(own)) }),
      variant: Schema.optionalKey(Schema.Literal(variant)),
      options: Schema.optionalKey(optionsOf(kinds)),
    })
    return presets[preset]?.variant === variant ? struct : struct.check(writtenSome("preset", "variant"))
  })
