export * from "./mpa/Connect.ts"
export * from "./mpa/Fpdu.ts"
export * from "./mpa/Framer.ts"
export * from "./mpa/Stream.ts"
