import type { Case } from "./Case.ts"
import { failureCases } from "./failures.ts"
import { localCases } from "./local.ts"
import { operationCases } from "./operations.ts"

/** All that is recorded between two kernels, and asked of ours. */
export const cases: ReadonlyArray<Case> = [...operationCases, ...failureCases, ...localCases]
