/**
 * Half-closed connections of a server over `node:http`: the client has sent the end of its data. It may wait for its
 * response, or have closed the connection: only its reaction to further bytes distinguishes the two.
 * @module
 */
import type { Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Cancel } from "../contracts/runtime.ts";
import { callAfter } from "./_timers.ts";

/**
 * Times of probes after the end of the client's data, ms. The system of a closed connection resets it at the first one;
 * that is reported with a later one, after the round trip. They are few, since some clients accept only five.
 */
const probesMs = [0, 20, 100, 1_000];

/** An interim response (RFC 9110, section 15.2), which clients skip. */
const interim = "HTTP/1.1 102 Processing\r\n\r\n";

/** A leading zero of the next chunk's length (RFC 9112, section 7.1). */
const leadingZero = "0";

/** A connection with its current response. */
type HttpSocket = Socket & { readonly _httpMessage?: ServerResponse | null };

/** Keeps half-closed connections open for their responses, and detects those that are closed. */
export function keepHalfOpen(server: Server): void {
  (server as Server & { httpAllowHalfOpen: boolean }).httpAllowHalfOpen = true;
  const isSecure = "setSecureContext" in server;
  server.on(isSecure ? "secureConnection" : "connection", (socket: HttpSocket) => {
    socket.on("end", () => {
      if (!socket._httpMessage) return; // no response is in progress
      let cancels: readonly Cancel[] = [];
      socket.on("close", () => cancels.forEach((cancel) => cancel()));
      cancels = probesMs.map((ms) => callAfter(ms, () => probe(socket)));
    });
  });
}

/** Sends bytes without a meaning, where the response permits it: a client of HTTP/1.0 would take them for content. */
function probe(socket: HttpSocket): void {
  const response = socket._httpMessage;
  if (!response || response.writableEnded || !socket.writable || response.req.httpVersionMinor === 0) return;
  if (!response.headersSent) socket.write(interim);
  else if (response.chunkedEncoding) socket.write(leadingZero);
}
