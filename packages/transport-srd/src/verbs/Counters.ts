import { EfaStatus } from "./EfaStatus.ts"
import type { Message } from "./Message.ts"
import { Operation } from "./Operation.ts"
import type { Peer } from "./Peer.ts"

/** What a device counts. Bytes are those of payloads; requests count when they have ended well. */
export class Counters {
  txBytes = 0
  txPkts = 0
  rxBytes = 0
  rxPkts = 0
  rxDrops = 0
  sendBytes = 0
  sendWrs = 0
  recvBytes = 0
  recvWrs = 0
  readWrs = 0
  readBytes = 0
  readWrErrors = 0
  readResponseBytes = 0
  writeWrs = 0
  writeBytes = 0
  writeWrErrors = 0
  writeRecvBytes = 0
  unresponsive = 0

  /** Of contexts that are gone. */
  private readonly retired = { bytes: 0, packets: 0, timeouts: 0, impairments: 0 }

  /** A peer is forgotten, and what its contexts had counted is not. */
  retire({ retired }: Peer): void {
    this.retired.bytes += retired.bytes
    this.retired.packets += retired.packets
    this.retired.timeouts += retired.timeouts
    this.retired.impairments += retired.impairments
  }

  /** A request has ended. */
  end({ operation, bytes, readBytes }: Message, status: EfaStatus): void {
    const failed = status !== EfaStatus.Ok
    if (operation === Operation.Send) {
      if (failed) return
      this.sendWrs++
      this.sendBytes += bytes
    } else if (operation === Operation.ReadRequest) {
      if (failed) this.readWrErrors++
      else {
        this.readWrs++
        this.readBytes += readBytes
      }
    } else if (failed) this.writeWrErrors++
    else {
      this.writeWrs++
      this.writeBytes += bytes
    }
  }

  /** A SEND has come into a receive. */
  receive(bytes: number): void {
    this.recvWrs++
    this.recvBytes += bytes
  }

  /** By the names that the driver gives (Linux, drivers/infiniband/hw/efa/efa_verbs.c: efa_port_stats_descs). */
  named(peers: Iterable<Peer>): Readonly<Record<string, number>> {
    let { bytes, packets, timeouts, impairments } = this.retired
    for (const { retired, outbound } of peers) {
      bytes += retired.bytes + outbound.retransmittedBytes
      packets += retired.packets + outbound.retransmissions
      timeouts += retired.timeouts + outbound.timeouts
      impairments += retired.impairments + outbound.impairments
    }
    return {
      tx_bytes: this.txBytes,
      tx_pkts: this.txPkts,
      rx_bytes: this.rxBytes,
      rx_pkts: this.rxPkts,
      rx_drops: this.rxDrops,
      send_bytes: this.sendBytes,
      send_wrs: this.sendWrs,
      recv_bytes: this.recvBytes,
      recv_wrs: this.recvWrs,
      rdma_read_wrs: this.readWrs,
      rdma_read_bytes: this.readBytes,
      rdma_read_wr_err: this.readWrErrors,
      rdma_read_resp_bytes: this.readResponseBytes,
      rdma_write_wrs: this.writeWrs,
      rdma_write_bytes: this.writeBytes,
      rdma_write_wr_err: this.writeWrErrors,
      rdma_write_recv_bytes: this.writeRecvBytes,
      retrans_bytes: bytes,
      retrans_pkts: packets,
      retrans_timeout_events: timeouts,
      unresponsive_remote_events: this.unresponsive,
      impaired_remote_conn_events: impairments,
    }
  }
}
