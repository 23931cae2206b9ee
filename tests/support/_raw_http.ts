/**
 * HTTP/1.1 by hand over TCP, so that a test decides on every byte. Over `node:net` because it can reset a connection
 * for real (Deno's own sockets cannot) and because the same file then runs on Node.
 * @module
 */
import { createServer, type Server, type Socket } from "node:net";

/** A request as it arrived. */
export interface ReceivedRequest {
  /** 1 for the first one this server got. */
  readonly number: number;
  /** Such as `POST`. */
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  /** Names in lower case; repeated ones joined by a comma. */
  readonly headers: Readonly<Record<string, string>>;
  /** The body as text. */
  readonly body: string;
  /** The body's bytes. */
  readonly bytes: Uint8Array;
  /** Resolves when its connection is closed, by whomever. */
  readonly closed: Promise<void>;
  /** Whether its connection is closed. */
  readonly isClosed: boolean;
  /** The body as JSON. */
  // deno-lint-ignore no-explicit-any -- tests look into it as they please
  json(): any;
}

/** The other half: what is answered. Writing to a client that is gone does nothing. */
export interface Exchange {
  /** What is answered to. */
  readonly request: ReceivedRequest;
  /** Writes bytes as they are; resolves when the system has taken them. */
  write(data: string | Uint8Array): Promise<void>;
  /** Closes the connection in order (FIN). */
  close(): void;
  /** Closes the connection the hard way (RST). */
  reset(): void;
}

/** A TCP server that speaks just enough HTTP. */
export interface RawServer {
  /** Its port. */
  readonly port: number;
  /** Connections accepted so far. */
  readonly connections: number;
  /** Connections open now. */
  readonly open: number;
  /** Closes it and every connection. */
  close(): Promise<void>;
}

/**
 * Starts a server on a free port of the loopback interface.
 *
 * @param handle Answers one request; the next one on the connection is read when it is through.
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

/** How long a client may take to close its end, ms; one that does not read never would. */
const closingMs = 500;

/** Closes a connection and waits for the client to have closed its end, so that none is left open in this process. */
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
      this.#closed.then(() => resolve());
    });
  }

  async #read(): Promise<ReceivedRequest | undefined> {
    const head = await this.#take(() => endOf(this.#buffer, "\r\n\r\n"));
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
      const line = await this.#take(() => endOf(this.#buffer, "\r\n"));
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

  /** The first bytes, once there are enough; undefined when the client leaves before. */
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

/** Where a mark ends, undefined when it is not there. */
function endOf(bytes: Uint8Array, mark: string): number | undefined {
  const codes = encoder.encode(mark);
  for (let at = bytes.indexOf(codes[0]!); at >= 0; at = bytes.indexOf(codes[0]!, at + 1)) {
    if (codes.every((code, index) => bytes[at + index] === code)) return at + codes.length;
  }
  return undefined;
}
