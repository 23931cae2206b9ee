/**
 * `/v1/responses` as a WebSocket: each message `response.create` is a request as by POST, and its events are text messages.
 * One request at a time. Requests go through the same checks as by POST, each for itself.
 *
 * Source: https://platform.openai.com/docs/guides/websocket-mode
 * @module
 */
import type { JsonObject } from "../contracts/openai.ts";
import type { RequestErrorCode } from "../contracts/error_codes.ts";
import type { Cancel, Runtime, Stopper } from "../contracts/runtime.ts";
import type { ClientSocket, PlainRequest, PlainResponse, SocketEvents } from "../contracts/shell.ts";
import { bodyBounds, findJsonExcess } from "../util/bounded_json.ts";
import { isStream } from "../util/bytes.ts";
import { isObject } from "../util/is_object.ts";
import { memberText } from "../util/json_members.ts";
import { type SseEvent, SseParser } from "../util/sse_parse.ts";
import { HttpError, toErrorRow } from "./error_body.ts";
import type { Exchange, SocketAccess } from "./exchange.ts";
import { KeptResponses } from "./kept_responses.ts";
import { SocketRequest } from "./socket_request.ts";

/** Time without a request after which a connection is closed, ms. */
const idleMs = 60_000;

/** Errors that wait to be sent, beyond which a connection is closed. */
const maxUnsentErrors = 64;

/** Headers of an error response that its event repeats. */
const repeatedHeaders = ["x-request-id", "retry-after", "retry-after-ms", "x-should-retry"];

/** Events after which the client may send its next request. */
const lastEvents: ReadonlySet<unknown> = new Set([
  ...["response.completed", "response.incomplete", "response.failed", "error"],
]);

/** Upgrades a request for a WebSocket. */
export async function upgradeToResponses(exchange: Exchange, access: SocketAccess): Promise<PlainResponse> {
  const { mesh: { runtime }, request, headers, proxy: { bodyLimit: maxBytes } } = exchange;
  if (request.upgrade === undefined) throw unavailable("This server has no WebSockets: send the request with POST");
  const facts = { ...access, runtime, maxBytes, opening: { url: request.url, headers: request.headers } };
  try {
    return await request.upgrade({
      maxMessageBytes: maxBytes,
      headers,
      open: (socket) => new ResponsesSocket(socket, facts),
    });
  } catch (error) {
    throw unavailable(error instanceof Error ? error.message : String(error));
  }
}

/** 426 makes clients send the request with POST at once; they try again after other errors. */
function unavailable(message: string): HttpError {
  return new HttpError(message, { status: 426, code: "upgrade_unavailable", headers: { upgrade: "HTTP/1.1" } });
}

/** A message that is not a request, or not one now. */
class MessageError extends Error {
  readonly status: number;
  readonly code: RequestErrorCode;
  readonly param: string | null;

  constructor(
    message: string,
    facts: { readonly code: RequestErrorCode; readonly status?: number; readonly param?: string },
  ) {
    super(message);
    this.status = facts.status ?? 400;
    this.code = facts.code;
    this.param = facts.param ?? null;
  }
}

/** What a connection keeps of the request for it: not its instance, which a reload replaces. */
interface ConnectionFacts extends SocketAccess {
  readonly runtime: Runtime;
  readonly opening: Pick<PlainRequest, "url" | "headers">;
  /** Maximum length of what is kept, bytes. */
  readonly maxBytes: number;
}

/** One connection. */
class ResponsesSocket implements SocketEvents {
  readonly #socket: ClientSocket;
  readonly #facts: ConnectionFacts;
  readonly #kept: KeptResponses;
  /** Whether the last event of the current response is not sent yet. */
  #isBusy = false;
  /** Number of requests that have begun; a request may begin before the one before has cleaned up. */
  #begun = 0;
  #isStopping = false;
  #isClosed = false;
  #unsentErrors = 0;
  /** The requests so far; each one begins when the one before has ended. */
  #work: Promise<void> = Promise.resolve();
  #running: Stopper | undefined;
  #cancelIdle: Cancel = () => {};

  constructor(socket: ClientSocket, facts: ConnectionFacts) {
    this.#socket = socket;
    this.#facts = facts;
    this.#kept = new KeptResponses(facts.maxBytes, facts.reserve);
    this.#waitForRequest();
  }

  onMessage(text: string | undefined): void {
    try {
      const message = readMessage(text);
      if (message !== undefined) this.#begin(message);
    } catch (error) {
      if (!(error instanceof MessageError)) throw error;
      const { status, message, code, param } = error;
      this.#refuse(formatErrorEvent(status, { message, type: "invalid_request_error", param, code }));
    }
  }

