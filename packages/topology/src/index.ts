export { type Graph, GraphBuilder, hostsOf, type Link, type LinkOptions, validate } from "./Graph.ts"
export { Ports } from "./Ports.ts"
export { Routes, type RoutesOptions } from "./Routes.ts"
export { TopologyError, type TopologyErrorKind } from "./TopologyError.ts"
