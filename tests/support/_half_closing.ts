/**
 * Clients that close the sending side of their connection after a request, and wait for the response.
 * @module
 */
import type { Socket } from "node:net";
import { happens } from "./patience.ts";

/** A client whose sending side is closed. */
export interface HalfClosedClient {
  /** Resolves when a text has arrived. */
  reads(text: string): Promise<void>;
  /** Resolves with everything that arrives until the server closes its side. */
  rest(): Promise<string>;
}

/**
 * Sends a request, and closes the sending side.
 *
 * @param request The bytes of the request.
 * @param until Text of the response to wait for before closing.
 */
export async function halfClose(socket: Socket, request: string, until?: string): Promise<HalfClosedClient> {
  let text = "";
  let wake = () => {};
  let failure: unknown;
  let hasEnded = false;
  const changed = () => new Promise<void>((resolve) => wake = resolve);
  socket.setEncoding("utf8").on("data", (data: string) => {
    text += data;
    wake();
  });
  socket.on("error", (error) => failure = error);
  const onEnd = () => {
    hasEnded = true;
    wake();
  };
  socket.on("end", onEnd).on("close", onEnd);
  const reads = async (expected: string) => {
    while (!text.includes(expected)) {
      if (hasEnded) throw new Error(`The response ended before "${expected}": ${text}`, { cause: failure });
      await happens(`"${expected}" arrives`, changed());
    }
  };
  socket.write(request);
  if (until !== undefined) await reads(until);
  socket.end();
  return {
    reads,
    async rest() {
      while (!hasEnded) await happens("the server closes its side", changed());
      if (failure !== undefined) throw failure;
      return text;
    },
  };
}

/** Decodes a chunked body. */
export function dechunk(body: string): string {
  let text = "";
  for (let at = 0;;) {
    const end = body.indexOf("\r\n", at);
    const size = parseInt(body.slice(at, end), 16);
    if (end < 0 || !(size >= 0)) throw new Error(`Not a chunk: ${body.slice(at, at + 40)}`);
    if (size === 0) return text;
    text += body.slice(end + 2, end + 2 + size);
    at = end + 2 + size + 2;
  }
}