  onStop(): void {
    this.#isStopping = true;
    if (!this.#isBusy) this.#waitForRequest();
  }

  onClose(): void {
    this.#isClosed = true;
    this.#cancelIdle();
    this.#kept.clear();
    this.#running?.abort(new DOMException("The client has disconnected", "AbortError"));
  }

  #begin(message: Message): void {
    if (this.#isBusy) {
      throw new MessageError("A response is in progress: wait for its last event, or open another connection", {
        status: 409,
        code: "response_in_progress",
      });
    }
    this.#isBusy = true;
    this.#cancelIdle();
    const number = ++this.#begun;
    this.#work = this.#work.then(() => this.#run(message, number)).catch(() =>
      this.#socket.close(1011, "Internal error")
    );
  }

  /** Closes the connection unless a request begins in time, or at once when the proxy stops. */
  #waitForRequest(): void {
    if (this.#isStopping) return this.#socket.close(1001, "The proxy is shutting down");
    this.#cancelIdle = this.#facts.runtime.clock.after(idleMs, () => this.#socket.close(1000, "No request for 60 s"));
  }

  async #run({ text, value }: Message, number: number): Promise<void> {
    if (this.#isClosed) return;
    const { runtime, opening, serve } = this.#facts;
    const { body, keep } = this.#kept.toRequest(text, value);
    const stopper = this.#running = runtime.stopper?.() ?? new AbortController();
    const request = new SocketRequest(opening, body, stopper.signal);
    try {
      await this.#respond(await serve(request), keep);
    } catch (error) {
      const requestId = request.headers.get("x-request-id")!;
      const { status, body } = toErrorRow(error, requestId);
      await this.#sendLast(formatErrorEvent(status, body.error, { "x-request-id": requestId }));
    }
    this.#running = undefined;
    if (this.#begun > number) return; // the next one has begun
    this.#isBusy = false;
    if (!this.#isClosed) this.#waitForRequest();
  }

  async #respond({ status, headers, body }: PlainResponse, keep: (response: unknown) => void): Promise<void> {
    if (this.#isClosed) return;
    if (status !== 200) {
      return await this.#sendLast(formatErrorEvent(status, readError(await readText(body)), headers));
    }
    const parser = new SseParser(Infinity);
    for await (const text of readTexts(body)) {
      for (const event of parser.push(text)) await this.#sendEvent(event, keep);
    }
  }

  async #sendEvent({ event, data }: SseEvent, keep: (response: unknown) => void): Promise<void> {
    const type = event === "" ? readType(data) : event;
    if (!lastEvents.has(type)) return await this.#socket.send(data);
    if (type !== "response.failed" && type !== "error") keep(JSON.parse(data).response);
    await this.#sendLast(data);
  }

  /** Sends the last event of a response: a client may send its next request as soon as it has it. */
  async #sendLast(data: string): Promise<void> {
    this.#isBusy = false;
    await this.#socket.send(data);
  }

  #refuse(event: string): void {
    if (++this.#unsentErrors > maxUnsentErrors) return this.#socket.close(1008, "Too many messages at once");
    const done = () => void this.#unsentErrors--;
    this.#socket.send(event).then(done, done);
  }
}

/** A message that is a request. */
interface Message {
  readonly text: string;
  readonly value: JsonObject;
}

/**
 * Reads a message.
 *
 * @returns Undefined if it asks for nothing.
 * @throws {MessageError} If it is malformed.
 */
function readMessage(text: string | undefined): Message | undefined {
  if (text === undefined) throw new MessageError("A message has to be text", { code: "invalid_json" });
  const excess = findJsonExcess(text, bodyBounds);
  if (excess !== undefined) throw new MessageError(`The message has ${excess}`, { code: "invalid_value" });
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new MessageError("The message is not valid JSON", { code: "invalid_json" });
  }
  if (!isObject(value)) throw new MessageError("The message has to be an object", { code: "invalid_value" });
  const { type, response } = value;
  if (type === "response.processed") return undefined; // a client has read a response
  if (type !== "response.create") {
    const code = type === undefined ? "missing_required_parameter" : "invalid_value";
    throw new MessageError('"type" has to be "response.create"', { code, param: "type" });
  }
  return isObject(response) ? { text: memberText(text, "response"), value: response } : { text, value };
}

/** The event for an error, with its status and the headers of its response. */
function formatErrorEvent(status: number, error: unknown, headers: PlainResponse["headers"] = {}): string {
  const repeated = Object.entries(headers).filter(([name]) => repeatedHeaders.includes(name));
  return JSON.stringify({
    ...{ type: "error", status, error },
    ...(repeated.length === 0 ? {} : { headers: Object.fromEntries(repeated) }),
  });
}

/** The error in the body of a response. A response that is not known here may be elsewhere, or not at all. */
function readError(text: string): unknown {
  const { error } = JSON.parse(text);
  return isObject(error) && error.param === "previous_response_id"
    ? { ...error, code: "previous_response_not_found" }
    : error;
}

/** The type of an event without a name. */
function readType(data: string): unknown {
  try {
    return JSON.parse(data).type;
  } catch {
    return undefined; // a provider's own event
  }
}

async function* readTexts(body: PlainResponse["body"]): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  const toText = (chunk: Uint8Array | string) =>
    typeof chunk === "string" ? chunk : decoder.decode(chunk, { stream: true });
  if (!isStream(body)) return yield toText(body ?? "");
  for (let chunk = await body.read(); chunk !== undefined; chunk = await body.read()) yield toText(chunk);
}

async function readText(body: PlainResponse["body"]): Promise<string> {
  let text = "";
  for await (const part of readTexts(body)) text += part;
  return text;
}
