/**
 * HTTP/1.1 over TCP with control of every byte. Uses `node:net`, which can reset a connection (Deno's sockets cannot),
 * and runs on Node as well.
 * @module
 */
import { createServer, type Server, type Socket } from "node:net";
import { raise } from "./raise.ts";

/** A received request. */
export interface ReceivedRequest {
  /** Number of the request at this server, starting at 1. */
  readonly number: number;
  /** Method, such as `POST`. */
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  /** Headers with lower-case names; repeated ones are joined by a comma. */
  readonly headers: Readonly<Record<string, string>>;
  /** Body as text. */
  readonly body: string;
  /** Body as bytes. */
  readonly bytes: Uint8Array;
  /** Resolves when its connection is closed by either side. */
  readonly closed: Promise<void>;
  /** Whether its connection is closed. */
  readonly isClosed: boolean;
  /** Body as JSON. */
  // deno-lint-ignore no-explicit-any -- tests look into it as they please
  json(): any;
}

/** The response side. Writes to a disconnected client are ignored. */
export interface Exchange {
  /** The request. */
  readonly request: ReceivedRequest;
  /** Writes bytes. Resolves when the operating system has accepted them. */
  write(data: string | Uint8Array): Promise<void>;
  /** Closes the connection (FIN). */
  close(): void;
  /** Resets the connection (RST). */
  reset(): void;
}

/** A minimal HTTP server over TCP. */
export interface RawServer {
  /** Its port. */
  readonly port: number;
  /** Number of accepted connections. */
  readonly connections: number;
  /** Number of open connections. */
  readonly open: number;
  /** Closes it and all connections. */
  close(): Promise<void>;
}

/**
 * Starts a server on a free loopback port.
 *
 * @param handle Responds to a request. The next request on the connection is read afterwards.
 */
export async function startRawServer(handle: (exchange: Exchange) => Promise<void>): Promise<RawServer> {
  const sockets = new Set<Socket>();
  const counts = { requests: 0, connections: 0 };
  const server: Server = createServer((socket) => {
    counts.connections++;
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    const connection = new Connection(socket, () => ++counts.requests);
    connection.serve(handle).catch((error) => console.error("A scripted provider failed:", error));
  });
  await new Promise<void>((resolve) => server.listen({ port: 0, host: "127.0.0.1", backlog: 1024 }, resolve));
  const address = server.address() as { port: number };
  return {
    port: address.port,
    get connections() {
      return counts.connections;
    },
    get open() {
      return sockets.size;
    },
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      await Promise.all([closed, ...[...sockets].map(goneWithClient)]);
    },
  };
}

/** Time for a client to close its end, ms; a client that does not read never does. */
const closingMs = 500;

/** Closes a connection and waits until the client has closed its end, so that no socket leaks. */
function goneWithClient(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    const giveUp = setTimeout(() => socket.destroy(), closingMs);
    socket.once("close", () => {
      clearTimeout(giveUp);
      resolve();
    });
    socket.end();
    socket.resume();
  });
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

class Connection {
  readonly #socket: Socket;
  readonly #count: () => number;
  readonly #closed: Promise<void>;
  #isClosed = false;
  #buffer: Uint8Array = new Uint8Array();
  #wake: () => void = () => {};

  constructor(socket: Socket, count: () => number) {
    this.#socket = socket;
    this.#count = count;
    socket.setNoDelay(true);
    socket.on("data", (data: Uint8Array) => {
      this.#buffer = this.#buffer.length === 0 ? data : joined(this.#buffer, data);
      this.#wake();
    });
    this.#closed = new Promise((resolve) => {
      const close = () => {
        this.#isClosed = true;
        resolve();
        this.#wake();
      };
      socket.on("end", close).on("close", close).on("error", close);
    });
  }

  async serve(handle: (exchange: Exchange) => Promise<void>): Promise<void> {
    for (let request = await this.#read(); request !== undefined; request = await this.#read()) {
      await handle({
        request,
        write: (data) => this.#write(data),
        close: () => void this.#socket.end(),
        reset: () => void this.#socket.resetAndDestroy(),
      });
    }
  }

  #write(data: string | Uint8Array): Promise<void> {
    return new Promise((resolve) => {
      if (this.#isClosed || this.#socket.writableEnded) return resolve();
      this.#socket.write(typeof data === "string" ? encoder.encode(data) : data, () => resolve());
      this.#closed.then(resolve, raise);
    });
  }

  async #read(): Promise<ReceivedRequest | undefined> {
    const head = await this.#take(() => findDelimiterEnd(this.#buffer, "\r\n\r\n"));
    if (head === undefined) return undefined;
    const [first = "", ...lines] = decoder.decode(head).trimEnd().split("\r\n");
    const [method = "", path = ""] = first.split(" ");
    const headers: Record<string, string> = {};
    for (const line of lines) {
      const colon = line.indexOf(":");
      const name = line.slice(0, colon).toLowerCase();
      const value = line.slice(colon + 1).trim();
      headers[name] = name in headers ? `${headers[name]}, ${value}` : value;
    }
    const bytes = headers["transfer-encoding"] === "chunked"
      ? await this.#readChunks()
      : await this.#exactly(Number(headers["content-length"] ?? 0));
    if (bytes === undefined) return undefined;
    return this.#received(method, path, headers, bytes);
  }

  #received(method: string, path: string, headers: Record<string, string>, bytes: Uint8Array): ReceivedRequest {
    const body = decoder.decode(bytes);
    const isClosed = () => this.#isClosed;
    return {
      number: this.#count(),
      method,
      path,
      headers,
      body,
      bytes,
      closed: this.#closed,
      get isClosed() {
        return isClosed();
      },
      json: () => JSON.parse(body),
    };
  }

  async #readChunks(): Promise<Uint8Array | undefined> {
    let bytes: Uint8Array = new Uint8Array();
    for (;;) {
      const line = await this.#take(() => findDelimiterEnd(this.#buffer, "\r\n"));
      if (line === undefined) return undefined;
      const size = parseInt(decoder.decode(line), 16);
      const chunk = await this.#exactly(size + 2);
      if (chunk === undefined) return undefined;
      if (size === 0) return bytes;
      bytes = joined(bytes, chunk.subarray(0, size));
    }
  }

  #exactly(size: number): Promise<Uint8Array | undefined> {
    return this.#take(() => this.#buffer.length >= size ? size : undefined);
  }

  /** Reads a number of bytes, once available; undefined when the client disconnects before. */
  async #take(size: () => number | undefined): Promise<Uint8Array | undefined> {
    for (;;) {
      const end = size();
      if (end !== undefined) {
        const bytes = this.#buffer.subarray(0, end);
        this.#buffer = this.#buffer.subarray(end);
        return bytes;
      }
      if (this.#isClosed) return undefined;
      await new Promise<void>((resolve) => this.#wake = resolve);
    }
  }
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array {
  const all = new Uint8Array(first.length + second.length);
  all.set(first);
  all.set(second, first.length);
  return all;
}

/** Returns the offset after a delimiter; undefined when it is absent. */
function findDelimiterEnd(bytes: Uint8Array, mark: string): number | undefined {
  const codes = encoder.encode(mark);
  for (let at = bytes.indexOf(codes[0]!); at >= 0; at = bytes.indexOf(codes[0]!, at + 1)) {
    if (codes.every((code, index) => bytes[at + index] === code)) return at + codes.length;
  }
  return undefined;
}
