/**
 * WebSocket connections of `Deno.serve`.
 * @module
 */
import type { Peer, PlainResponse, UpgradeOptions } from "../contracts/shell.ts";
import type { OpenSocket, OpenSockets } from "./_sockets.ts";
import { callAfter } from "./_timers.ts";

/** Bytes that wait to be sent, from which on the next message waits. */
const maxBufferedBytes = 256 * 1024;

/** How often a full buffer is looked at, ms: the runtime does not report that it has room again. */
const checkMs = 20;

/** The upgrade of one request. */
export class DenoUpgrade {
  /** The response that completes the handshake, once the request is upgraded. */
  response: Response | undefined;
  readonly peer: Peer;
  readonly #request: Request;
  readonly #sockets: OpenSockets;

  /** Reads the address, which can no longer be read once the connection is upgraded. */
  constructor(request: Request, info: Deno.ServeHandlerInfo<Deno.NetAddr>, sockets: OpenSockets) {
    this.#request = request;
    this.#sockets = sockets;
    const { hostname } = info.remoteAddr;
    this.peer = () => hostname;
  }

  /** See `PlainRequest.upgrade`. */
  readonly upgrade = (options: UpgradeOptions): Promise<PlainResponse> => {
    let upgraded: Deno.WebSocketUpgrade;
    try {
      upgraded = Deno.upgradeWebSocket(this.#request);
    } catch {
      return Promise.resolve({ status: 400, headers: { ...options.headers }, body: null }); // a header is missing
    }
    const { socket, response } = upgraded;
    for (const [name, value] of Object.entries(options.headers)) response.headers.set(name, value);
    connect(socket, { ...options, sockets: this.#sockets });
    this.response = response;
    return Promise.resolve({ status: 101, headers: {}, body: null });
  };
}

function connect(
  socket: WebSocket,
  { maxMessageBytes, open, sockets }: UpgradeOptions & { readonly sockets: OpenSockets },
): void {
  const opened: OpenSocket = sockets.add({
    send: (text) => send(socket, text),
    close: (code, reason) => socket.close(code, reason),
    terminate: () => {}, // there is no way to
  }, open);
  socket.onmessage = ({ data }: MessageEvent<unknown>) => {
    if (typeof data !== "string") return opened.receive(undefined);
    if (isLonger(data, maxMessageBytes)) opened.close(1009, `A message may have ${maxMessageBytes} bytes`);
    else opened.receive(data);
  };
  socket.onerror = (event) => {
    event.preventDefault(); // `close` follows
  };
  socket.onclose = () => opened.over();
}

async function send(socket: WebSocket, text: string): Promise<void> {
  if (socket.readyState !== WebSocket.OPEN) return;
  socket.send(text);
  while (socket.bufferedAmount > maxBufferedBytes && socket.readyState === WebSocket.OPEN) {
    await new Promise<void>((resolve) => void callAfter(checkMs, resolve));
  }
}

/** Whether a text is longer in UTF-8, which takes one to three bytes per UTF-16 unit. */
function isLonger(text: string, maxBytes: number): boolean {
  if (text.length > maxBytes || text.length * 3 <= maxBytes) return text.length > maxBytes;
  return new TextEncoder().encode(text).length > maxBytes;
}
