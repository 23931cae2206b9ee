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
import { lastChunk } from "./output_buffer.ts";
import { parseRequestHead, requestRules } from "./request_head.ts";
import { encodedHead, hasNoBody, keepAliveSeconds, refusal } from "./response_encoder.ts";

/** Time for a head to arrive, from the connection's start or its first byte, s. */
const headSeconds = 15;

/** Time for a client to close the connection after its last response, s. */
const lingerSeconds = 2;

/** Time for a client to receive a part of its response, s; as long as the pipeline waits for a reader of a stream. */
const stalledSeconds = 600;

const cr = 13;
const lf = 10;

/** The response in place of one that fails. */
const failure: PlainResponse = { status: 500, headers: {}, body: null };

/** Dependencies of a {@linkcode ServerConnection}. */
interface ServerParts {
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
  #scanner = new HeadScanner(requestRules);
  /** Whether a part of a head has been received. */
  #isReceiving = false;
  /** Whether the last response is being sent, or the end of the connection awaited. */
  #isEnding = false;
  /** Tick at which it is closed unless a head is complete by then, or a stalled response goes on. */
  #deadline: number;
  /** Number of bytes written by the last check. */
  #written = 0;

  constructor(socket: Socket, parts: ServerParts) {
    this.#connection = new Connection(socket);
    this.#parts = parts;
    this.#deadline = parts.tick() + 1 + headSeconds;
  }

  /** Serves requests until the connection is closed. Never rejects. */
  async serve(): Promise<void> {
    const connection = this.#connection;
    try {
      for (let isOpen = true; isOpen;) {
        const exchange = this.#takeRequest();
        if (exchange !== undefined) isOpen = await this.#respond(exchange);
        else if (!connection.received(await connection.next())) return this.close();
      }
    } catch (error) {
      if (!(error instanceof MalformedMessage)) return this.close(); // the client has disconnected
      await this.#refuse(error.status);
    }
    await this.#linger();
    this.close();
  }

  /** Closes the connection unless a response is in progress, after which it is closed. */
  closeIfIdle(): void {
    if (this.#exchange === undefined && !this.#isEnding) this.close();
  }

  /** Closes the connection if it has exceeded a time limit. */
  checkTime(): void {
    if (this.#exchange !== undefined) this.#checkProgress();
    if (this.#parts.tick() < this.#deadline) return;
    if (this.#exchange !== undefined || !this.#isReceiving || this.#isEnding) return this.close();
    const close = () => this.close();
    this.#refuse(408).then(close, close);
  }

  /** A client that does not read its response would keep the connection open for ever. */
  #checkProgress(): void {
    const { isWriting, written } = this.#connection;
    if (isWriting && written === this.#written) return;
    this.#written = written;
    this.#deadline = this.#parts.tick() + 1 + stalledSeconds;
  }

  close(): void {
    this.#connection.close();
    this.#exchange?.disconnect();
  }

  /** Removes the head of a request from the input; undefined while it is incomplete. */
  #takeRequest(): Exchange | undefined {
    if (!this.#isReceiving) this.#skipBlankLines();
    if (!this.#isReceiving) return undefined;
    const connection = this.#connection;
    const { bytes, start, end } = connection;
    const length = this.#scanner.find(bytes, start, end);
    if (length === undefined) return undefined;
    connection.start = start + length;
    this.#isReceiving = false;
    const head = parseRequestHead(bytes, start, start + length);
    return new Exchange(head, connection, { peer: this.#parts.peer, onComplete: this.#watch });
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
    this.#scanner = new HeadScanner(requestRules);
    this.#deadline = this.#parts.tick() + 1 + headSeconds;
  }

  /** Reads on, so that a disconnect of the client is detected. */
  readonly #watch = (): void => this.#connection.watch(this.#onDisconnect);

  readonly #onDisconnect = (): void => this.close();

  /** Responds to a request. Returns whether another one may follow. */
  async #respond(exchange: Exchange): Promise<boolean> {
    this.#exchange = exchange;
    this.#deadline = Infinity;
    try {
      if (!exchange.isExpectationMet) throw new MalformedMessage("an unknown expectation", 417);
      let response = await this.#answer(exchange);
      if (exchange.isDisconnected || exchange.malformed !== undefined) {
        cancelBody(response);
        if (exchange.malformed !== undefined) throw exchange.malformed;
        return false;
      }
      const isLast = !isPersistent(exchange.head) || response.headers.connection === "close" ||
        this.#parts.isStopping() || !exchange.discardBody();
      let head = encodedHead(response, isLast);
      if (head === undefined) {
        cancelBody(response);
        response = failure;
        head = encodedHead(response, isLast)!;
      }
      if (isStream(response.body) && !hasNoBody(response.status)) await this.#stream(exchange, response.body, head);
      else for (const bytes of this.#encode(exchange, response, head)) await this.#connection.write(bytes);
      return !isLast && !this.#parts.isStopping();
    } finally {
      this.#exchange = undefined;
      this.#deadline = this.#parts.tick() + 1 + keepAliveSeconds;
      exchange.over();
    }
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

  /** Encodes a response without a stream. */
  #encode(exchange: Exchange, response: PlainResponse, head: string): readonly Uint8Array[] {
    const { output } = this.#connection;
    const body = response.body as Uint8Array | string | null;
    if (hasNoBody(response.status)) {
      cancelBody(response);
      return [output.head(head)];
    }
    if (exchange.method !== "HEAD") return output.message(head, body ?? "");
    const length = body === null ? findDeclaredLength(response) : output.raw(body)?.length ?? 0;
    return [output.head(length === undefined ? head : `${head}content-length: ${length}\r\n`)];
  }

  /** Sends a body with backpressure; cancels it when the client disconnects. */
  async #stream(exchange: Exchange, body: PlainStream, head: string): Promise<void> {
    const connection = this.#connection;
    const { output } = connection;
    const isChunked = exchange.head.minor === 1;
    exchange.onDisconnect = () => body.cancel();
    try {
      await connection.write(output.head(isChunked ? `${head}transfer-encoding: chunked\r\n` : head));
      if (exchange.method === "HEAD") return body.cancel();
      for (;;) {
        const data = await body.read();
        if (data === undefined || exchange.isDisconnected) break;
        const bytes = isChunked ? output.chunk(data) : output.raw(data);
        if (bytes !== undefined) await connection.write(bytes);
      }
      if (isChunked) await connection.write(lastChunk);
    } catch (error) {
      exchange.disconnect(); // the client cannot receive the remainder
      throw error;
    }
  }

  /** Rejects a request, and all that follow. */
  async #refuse(status: number): Promise<void> {
    this.#end();
    await this.#connection.write(this.#connection.output.head(refusal(status))).catch(() => this.close());
  }

  #end(): void {
    this.#isEnding = true;
    this.#deadline = this.#parts.tick() + 1 + lingerSeconds;
  }

  /**
   * Waits until the client closes the connection. To close it before the client has sent everything would reset it, and
   * the client could lose the response.
   */
  async #linger(): Promise<void> {
    const connection = this.#connection;
    if (connection.isClosed) return;
    this.#end();
    try {
      await connection.closeWrite();
      do connection.start = connection.end; while (await connection.fill());
    } catch {
      // the client has disconnected
    }
  }
}

/** The length that a response to HEAD declares, of the body that GET would send. */
function findDeclaredLength({ headers }: PlainResponse): string | undefined {
  const length = headers["content-length"];
  return length !== undefined && /^\d+$/.test(length) ? length : undefined;
}

function cancelBody({ body }: PlainResponse): void {
  if (isStream(body)) body.cancel();
}
