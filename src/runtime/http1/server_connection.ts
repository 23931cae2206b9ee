/**
 * A connection of a client: reads its requests, and sends their responses, one after the other.
 * @module
 */
import type { Peer, PlainResponse, PlainStream, RequestHandler } from "../../contracts/shell.ts";
import type { Thing } from "../../util/bag.ts";
import { isStream } from "../../util/plain_stream.ts";
import type { OpenResponses } from "../_open_responses.ts";
import { plainResponse } from "../_plain_response.ts";
import { Connection, type Socket } from "./connection.ts";
import { Exchange } from "./exchange.ts";
import { isPersistent } from "./framing.ts";
import { HeadScanner } from "./head.ts";
import { MalformedMessage } from "./malformed.ts";
import { lastChunk } from "./request.ts";
import { parseRequestHead, type RequestHead, requestRules } from "./request_head.ts";
import { encodedHead, hasNoBody, keepAliveSeconds, refusal } from "./status.ts";

/** Time for a head to arrive, from the connection's start or its first byte, s. */
const headSeconds = 15;

/** Time for a client to close the connection after its last response, s. */
const lingerSeconds = 2;

const cr = 13;
const lf = 10;

/** The response in place of one that fails. */
const failure: PlainResponse = { status: 500, headers: {}, body: null };

/** Dependencies of a {@linkcode ServerConnection}. */
export interface ServerParts {
  readonly open: OpenResponses;
  readonly plain: RequestHandler["plain"];
  readonly peer: Peer;
  /** The time in whole seconds. */
  readonly tick: () => number;
  readonly isStopping: () => boolean;
}

/** A connection of a client. */
export class ServerConnection implements Thing {
  index?: number;
  readonly #connection: Connection;
  readonly #parts: ServerParts;
  #exchange: Exchange | undefined;
  /** Whether a part of a head has been received. */
  #isReceiving = false;
  #isLingering = false;
  /** Tick at which it is closed unless a head is complete by then. */
  #deadline: number;

  constructor(socket: Socket, parts: ServerParts) {
    this.#connection = new Connection(socket);
    this.#parts = parts;
    this.#deadline = parts.tick() + 1 + headSeconds;
  }

