/**
 * WebSocket connections of servers over `node:http`, by the optional package `ws`.
 * @module
 */
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import type { PlainResponse, UpgradeOptions } from "../contracts/shell.ts";
import { MeshError } from "../errors.ts";
import { onceResolved } from "../util/once.ts";
import { isSocketRequest } from "../util/request_id.ts";
import { builtin } from "./_node_builtin.ts";
import type { OpenSockets } from "./_sockets.ts";

/** A connection of `ws`. */
interface WsConnection {
  on(event: "message", listener: (data: { toString(): string }, isBinary: boolean) => void): void;
  on(event: "close" | "error", listener: () => void): void;
  send(text: string, done: () => void): void;
  close(code: number, reason: string): void;
  terminate(): void;
}

/** A server of `ws`. */
interface WsServer {
  on(event: "headers", listener: (lines: string[]) => void): void;
  handleUpgrade(
    ...parameters: [
      message: IncomingMessage,
      socket: Duplex,
      head: Uint8Array,
      onConnection: (connection: WsConnection) => void,
    ]
  ): void;
}

interface WsModule {
  readonly WebSocketServer: new (options: Readonly<Record<string, unknown>>) => WsServer;
}

/**
 * Not a literal: with `ws` in the graph of modules, Deno resolves packages anew that have it as an optional peer, such as
 * `openai`, and a program's check loses their types.
 */
const specifier = "Deno" in globalThis ? "npm:ws@8.23.0" : "ws";

const importWs = onceResolved((): Promise<unknown> => import(specifier));

/**
 * Loads `ws`.
 *
 * @param importModule Imports a replacement of the installed package.
 * @throws {MeshError} `upgrade_unavailable` if it is not installed.
 */
export async function loadWs(importModule: () => Promise<unknown> = importWs): Promise<WsModule> {
  try {
    return await importModule() as WsModule;
  } catch (cause) {
    const message = 'WebSocket connections require the package "ws", which is not installed: add it with ' +
      '"npm install ws@8", or send the request with POST';
    throw new MeshError(message, { code: "upgrade_unavailable", cause });
  }
}

/** A request for another protocol, and what was received after its head. */
export interface NodeUpgrade {
  readonly message: IncomingMessage;
  readonly socket: Duplex;
  readonly head: Uint8Array;
}

/** Handles requests for WebSockets; those for other protocols are served as if they asked for none. */
export function onSocketRequest(server: Server, handle: (upgrade: NodeUpgrade) => void): void {
  server.on("upgrade", (message: IncomingMessage, socket: Duplex, head: Uint8Array) => {
    socket.on("error", () => {}); // the client has disconnected, which `close` reports
    const upgrade = { message, socket, head };
    if (wantsSocket(message)) handle(upgrade);
    else readAgain(server, upgrade);
  });
}

/** Whether a request asks for a WebSocket. Newer runtimes ask before they stop to parse the connection. */
export function wantsSocket({ method, headers }: IncomingMessage): boolean {
  return isSocketRequest({ method: method ?? "", headers: { get: () => headers.upgrade ?? null } });
}

/**
 * Serves a request as if it did not ask for another protocol, such as `h2c`, which Java's client does by default: Node
 * before 22.21 has stopped to parse a connection whose request asks for one. The request is parsed anew.
 */
function readAgain(server: Server, { message, socket, head }: NodeUpgrade): void {
  const { Buffer } = builtin("node:buffer");
  const { method, url, httpVersion, rawHeaders } = message;
  const lines = [`${method} ${url} HTTP/${httpVersion}`, "connection: close"];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!;
    if (!/^(upgrade|connection|http2-settings)$/i.test(name)) lines.push(`${name}: ${rawHeaders[at + 1]}`);
  }
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1"), head]));
  const [parse] = server.listeners("setSecureContext" in server ? "secureConnection" : "connection");
  parse!.call(server, socket);
}

/** Upgrades a connection. See `PlainRequest.upgrade`. */
export async function upgradeOnNode(
  { message, socket, head }: NodeUpgrade,
  { maxMessageBytes, headers, open }: UpgradeOptions,
  sockets: OpenSockets,
): Promise<PlainResponse> {
  const { WebSocketServer } = await loadWs();
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    handleProtocols: () => false,
    maxPayload: maxMessageBytes,
  });
  server.on("headers", (lines) => {
    for (const [name, value] of Object.entries(headers)) lines.push(`${name}: ${value}`);
  });
  server.handleUpgrade(message, socket, head, (connection) => {
    const opened = sockets.add({
      send: (text) => new Promise((resolve) => connection.send(text, () => resolve())),
      close: (code, reason) => connection.close(code, reason),
      terminate: () => connection.terminate(),
    }, open);
    connection.on("message", (data, isBinary) => opened.receive(isBinary ? undefined : data.toString()));
    connection.on("error", () => opened.linger()); // it closes the connection itself
    connection.on("close", () => opened.over());
  });
  return { status: 101, headers: {}, body: null };
}

/** Creates the response to a request that is not upgraded; the connection closes after it. */
export function createRefusal({ message, socket }: NodeUpgrade): ServerResponse {
  const response = new (builtin("node:http").ServerResponse)(message);
  response.shouldKeepAlive = false;
  response.assignSocket(socket as Parameters<ServerResponse["assignSocket"]>[0]);
  response.on("finish", () => void socket.end());
  return response;
}
