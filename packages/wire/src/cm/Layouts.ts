import { layout } from "../Layout.ts"

/** The fixed part of a request, before its two paths. */
export const CM_REQUEST = /* @__PURE__ */ layout(
  "cmRequest",
  "localId:32 _:32 serviceId:64 caGuid:64 _:32 queueKey:32 qpn:24 responderResources:8 localContext:24 initiatorDepth:8 remoteContext:24 remoteResponseTimeout:5 transport:2 flowControl:1 psn:24 localResponseTimeout:5 retries:3 partition:16 mtuCode:4 rdcExists:1 rnrRetries:3 cmRetries:4 sharedReceive:1 extendedTransport:3",
)
export const CM_PATH = /* @__PURE__ */ layout(
  "cmPath",
  "localLid:16 remoteLid:16 localGid:16B remoteGid:16B flowLabel:20 _:6 rate:6 trafficClass:8 hopLimit:8 serviceLevel:4 subnetLocal:1 _:3 ackTimeout:5 suggestions:1 _:2",
)
export const CM_DELAY = /* @__PURE__ */ layout(
  "cmMessageReceipt",
  "localId:32 remoteId:32 message:2 _:6 serviceTimeout:5 _:3 privateData:222B",
)
export const CM_REJECT = /* @__PURE__ */ layout(
  "cmReject",
  "localId:32 remoteId:32 message:2 _:6 informationBytes:7 _:1 reason:16 information:72B privateData:148B",
)
export const CM_REPLY = /* @__PURE__ */ layout(
  "cmReply",
  "localId:32 remoteId:32 queueKey:32 qpn:24 _:8 context:24 _:8 psn:24 _:8 responderResources:8 initiatorDepth:8 ackDelay:5 failover:2 flowControl:1 rnrRetries:3 sharedReceive:1 _:4 caGuid:64 privateData:196B",
)
export const CM_READY = /* @__PURE__ */ layout("cmReadyToUse", "localId:32 remoteId:32 privateData:224B")
export const CM_DISCONNECT_REQUEST = /* @__PURE__ */ layout(
  "cmDisconnectRequest",
  "localId:32 remoteId:32 qpn:24 _:8 privateData:220B",
)
export const CM_DISCONNECT_REPLY = /* @__PURE__ */ layout(
  "cmDisconnectReply",
  "localId:32 remoteId:32 privateData:224B",
)
export const CM_RESOLVE_REQUEST = /* @__PURE__ */ layout(
  "cmResolveRequest",
  "requestId:32 partition:16 _:16 serviceId:64 privateData:216B",
)
export const CM_RESOLVE_REPLY = /* @__PURE__ */ layout(
  "cmResolveReply",
  "requestId:32 status:8 informationBytes:8 _:16 qpn:24 _:8 serviceId:64 queueKey:32 information:72B privateData:136B",
)
