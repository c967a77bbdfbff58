export * from "./hpcc/HpccInt.ts"
export * from "./hpcc/Ns3Int.ts"
