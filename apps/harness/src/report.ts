/** The page of claims; apart from the rest, so that what draws it is loaded only where it is used. */
export { claimsPage } from "./Page.ts"
