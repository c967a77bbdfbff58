import { WcStatus } from "@rdmakit/protocol"

/** What an EFA device says of a request that has ended (rdma-core, providers/efa/efa_io_defs.h: efa_io_comp_status). */
export const EfaStatus = {
  Ok: 0,
  /** The queue pair ended, or the address handle is gone. */
  Flushed: 1,
  QpInternalError: 2,
  UnsupportedOp: 3,
  InvalidAh: 4,
  InvalidLkey: 5,
  /** The message is too long. */
  BadLength: 6,
  /** Key, bounds or right of the memory there. */
  RemoteBadAddress: 7,
  RemoteAbort: 8,
  /** No such queue pair, in no state to receive, or with another queue key. */
  RemoteBadDestQpn: 9,
  /** No receive is posted. */
  RemoteRnr: 10,
  /** The receive is too short. */
  RemoteBadLength: 11,
  /** The receive's memory may not be written to. */
  RemoteBadStatus: 12,
  /** The peer answers no more. */
  UnrespRemote: 13,
  /** The peer has no address handle for this device. */
  RemoteUnknownPeer: 14,
  /** The peer has never answered. */
  UnreachRemote: 15,
  /** The peer's device has not got the operation. */
  RemoteFeatureMismatch: 18,
} as const
export type EfaStatus = (typeof EfaStatus)[keyof typeof EfaStatus]

/** What the verbs call it (rdma-core, providers/efa/verbs.c: to_ibv_status); the device's own code is the vendor error. */
export const wcStatusOf = (status: number): WcStatus => {
  switch (status) {
    case EfaStatus.Ok:
      return WcStatus.Success
    case EfaStatus.Flushed:
      return WcStatus.WrFlushErr
    case EfaStatus.QpInternalError:
    case EfaStatus.UnsupportedOp:
    case EfaStatus.InvalidAh:
      return WcStatus.LocQpOpErr
    case EfaStatus.InvalidLkey:
      return WcStatus.LocProtErr
    case EfaStatus.BadLength:
      return WcStatus.LocLenErr
    case EfaStatus.RemoteAbort:
      return WcStatus.RemAbortErr
    case EfaStatus.RemoteRnr:
      return WcStatus.RnrRetryExcErr
    case EfaStatus.RemoteBadDestQpn:
      return WcStatus.RemInvRdReqErr
    case EfaStatus.RemoteBadStatus:
      return WcStatus.BadRespErr
    case EfaStatus.RemoteFeatureMismatch:
    case EfaStatus.RemoteBadLength:
      return WcStatus.RemInvReqErr
    case EfaStatus.UnrespRemote:
    case EfaStatus.UnreachRemote:
      return WcStatus.RespTimeoutErr
    case EfaStatus.RemoteBadAddress:
      return WcStatus.RemAccessErr
    case EfaStatus.RemoteUnknownPeer:
      return WcStatus.RemOpErr
    default:
      return WcStatus.GeneralErr
  }
}
