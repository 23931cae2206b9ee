/**
 * An upstream client over HTTP/1.1 (RFC 9112), for runtimes whose built-in clients cost a gateway more than all its
 * other work for a request. It follows no redirects, never resends a request, and reuses connections.
 * @module
 */
import type { UpstreamRequest, UpstreamResponse } from "../../contracts/runtime.ts";
import { MeshError, NetworkError } from "../../errors.ts";
import { callAfter } from "../_timers.ts";
import { turnEnd } from "../_turn_end.ts";
import { Body, type BodyOwner, CutMessage, isPersistent, responseFraming } from "./body.ts";
import { type Connection, ConnectionPool, type Socket } from "./connection.ts";
import { MalformedMessage } from "./malformed.ts";
import { isIncoming } from "../../util/bytes.ts";
import { encodeRequest, lastChunk, type OutboundProxy, requestHead, type Target, Targets } from "./request.ts";
import { type CreateDecompressor, Http1Response } from "./response.ts";
import { HeadScanner, parseResponseHead, type ResponseHead } from "./response_head.ts";

/** Maximum number of interim responses (1xx) before the final one. */
const maxInterim = 8;

/** Opens connections on a runtime. */
export interface Network {
  /**
   * Opens a connection, with TLS if the target is secure, and resolves once it is established.
   *
   * @param signal Aborts the connection attempt.
   * @throws {NetworkError} With our own message, which quotes no part of the request.
   */
  connect(target: Target, signal: AbortSignal): Promise<Socket>;
  /** Returns the outbound proxy for a URL; none by default. */
  readonly via?: (url: URL) => OutboundProxy | undefined;
  /** Creates decompressors for formats that `DecompressionStream`, the default, does not support everywhere. */
  readonly decompressor?: CreateDecompressor;
}

/**
 * Creates an upstream client with its own connection pool.
 *
 * @throws {NetworkError} (its calls) With our own message; the signal's reason after an abort.
 */
export function http1Client(network: Network): (request: UpstreamRequest) => Promise<UpstreamResponse> {
  const parts = {
    network,
    pool: new ConnectionPool(),
    targets: new Targets(network.via),
    directTargets: new Targets(),
  };
  return (request) => new Http1Call(request, parts).send();
}

/** Shared by all calls of a client. */
interface Http1ClientParts {
  readonly network: Network;
  readonly pool: ConnectionPool;
  readonly targets: Targets;
  /** Targets of requests that use no outbound proxy. */
  readonly directTargets: Targets;
}

const ignore = (): void => {};

class Http1Call implements BodyOwner {
  /** Called when bytes of the response are received. */
  readonly onBytes: (() => void) | undefined;
  readonly #request: UpstreamRequest;
  readonly #parts: Http1ClientParts;
  #origin = "";
  #connection: Connection | undefined;
  #rejectConnect: ((error: unknown) => void) | undefined;
  #scanner = new HeadScanner();
  #interim = 0;
  #isPersistent = false;

  constructor(request: UpstreamRequest, parts: Http1ClientParts) {
    this.#request = request;
    this.#parts = parts;
    this.onBytes = request.onBytes;
  }

  async send(): Promise<UpstreamResponse> {
    const { signal } = this.#request;
    if (signal?.aborted) throw signal.reason;
    const { target, head: start } = this.#prepare();
    this.#origin = target.origin;
    signal?.addEventListener("abort", this.#abort, { once: true });
    try {
      const pooled = this.#parts.pool.take(target.origin, performance.now());
      const connection = this.#connection = pooled ?? await this.#connect(target);
      this.#write(connection, start);
      let head = this.#takeHead(connection);
      while (head === undefined) {
        if (!connection.received(await connection.next())) throw new CutMessage("before its head ended");
        this.onBytes?.();
        head = this.#takeHead(connection);
      }
      return this.#toResponse(head, connection);
    } catch (error) {
      throw this.fail(error, "before its response began");
    }
  }

  #toResponse(head: ResponseHead, connection: Connection): Http1Response {
    const { method = "POST", headers } = this.#request;
    const framing = responseFraming(head, method);
    this.#isPersistent = framing !== "close" && isPersistent(head);
    const body = new Body(connection, { framing, owner: this });
    const { decompressor } = this.#parts.network;
    return new Http1Response(head, body, { isAsIs: "accept-encoding" in headers, decompressor });
  }

  /** Ends the call and closes its connection. */
  cancel(): void {
    this.#stopListening();
    this.#connection?.close();
  }

