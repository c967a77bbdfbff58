/** What has passed a world's port, and what was dropped, since it was opened. */
export interface Counters {
  rxPackets: number
  /** Octets of IP packets, those of their headers included. */
  rxBytes: number
  txPackets: number
  txBytes: number
  /** Acknowledgements that were not sent, because a later one told of the same. */
  acksMerged: number
  /** RoCEv2 packets whose invariant CRC is wrong. */
  icrcErrors: number
  /** RoCEv2 packets that no engine could read: lengths that cannot be, unknown opcodes. */
  malformed: number
  /** Frames and IP packets that are neither RoCEv2 nor anything else that is answered. */
  otherProtocols: number
  /** For another address than the port's. */
  notOurs: number
  /** For a queue pair that is not there, or a multicast group that nobody here has joined. */
  noQueuePair: number
  /** Packets to a neighbour that did not answer, or beyond those that may wait for one. */
  unresolved: number
  /** Answers to ARP, echo and neighbour discovery. */
  answers: number
  /** Errors of the socket, and packets it refused. */
  socketErrors: number
}

export const makeCounters = (): Counters => ({
  rxPackets: 0,
  rxBytes: 0,
  txPackets: 0,
  txBytes: 0,
  acksMerged: 0,
  icrcErrors: 0,
  malformed: 0,
  otherProtocols: 0,
  notOurs: 0,
  noQueuePair: 0,
  unresolved: 0,
  answers: 0,
  socketErrors: 0,
})
