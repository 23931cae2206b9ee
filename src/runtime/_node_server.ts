/**
 * A server over `node:http`, for Node and Deno. It times out slow headers, rejects malformed requests, and detects a
 * client that disconnects before its response is complete, which `Deno.serve` does for short requests only.
 * @module
 */
import type { IncomingMessage, RequestListener, Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import type {
  Peer,
  PlainRequest,
  PlainResponse,
  PlainStream,
  RequestHandler,
  RunningServer,
  ServeOptions,
} from "../contracts/shell.ts";
import { concat, isStream } from "../util/bytes.ts";
import { createRequest, requestUrl } from "../util/request_path.ts";
import { connectionsWithin, readDescriptorLimit } from "./_descriptors.ts";
import { keepHalfOpen } from "./_half_open.ts";
import { IdleSockets } from "./_idle_sockets.ts";
import { listenError } from "./_listen_error.ts";
import { builtin } from "./_node_builtin.ts";
import { createRefusal, type NodeUpgrade, onSocketRequest, upgradeOnNode, wantsSocket } from "./_node_upgrade.ts";
import { OpenResponses, type PlainCall } from "./_open_responses.ts";
import { toPlainResponse } from "./_plain_response.ts";
import { ReadHeaders } from "./_read_headers.ts";
import { Stop } from "./_stop.ts";
import { callAfter } from "./_timers.ts";
import { turnEnd } from "./_turn_end.ts";
import { listenOptions } from "./_workers.ts";

const headersTimeoutMs = 15_000;
/** Exceeds load balancers' usual idle timeout (60 s): otherwise they would send requests on closing connections. */
const keepAliveMs = 75_000;
const checkIntervalMs = 1_000;

/**
 * Starts a server, and resolves once the port is bound.
 *
 * @throws {MeshError} `port_in_use`, `port_not_permitted` or `cannot_listen`; `invalid_certificate` or `invalid_key`.
 */
export async function serveNode(handler: RequestHandler, options: ServeOptions): Promise<RunningServer> {
  const { host, port, tls, maxConnections = Infinity, onListen } = options;
  const { plain } = handler;
  const open = new OpenResponses(handler);
  const settings = {
    headersTimeout: headersTimeoutMs,
    keepAliveTimeout: keepAliveMs,
    connectionsCheckingInterval: checkIntervalMs,
    ...(plain === undefined ? {} : { shouldUpgradeCallback: wantsSocket }), // older Nodes do not ask
  };
  const onRequest: RequestListener = (message, response) => {
    idle.leave(message.socket);
    if (idle.isRefused(message.socket)) return void message.resume();
    if (message.httpVersionMajor === 1) {
      exchange(open, plain, { message, response, idle }).catch(() => response.destroy());
    } else response.writeHead(505, { connection: "close" }).end(); // the parser accepts 0.9 and 2.0
  };
  const { server, ...renewal } = tls === undefined
    ? { server: builtin("node:http").createServer(settings, onRequest) }
    : (await import("./_tls_server.ts")).tlsServer(settings, tls, onRequest);
  server.on("clientError", refuse);
  if (plain !== undefined) {
    onSocketRequest(server, (upgrade) => {
      idle.leave(upgrade.message.socket);
      respondToUpgrade(open, plain, upgrade);
    });
  }
  keepHalfOpen(server);
  const idle = new IdleSockets(server, Math.min(maxConnections, connectionsWithin(readDescriptorLimit())));
  const bound = await listenOn(server, { host, port });
  onListen?.({ host, port: bound });
  return {
    port: bound,
    listener: "node",
    ...renewal,
    stop: (graceMs) => stopServer(server, { open, idle, graceMs }),
  };
}

/**
 * Binds the port, and returns it.
 *
 * @throws {MeshError} `port_in_use`, `port_not_permitted` or `cannot_listen`.
 */
async function listenOn(server: Server, { host, port }: Pick<ServeOptions, "host" | "port">): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error: Error) => reject(listenError(error, `${host}:${port}`)));
    server.listen(listenOptions(port, host), resolve);
  });
  server.on("error", () => {}); // a connection that could not be accepted
  return (server.address() as AddressInfo).port;
}