  /** Ends the call, and returns the error to throw, with our own message. */
  fail(error: unknown, where: string): unknown {
    const { signal } = this.#request;
    this.cancel();
    if (signal?.aborted) return signal.reason;
    if (MeshError.isInstance(error)) return error;
    const message = error instanceof MalformedMessage
      ? "The provider's response is not valid HTTP"
      : `The connection to the provider broke ${where}`;
    return new NetworkError(message, { neverSent: false }); // without a cause: the runtime's message quotes hosts
  }

  #prepare(): { readonly target: Target; readonly head: string } {
    try {
      const { targets, directTargets } = this.#parts;
      const { url, authorities, isDirect } = this.#request;
      const target = (isDirect ? directTargets : targets).of(url, authorities);
      return { target, head: requestHead(this.#request, target) };
    } catch (error) {
      if (NetworkError.isInstance(error)) throw error;
      throw new NetworkError("Cannot make the request: bad address or header", { neverSent: true });
    }
  }

  #connect(target: Target): Promise<Connection> {
    const { connectTimeoutMs } = this.#request;
    return new Promise((resolve, reject) => {
      const attempt = new AbortController();
      const fail = (error: unknown) => {
        cancel?.();
        reject(error);
        attempt.abort();
      };
      const late = () => {
        const message = `Cannot connect to the provider: no connection within ${connectTimeoutMs} ms`;
        fail(new NetworkError(message, { neverSent: true }));
      };
      const cancel = connectTimeoutMs === undefined ? undefined : callAfter(connectTimeoutMs, late);
      this.#rejectConnect = fail;
      this.#parts.network.connect(target, attempt.signal).then((socket) => {
        if (attempt.signal.aborted) return socket.close(); // too late: the call has failed
        cancel?.();
        resolve(this.#parts.pool.add(target.origin, socket));
      }, fail);
    });
  }

  #write(connection: Connection, head: string): void {
    const chunks = encodeRequest(head, this.#request, connection.output);
    const { body } = this.#request;
    if (chunks.length === 1 && !isIncoming(body)) connection.send(chunks[0]!);
    else this.#writeAll(connection, chunks).catch(ignore); // as `send`, it leaves errors to the reader
  }

  async #writeAll(connection: Connection, chunks: readonly Uint8Array[]): Promise<void> {
    connection.isWritten = false;
    for (const chunk of chunks) await connection.write(chunk);
    const { body } = this.#request;
    if (isIncoming(body)) await this.#writeIncoming(connection, body);
    connection.isWritten = true;
  }

  /** Closes the connection if the body breaks off: the server must not accept a truncated body as complete. */
  async #writeIncoming(connection: Connection, body: AsyncIterable<Uint8Array>): Promise<void> {
    let isReading = true;
    try {
      for await (const bytes of body) {
        isReading = false;
        const chunk = connection.output.chunk(bytes);
        if (chunk !== undefined) await connection.write(chunk);
        isReading = true;
      }
      isReading = false;
      await connection.write(lastChunk);
    } catch (error) {
      if (isReading) connection.close();
      throw error;
    }
  }

  /** Removes a head from the input, after interim responses; undefined while it is incomplete. */
  #takeHead(connection: Connection): ResponseHead | undefined {
    for (;;) {
      const { bytes, start, end } = connection;
      const length = end > start ? this.#scanner.find(bytes, start, end) : undefined;
      if (length === undefined) return undefined;
      connection.start = start + length;
      const head = parseResponseHead(bytes, start, start + length);
      if (head.status >= 200) return head;
      responseFraming(head, this.#request.method ?? "POST");
      if (head.status === 101 || ++this.#interim > maxInterim) {
        throw new MalformedMessage("interim responses without end");
      }
      this.#scanner = new HeadScanner();
    }
  }

  /** Pools or closes the connection after the response. */
  end(): void {
    this.#stopListening();
    // at the end of the turn, Node has reported the TLS writes of the previous one
    const reported = this.#connection!.isWritten ? undefined : turnEnd();
    if (reported === undefined) this.#release();
    else reported.then(this.#release, ignore);
  }

  /** Unread input may be an unsolicited response. */
  readonly #release = (): void => {
    const connection = this.#connection!;
    const isClean = connection.start === connection.end && connection.isWritten && this.#isPersistent;
    if (isClean) this.#parts.pool.put(this.#origin, connection, performance.now());
    else connection.close();
  };

  readonly #abort = (): void => {
    this.#rejectConnect?.(this.#request.signal?.reason);
    this.cancel();
  };

  #stopListening(): void {
    this.#request.signal?.removeEventListener("abort", this.#abort);
  }
}
