/** What a scheduler keeps in its lists: it knows its own place. */
export interface Placed {
  /** The scheduler's to set; `NOWHERE` at first. In a heap it is the index, 0 or more. */
  place: number
}

/** `place` of what is in no list. */
export const NOWHERE = -1
