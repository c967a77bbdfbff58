/** Why octets are no packet of the verbs. */
export const Refusal = {
  None: 0,
  /** Another protocol than IP, or than UDP in it. */
  Protocol: 1,
  /** A fragment of a packet. */
  Fragment: 2,
  /** A length that contradicts another, the opcode, or the octets there are; a payload beyond 4,096 octets. */
  Length: 3,
  /** IPv4's checksum of its header. */
  Checksum: 4,
  /** UDP to another port than 4791. */
  Port: 5,
  /** An opcode that is reserved, or that a packet record has no room for. */
  Opcode: 6,
  /** A version of the BTH other than 0, or of SRD's header another than its own. */
  Version: 7,
  /** A wrong invariant CRC. */
  Icrc: 8,
} as const
export type Refusal = (typeof Refusal)[keyof typeof Refusal]

/** For people, by number. */
export const refusalNames: ReadonlyArray<string> = [
  "none",
  "another protocol",
  "a fragment",
  "a length that cannot be",
  "wrong IPv4 checksum",
  "another UDP port",
  "unknown opcode",
  "another version",
  "wrong ICRC",
]