async function stopServer(
  server: Server,
  { open, idle, graceMs }: { readonly open: OpenResponses; readonly idle: IdleSockets; readonly graceMs: number },
): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  idle.close();
  const socketsClosed = open.sockets.stop();
  const cancelEnd = callAfter(graceMs, () => open.endAll());
  const cancelLast = callAfter(graceMs + checkIntervalMs, () => server.closeAllConnections());
  await closed;
  await socketsClosed;
  cancelEnd();
  cancelLast();
  open.close();
}

/** Status lines for requests that are invalid or too slow, by error code. */
const refusals: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: "431 Request Header Fields Too Large",
  HPE_CHUNK_EXTENSIONS_OVERFLOW: "413 Payload Too Large",
  ERR_HTTP_REQUEST_TIMEOUT: "408 Request Timeout",
};

/** Like the server's default, but sends the response before closing the connection: TLS would lose it otherwise. */
function refuse({ code = "" }: Error & { code?: string }, socket: Duplex & { _httpMessage?: ServerResponse }): void {
  const isHttp = code.startsWith("HPE_") || code in refusals;
  // not within another response on the same connection
  if (!isHttp || !socket.writable || socket._httpMessage?.headersSent) return void socket.destroy();
  socket.end(`HTTP/1.1 ${refusals[code] ?? "400 Bad Request"}\r\nConnection: close\r\n\r\n`, () => socket.destroy());
}

async function exchange(
  open: OpenResponses,
  plain: RequestHandler["plain"],
  { message, response, idle }: {
    readonly message: IncomingMessage;
    readonly response: ServerResponse;
    readonly idle: IdleSockets;
  },
): Promise<void> {
  const call = new MessageCall(message);
  const { socket } = message;
  response.on("close", () => {
    idle.release(socket);
    call.end(response.writableFinished);
  });
  response.on("error", ignore); // the client has disconnected, which `close` reports
  try {
    const result = plain === undefined
      ? await toPlainResponse(await open.respond(toRequest(message, call.signal.native)))
      : await open.respondPlain(plain, call);
    await turnEnd();
    await sendResponse(result, message, response);
  } catch {
    if (response.headersSent) response.destroy();
    else response.writeHead(500).end();
  }
}

const ignore = () => {};

/** Responds to a request for a WebSocket: upgrades the connection, or sends a response and closes it. */
function respondToUpgrade(
  open: OpenResponses,
  plain: NonNullable<RequestHandler["plain"]>,
  upgrade: NodeUpgrade,
): void {
  const { message, socket } = upgrade;
  const call = new MessageCall(message, (options) => upgradeOnNode(upgrade, options, open.sockets));
  socket.on("close", () => call.end(false));
  const respond = async () => {
    const result = await open.respondPlain(plain, call);
    await turnEnd();
    if (result.status !== 101) await sendResponse(result, message, createRefusal(upgrade));
  };
  respond().catch(() => socket.destroy());
}

/**
 * A request, and what the server knows of its connection. It is no `Request`, whose creation costs more on Node than the
 * entire proxy.
 */
class MessageCall implements PlainCall<PlainResponse> {
  readonly method: string;
  readonly url: string;
  readonly headers: ReadHeaders;
  readonly signal: Stop = new Stop();
  readonly peer: Peer;
  readonly upgrade?: NonNullable<PlainRequest["upgrade"]>;
  readonly #message: IncomingMessage;
  #isOver = false;
  #onOver: (() => void) | undefined;

  constructor(message: IncomingMessage, upgrade?: PlainRequest["upgrade"]) {
    this.#message = message;
    if (upgrade !== undefined) this.upgrade = upgrade;
    this.method = message.method ?? "GET";
    this.peer = () => message.socket.remoteAddress;
    this.headers = readRawHeaders(message);
    this.url = requestUrl(message.url, this.headers.get("host") ?? undefined);
  }

  toSent(response: PlainResponse): PlainResponse {
    return response;
  }

