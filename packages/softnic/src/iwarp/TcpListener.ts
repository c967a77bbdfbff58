import { createServer, type Server, type Socket } from "node:net"

/** Connections that are in MPA's opening or beyond it, at most; others are closed at once. */
const CONNECTIONS_MAX = 4096

export const listenAt = (
  place: { readonly host: string; readonly port: number },
  onReady: (problem: string | undefined) => void,
  onConnection: (socket: Socket) => void,
): Server => {
  const server = createServer({ allowHalfOpen: true }, onConnection)
  server.maxConnections = CONNECTIONS_MAX
  server.on("error", (error) => onReady(error.message))
  server.listen(place, () => onReady(undefined))
  return server
}

/** Takes no more; connections that there are go on. */
export const closeServer = (server: Server): void => {
  server.close()
}
