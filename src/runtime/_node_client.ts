/**
 * The upstream client over `node:http` and `node:https`: several times as quick as Node's `fetch`, and it knows the
 * phase of connecting from the wait for a response.
 * @module
 */
import type { Agent, ClientRequest, IncomingMessage, RequestOptions } from "node:http";
import type { Socket } from "node:net";
import type { Readable } from "node:stream";
import type { Authorities, BodyReader, Cancel, UpstreamRequest, UpstreamResponse } from "../contracts/runtime.ts";
import { NetworkError } from "../errors.ts";
import { concat } from "../util/bytes.ts";
import { isIncoming } from "../util/chunks.ts";
import { builtin } from "./_node_builtin.ts";
import { agentOptions, type Target, throughProxy, trust } from "./_node_target.ts";
import { writeIncoming } from "./_node_body.ts";
import { faultOf, type Phase } from "./_node_faults.ts";
import { streamOf } from "./_stream_of.ts";
import { callAfter } from "./_timers.ts";

/** A connection that was idle for so long is not used again, ms: balancers drop idle connections silently. */
const idleMs = 45_000;

/** Most of a response that is buffered for a slower reader, bytes. */
const maxBuffered = 64 * 1024;

/** Minimum time between two checks for idle connections, ms. */
const lookMs = 10_000;

const agents = new Map<string, Agent>();

/** When connections were last taken, monotonic ms. */
const takenAt = new WeakMap<Socket, number>();

let nextLookAt = 0;

/** Connections are kept and used again, the one used last first, so that the others can grow old. */
function agentOf(protocol: "http:" | "https:", authorities?: Authorities): Agent {
  const key = protocol === "https:" && authorities !== undefined ? authorities.key : protocol;
  const known = agents.get(key);
  if (known !== undefined) return known;
  const { Agent } = builtin(protocol === "https:" ? "node:https" : "node:http");
  const agent = new Agent({ ...agentOptions, ...(protocol === "https:" ? trust(authorities) : {}) });
  agents.set(key, agent);
  return agent;
}

/** Called before a call now and then: an agent's own time limit sets a timer per call, at more than the call's own cost. */
function closeIdle(now: number): void {
  nextLookAt = now + lookMs;
  const sockets = [...agents.values()].flatMap(({ freeSockets }) => Object.values(freeSockets).flat());
  for (const socket of sockets) if (socket !== undefined && (takenAt.get(socket) ?? 0) < now - idleMs) socket.destroy();
}

/**
 * The upstream client of Node. Redirects are not followed, and nothing is sent twice.
 *
 * @throws {NetworkError} In words of ours.
 */
export function send(request: UpstreamRequest): Promise<UpstreamResponse> {
  const { signal } = request;
  if (signal?.aborted) return Promise.reject(signal.reason);
  return new Promise((resolve, reject) => {
    const call = new Call(request, resolve, reject);
    call.start();
  });
}

class Call {
  readonly #request: UpstreamRequest;
  readonly #resolve: (response: UpstreamResponse) => void;
  readonly #reject: (error: unknown) => void;
  #sent: ClientRequest | undefined;
  #phase: Phase = "preparing";
  #cancelConnect: Cancel | undefined;
  #isOver = false;