  untilOver(): Promise<void> {
    return new Promise((resolve) => {
      this.#onOver = resolve;
      if (this.#isOver) resolve();
    });
  }

  /**
   * Reports that the connection or the response is over.
   *
   * @param isSent Whether the response was sent.
   */
  end(isSent: boolean): void {
    this.#isOver = true;
    if (!isSent) this.signal.abort(new DOMException("The client has disconnected", "AbortError"));
    this.#onOver?.();
  }

  get body(): AsyncIterable<Uint8Array> | null {
    if (this.method === "GET" || this.method === "HEAD") return null;
    // stopping early must not close the connection: the response has not been sent yet
    return { [Symbol.asyncIterator]: () => this.#message.iterator({ destroyOnReturn: false }) };
  }

  bytes(): Promise<Uint8Array> {
    const message = this.#message;
    return new Promise((resolve, reject) => {
      const chunks: Uint8Array[] = [];
      message.on("data", (chunk: Uint8Array) => chunks.push(chunk));
      message.on("end", () => resolve(concat(chunks)));
      message.on("error", reject);
      const onClose = () => message.complete || reject(new DOMException("The client has disconnected", "AbortError"));
      message.on("close", onClose);
      if (message.destroyed) onClose();
    });
  }
}

function toRequest(message: IncomingMessage, signal: AbortSignal): Request {
  const { method = "GET", rawHeaders } = message;
  const headers = new Headers();
  for (let at = 0; at < rawHeaders.length; at += 2) headers.append(rawHeaders[at]!, rawHeaders[at + 1]!);
  const hasBody = method !== "GET" && method !== "HEAD";
  return createRequest(toRequestUrl(message), {
    method,
    headers,
    signal,
    ...(hasBody ? { body: toRequestBody(message), duplex: "half" } : {}),
  } as RequestInit);
}

function toRequestUrl(message: IncomingMessage): string {
  return requestUrl(message.url, readRawHeaders(message).get("host") ?? undefined);
}

function readRawHeaders({ rawHeaders }: IncomingMessage): ReadHeaders {
  const headers: string[] = [];
  for (let at = 0; at < rawHeaders.length; at += 2) headers.push(rawHeaders[at]!.toLowerCase(), rawHeaders[at + 1]!);
  return new ReadHeaders(headers);
}

function toRequestBody(message: IncomingMessage): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>({
    start(controller) {
      message.pause();
      message.on("data", (chunk: Uint8Array) => {
        controller.enqueue(new Uint8Array(chunk));
        if ((controller.desiredSize ?? 0) <= 0) message.pause();
      });
      message.on("end", () => controller.close());
      message.on("error", (error) => controller.error(error));
    },
    pull: () => void message.resume(),
    // the response has not been sent yet; the connection closes after it
    cancel: () => void message.removeAllListeners("data").removeAllListeners("end").removeAllListeners("error").pause(),
  });
}

async function sendResponse(
  { status, headers, body }: PlainResponse,
  message: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const sent: Record<string, string | number> = { ...headers };
  if (!message.complete) sent.connection = "close"; // an unread body would be parsed as the next request
  if (isStream(body)) {
    response.writeHead(status, sent);
    response.flushHeaders();
    return await pipe(body, response);
  }
  if (body !== null) sent["content-length"] = builtin("node:buffer").Buffer.byteLength(body);
  response.writeHead(status, sent);
  if (message.complete) return void response.end(body ?? undefined);
  response.end(body ?? undefined, () => {
    if (!message.complete) message.destroy();
  });
}

/** Sends a body with backpressure; cancels it when the client disconnects. */
async function pipe(body: PlainStream, response: ServerResponse): Promise<void> {
  response.on("close", () => body.cancel());
  for (;;) {
    const chunk = await body.read();
    await turnEnd();
    if (chunk === undefined || response.destroyed) break;
    if (!response.write(chunk)) await drained(response);
  }
  response.end();
}

function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      response.off("drain", done);
      response.off("close", done);
      resolve();
    };
    response.on("drain", done);
    response.on("close", done);
  });
}