  /** Serves requests until the connection is closed. Never rejects. */
  async serve(): Promise<void> {
    try {
      let isOpen = true;
      while (isOpen) isOpen = await this.#serveNext();
      if (!this.#connection.isClosed) await this.#linger();
    } catch {
      // the client has disconnected
    }
    this.close();
  }

  /** Closes the connection unless a response is in progress, after which it is closed. */
  closeIfIdle(): void {
    if (this.#exchange === undefined) this.close();
  }

  /** Closes the connection if it has exceeded a time limit. */
  checkTime(): void {
    if (this.#exchange !== undefined || this.#parts.tick() < this.#deadline) return;
    if (!this.#isReceiving || this.#isLingering) return this.close();
    this.#deadline = Infinity;
    const close = () => this.close();
    this.#refuse(408).then(close, close);
  }

  close(): void {
    this.#connection.close();
    this.#exchange?.disconnect();
  }

  /** Serves a request. Returns whether another one may follow. */
  async #serveNext(): Promise<boolean> {
    let exchange: Exchange;
    try {
      const head = await this.#readHead();
      if (head === undefined) {
        this.#connection.close();
        return false;
      }
      exchange = new Exchange(head, this.#connection, { peer: this.#parts.peer, onComplete: this.#watch });
    } catch (error) {
      if (!(error instanceof MalformedMessage)) throw error;
      await this.#refuse(error.status);
      return false;
    }
    this.#exchange = exchange;
    this.#isReceiving = false;
    try {
      return await this.#respond(exchange);
    } catch (error) {
      exchange.disconnect(); // a failed write may be its only sign
      throw error;
    } finally {
      this.#exchange = undefined;
      this.#deadline = this.#parts.tick() + 1 + keepAliveSeconds;
      exchange.over();
    }
  }

  /** Reads a head; undefined if the client has disconnected. */
  async #readHead(): Promise<RequestHead | undefined> {
    const connection = this.#connection;
    const scanner = new HeadScanner(requestRules);
    for (;;) {
      if (!this.#isReceiving) this.#skipBlankLines();
      const { bytes, start, end } = connection;
      if (this.#isReceiving) {
        const length = scanner.find(bytes, start, end);
        if (length !== undefined) {
          connection.start = start + length;
          return parseRequestHead(bytes, start, start + length);
        }
      }
      if (!await connection.fill()) return undefined;
    }
  }

  /** Skips empty lines before a request, which some clients send after a body (RFC 9112, section 2.2). */
  #skipBlankLines(): void {
    const connection = this.#connection;
    const { bytes, end } = connection;
    let { start } = connection;
    while (end - start > 1 && bytes[start] === cr && bytes[start + 1] === lf) start += 2;
    connection.start = start;
    if (start === end || (end - start === 1 && bytes[start] === cr)) return;
    this.#isReceiving = true;
    this.#deadline = this.#parts.tick() + 1 + headSeconds;
  }

  /** Reads on, so that a disconnect of the client is detected. */
  readonly #watch = (): void => this.#connection.watch(this.#onDisconnect);

  readonly #onDisconnect = (): void => this.close();

  async #respond(exchange: Exchange): Promise<boolean> {
    if (!exchange.isExpectationMet) {
      await this.#refuse(417);
      return false;
    }
    const response = await this.#answer(exchange);
    if (exchange.isDisconnected) {
      cancelBody(response);
      return false;
    }
    if (exchange.refused !== undefined) {
      cancelBody(response);
      await this.#refuse(exchange.refused);
      return false;
    }
    const isLast = !isPersistent(exchange.head) || response.headers.connection === "close" ||
      this.#parts.isStopping() || !exchange.discardBody();
    await this.#send(exchange, response, isLast);
    return !isLast && !this.#parts.isStopping();
  }

  async #answer(exchange: Exchange): Promise<PlainResponse> {
    const { open, plain } = this.#parts;
    try {
      return plain === undefined
        ? await plainResponse(await open.respond(exchange.request()))
        : await open.respondPlain(plain, exchange);
    } catch {
      return failure;
    }
  }

  async #send(exchange: Exchange, response: PlainResponse, isLast: boolean): Promise<void> {
    const connection = this.#connection;
    const { output } = connection;
    const { method, minor } = exchange.head;
    const { body } = response;
    let head: string;
    try {
      head = encodedHead(response, isLast);
    } catch {
      cancelBody(response);
      return await this.#send(exchange, failure, isLast);
    }
    if (hasNoBody(response.status)) {
      cancelBody(response);
      return await connection.write(output.head(head));
    }
    if (isStream(body)) return await this.#stream(exchange, { head, body, isChunked: minor === 1 });
    if (method === "HEAD") {
      const length = body === null ? "" : `content-length: ${output.raw(body)?.length ?? 0}\r\n`;
      return await connection.write(output.head(head + length));
    }
    for (const bytes of output.message(head, body ?? "")) await connection.write(bytes);
  }

  /** Sends a body with backpressure; cancels it when the client disconnects. */
  async #stream(
    exchange: Exchange,
    { head, body, isChunked }: { head: string; body: PlainStream; isChunked: boolean },
  ): Promise<void> {
    const connection = this.#connection;
    const { output } = connection;
    exchange.onDisconnect = () => body.cancel();
    await connection.write(output.head(isChunked ? `${head}transfer-encoding: chunked\r\n` : head));
    if (exchange.head.method === "HEAD") return body.cancel();
    for (;;) {
      const data = await body.read();
      if (data === undefined || exchange.isDisconnected) break;
      const bytes = isChunked ? output.chunk(data) : output.raw(data);
      if (bytes !== undefined) await connection.write(bytes);
    }
    if (isChunked) await connection.write(lastChunk);
  }

  async #refuse(status: number): Promise<void> {
    await this.#connection.write(this.#connection.output.head(refusal(status)));
  }

  /** Waits until the client closes: closing before it has sent everything would reset the connection, and the client could lose the response. */
  async #linger(): Promise<void> {
    const connection = this.#connection;
    this.#isLingering = true;
    this.#deadline = this.#parts.tick() + 1 + lingerSeconds;
    await connection.closeWrite();
    for (let isOpen = true; isOpen;) {
      connection.start = connection.end;
      isOpen = await connection.fill();
    }
  }
}

function cancelBody({ body }: PlainResponse): void {
  if (isStream(body)) body.cancel();
}