  constructor(
    request: UpstreamRequest,
    resolve: (response: UpstreamResponse) => void,
    reject: (error: unknown) => void,
  ) {
    this.#request = request;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  start(): void {
    const { body, signal } = this.#request;
    const now = performance.now();
    if (now >= nextLookAt) closeIdle(now);
    try {
      const options = optionsOf(this.#request);
      const { request } = builtin(options.protocol === "https:" ? "node:https" : "node:http");
      const sent = this.#sent = request(options);
      sent.on("socket", (socket: Socket) => this.#connect(socket, options.protocol === "https:"));
      sent.on("response", (message: IncomingMessage) => this.#answer(message));
      sent.on("error", (error: Error) => this.#fail(error));
      sent.on("close", () => this.#settle());
      if (isIncoming(body)) sent.flushHeaders();
      else if (isChunks(body)) {
        for (const chunk of body) sent.write(chunk);
        sent.end();
      } else sent.end(body);
    } catch (error) {
      return this.#fail(error);
    }
    signal?.addEventListener("abort", this.#abort, { once: true });
  }

  translate(error: unknown): unknown {
    const { signal } = this.#request;
    if (signal?.aborted) return signal.reason;
    if (NetworkError.isInstance(error)) return error;
    const { message, neverSent } = faultOf(error, this.#phase);
    return new NetworkError(message, { neverSent }); // without a cause: the runtime's text quotes hosts and headers
  }

  /** Ends the call and its connection. */
  end(): void {
    this.#sent?.destroy();
  }

  readonly #abort = (): void => {
    this.#settle(); // its `close` may never come
    this.end();
    this.#reject(this.#request.signal?.reason);
  };

  #connect(socket: Socket, isSecure: boolean): void {
    // Deno connects a request that was ended before it had a socket all the same, and would send it
    if (this.#isOver) return void socket.destroy();
    takenAt.set(socket, performance.now());
    if (!socket.connecting) {
      this.#begin();
      // when a kept connection dies Deno would send the request again, although the provider may have read it
      if (this.#sent !== undefined) this.#sent.reusedSocket = false;
      return;
    }
    const { connectTimeoutMs } = this.#request;
    this.#phase = "connecting";
    if (isSecure) socket.once("connect", () => this.#phase = "securing");
    socket.once(isSecure ? "secureConnect" : "connect", () => {
      this.#begin();
      this.#cancelConnect?.();
    });
    if (connectTimeoutMs === undefined) return;
    this.#cancelConnect = callAfter(connectTimeoutMs, () => {
      const message = `Cannot connect to the provider: no connection within ${connectTimeoutMs} ms`;
      this.#sent?.destroy(new NetworkError(message, { neverSent: true }));
    });
  }

  /** There is a connection: a body that comes is read from now on. */
  #begin(): void {
    this.#phase = "waiting";
    const { body } = this.#request;
    if (isIncoming(body)) void writeIncoming(body, this.#sent!);
  }

  #answer(message: IncomingMessage): void {
    this.#phase = "answering";
    this.#request.onBytes?.();
    const asked = "accept-encoding" in this.#request.headers;
    const encoding = asked ? undefined : message.headers["content-encoding"];
    const source = encoding === undefined ? message : decoded(message, encoding);
    this.#resolve(new NodeResponse(this, message, source, this.#request.onBytes));
  }

  #fail(error: unknown): void {
    this.#settle();
    this.#reject(this.translate(error));
  }

  #settle(): void {
    this.#isOver = true;
    this.#cancelConnect?.();
    this.#request.signal?.removeEventListener("abort", this.#abort);
  }
}

function optionsOf(
  { url, method = "POST", headers: asked, body, authorities }: UpstreamRequest,
): RequestOptions {
  const target = targetOf(url, authorities);
  const headers = target.headers === undefined ? asked : { ...asked, ...target.headers };
  if (isIncoming(body)) return { ...target, method, headers: { ...headers, "transfer-encoding": "chunked" } };
  // a body goes as the text it is: in one write with the head
  const length = body === undefined
    ? 0
    : isChunks(body)
    ? body.reduce((sum, chunk) => sum + chunk.length, 0)
    : builtin("node:buffer").Buffer.byteLength(body);
  return {
    ...target,
    method,
    headers: body === undefined && method === "GET" ? headers : { ...headers, "content-length": String(length) },
  };
}

function isChunks(body: UpstreamRequest["body"]): body is readonly Uint8Array[] {
  return Array.isArray(body);
}

/** A provider is asked at few URLs again and again. */
const targets = new Map<string, Target>();
const maxTargets = 256;

function targetOf(url: string, authorities: Authorities | undefined): Target {
  const key = authorities === undefined ? url : `${authorities.key} ${url}`;
  const known = targets.get(key);
  if (known !== undefined) return known;
  const parsed = new URL(url);
  const { protocol, hostname, port, pathname, search } = parsed;
  if (protocol !== "http:" && protocol !== "https:") throw new TypeError("Only http and https are spoken");
  const target = throughProxy(
    {
      protocol,
      hostname: hostname.startsWith("[") ? hostname.slice(1, -1) : hostname,
      port,
      path: pathname + search,
      agent: agentOf(protocol, authorities),
    },
    parsed,
    { agents, agentOf, authorities },
  );
  if (targets.size < maxTargets) targets.set(key, target);
  return target;
}

/** The same response without its compression; what is neither of the three is handed on as it is. */
function decoded(message: IncomingMessage, encoding: string): Readable {
  const { createBrotliDecompress, createUnzip } = builtin("node:zlib");
  const decoder = encoding === "br"
    ? createBrotliDecompress()
    : /^(x-)?gzip$|^deflate$/.test(encoding) && createUnzip();
  if (!decoder) return message;
  delete message.headersDistinct["content-encoding"];
  delete message.headersDistinct["content-length"];
  return builtin("node:stream").pipeline(message, decoder, () => {}); // the reader of the decoder gets the error
}

/** A response whose head has arrived. */
class NodeResponse implements UpstreamResponse {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  readonly #call: Call;
  readonly #source: Readable;
  readonly #onBytes: (() => void) | undefined;
  #body: ReadableStream<Uint8Array> | undefined;

  constructor(call: Call, message: IncomingMessage, source: Readable, onBytes: (() => void) | undefined) {
    this.#call = call;
    this.#source = source;
    this.#onBytes = onBytes;
    this.status = message.statusCode ?? 0;
    this.headers = {
      get(name) {
        const key = name.toLowerCase();
        if (message.headers[key] === undefined) return null;
        return message.headersDistinct[key]?.join(", ") ?? null; // all there are, as `fetch` has them
      },
    };
    source.on("error", () => {}); // an error before the first read is found again by the reader
  }

  /** Made when it is asked for: most responses are read whole. */
  get body(): ReadableStream<Uint8Array> {
    return this.#body ??= streamOf(this.reader());
  }

  /** Chunks as they arrive, without a stream in between. */
  reader(): BodyReader {
    const source = this.#source;
    let chunks: Uint8Array[] = [];
    let size = 0;
    let end: { readonly error?: unknown } | undefined;
    let wake = () => {};
    this.#read((chunk) => {
      chunks.push(chunk);
      size += chunk.length;
      if (size >= maxBuffered) source.pause(); // until it is asked for more, so that a slow reader slows the provider
      wake();
    }).then(() => end = {}, (error) => end = { error }).then(() => wake());
    return {
      read: async () => {
        while (chunks.length === 0 && end === undefined) {
          const woken = new Promise<void>((resolve) => wake = resolve);
          source.resume();
          await woken;
        }
        if (chunks.length > 0) {
          const value = concat(chunks); // what has come meanwhile is read at once
          chunks = [];
          size = 0;
          return { done: false, value };
        }
        if (end?.error !== undefined) throw end.error;
        return { done: true, value: undefined };
      },
      cancel: () => {
        this.#call.end();
        return Promise.resolve();
      },
    };
  }

  async bytes(): Promise<Uint8Array> {
    if (this.#body !== undefined) return new Uint8Array(await new Response(this.#body).arrayBuffer());
    const chunks: Uint8Array[] = [];
    await this.#read((chunk) => chunks.push(chunk));
    return concat(chunks);
  }

  #read(take: (chunk: Uint8Array) => void): Promise<void> {
    const source = this.#source;
    return new Promise((resolve, reject) => {
      let isOver = false;
      const fail = (error: unknown) => {
        if (!isOver) reject(this.#call.translate(error)); // errors are dear: none is made for nothing
        isOver = true;
      };
      if (source.errored) return fail(source.errored);
      source.on("data", (chunk: Uint8Array) => {
        this.#onBytes?.();
        take(chunk);
      });
      source.on("end", () => {
        isOver = true;
        resolve();
      });
      source.on("error", fail);
      source.on("close", () => isOver || fail(new Error("closed before its end")));
      if (source.destroyed) fail(new Error("closed before it was read"));
    });
  }
}
