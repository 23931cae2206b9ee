/**
 * HTTP helpers of the providers: reads bodies within size limits, parses JSON, converts error responses to
 * `UpstreamError`.
 * @module
 */
import type { ChatCompletionChunk, OpenAiError } from "../../src/contracts/openai.ts";
import type { BodyReader, Clock, UpstreamResponse } from "../../src/contracts/runtime.ts";
import { UpstreamError } from "../../src/errors.ts";
import { findJsonExcess, parseBoundedJson, responseBounds } from "../../src/util/bounded_json.ts";
import { readAll, readBody } from "../../src/util/bytes.ts";
import { isObject } from "../../src/util/is_object.ts";
import { classifyFault } from "../../src/util/classify.ts";
import { isPlainToTls, needsTls } from "../../src/util/needs_tls.ts";
import { isRetryDate, retryAfterMs, type RetryHint } from "../../src/util/retry_after.ts";
import { readOpenAiError } from "./_openai_error.ts";

const maxResponseBytes = 64 * 1024 * 1024;
const maxErrorBytes = 64 * 1024;
const maxErrorMs = 2_000;

/** Parses a vendor's error responses. */
export interface FaultReader {
  /** Parses the error; `body` is the parsed JSON, or the text if it is not JSON. */
  readError(body: unknown, status: number): OpenAiError;
  /** A retry delay in the body or in vendor-specific headers; a number is a delay in ms. */
  readRetryAfter?(body: unknown, headers: { get(name: string): string | null }): RetryHint | number | undefined;
}

/**
 * Reads a complete response body.
 *
 * @param limit Maximum size, bytes.
 * @throws {UpstreamError} `invalid_response` if it is larger.
 */
export function readBytes(
  response: UpstreamResponse,
  limit: number = maxResponseBytes,
): Uint8Array | Promise<Uint8Array> {
  return readBody(response, limit === maxResponseBytes ? responseLimit : toReadLimit(limit));
}

/** Reads a complete response body, as text if it has been received. Throws like {@linkcode readBytes}. */
export function readWire(response: UpstreamResponse): string | Uint8Array | Promise<Uint8Array> {
  return response.receivedText?.() ?? readBytes(response);
}

const decoder = /* @__PURE__ */ new TextDecoder();

/** Returns a body as text. */
export function toWireText(wire: string | Uint8Array): string {
  return typeof wire === "string" ? wire : decoder.decode(wire);
}

/**
 * Reads a response body from its reader.
 *
 * @throws {UpstreamError} `invalid_response` if it is too large.
 */
export function readToEnd(reader: BodyReader): Promise<Uint8Array> {
  return readAll(reader, responseLimit);
}

function toReadLimit(maxBytes: number): Parameters<typeof readAll>[1] {
  const tooLarge = () =>
    new UpstreamError(`The provider's response is over ${maxBytes} bytes`, { kind: "invalid_response" });
  return { maxBytes, tooLarge };
}

const responseLimit = /* @__PURE__ */ toReadLimit(maxResponseBytes);

/**
 * A reader of a streaming response body.
 *
 * @throws {UpstreamError} `invalid_response` if there is no body.
 */
export function createStreamReader(response: UpstreamResponse): BodyReader {
  const reader = response.reader();
  if (reader === null) throw new UpstreamError("The provider sent no body", { kind: "invalid_response" });
  return reader;
}

/**
 * Parses a JSON object.
 *
 * @throws {UpstreamError} `invalid_response` if it is not a JSON object. The message does not quote it.
 */
export function parseObject(text: string): Record<string, unknown> {
  let value: unknown;
  const excess = findJsonExcess(text, responseBounds);
  if (excess !== undefined) {
    throw new UpstreamError(`The provider responded with JSON that has ${excess}`, { kind: "invalid_response" });
  }
  try {
    value = JSON.parse(text);
  } catch {
    const what = text.trim() === ""
      ? "an empty body"
      : text.trimStart().startsWith("<")
      ? "a web page"
      : "invalid JSON";
    throw new UpstreamError(`The provider responded with ${what}`, { kind: "invalid_response" });
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new UpstreamError("The provider responded with JSON that is not an object", { kind: "invalid_response" });
  }
  return value as Record<string, unknown>;
}

/**
 * Reads an error response.
 *
 * @param response A response whose status is not 2xx.
 * @param reader Parses the vendor's errors.
 * @param clock Limits the time to read the body.
 */
export async function readHttpFault(
  response: UpstreamResponse,
  reader: FaultReader,
  clock: Clock,
): Promise<UpstreamError> {
  const { status, headers } = response;
  let body: unknown = "";
  try {
    const text = new TextDecoder().decode(await readSoon(response, clock));
    body = text;
    body = parseBoundedJson(text);
  } catch {
    // a body that cannot be read does not matter: the status suffices
  }
  if (status === 400 && typeof body === "string" && isPlainToTls(body)) {
    return new UpstreamError(needsTls, { kind: "misconfigured" });
  }
  const shouldRetry = headers.get("x-should-retry");
  const hint = reader.readRetryAfter?.(body, headers) ?? readRetryHeaders(headers, clock.now());
  return upstreamError(status, reader.readError(body, status), {
    ...(typeof hint === "number" ? { retryAfterMs: hint } : hint),
    shouldRetry: shouldRetry === null ? undefined : shouldRetry === "true",
  });
}

function readRetryHeaders(headers: { get(name: string): string | null }, now: number): RetryHint | undefined {
  const waitMs = retryAfterMs(headers, now);
  if (waitMs === undefined) return undefined;
  return { retryAfterMs: waitMs, ...(isRetryDate(headers) && { retryAt: now + waitMs }) };
}

/** Reads an error body; empty after a short timeout, since a body that never ends must not delay the error. */
async function readSoon(response: UpstreamResponse, clock: Clock): Promise<Uint8Array> {
  let cancel = () => {};
  const late = new Promise<Uint8Array>((resolve) => cancel = clock.after(maxErrorMs, () => resolve(new Uint8Array())));
  try {
    return await Promise.race([readBytes(response, maxErrorBytes), late]);
  } finally {
    cancel();
  }
}

/**
 * Creates an `UpstreamError`, classified by `classifyFault`.
 *
 * @param status HTTP status of the response; 200 for an error inside a successful response.
 * @param error The error in OpenAI's shape.
 * @param hints Further facts of the response.
 */
export function upstreamError(
  status: number,
  error: OpenAiError,
  hints: Partial<RetryHint> & { readonly shouldRetry?: boolean | undefined } = {},
): UpstreamError {
  const { retryAfterMs, retryAt } = hints;
  return new UpstreamError(`The provider answered ${status}: ${error.message}`, {
    kind: classifyFault(status, error),
    fault: { status, error, retryAfterMs, ...(retryAt !== undefined && { retryAt }) },
    shouldRetry: hints.shouldRetry,
  });
}

/**
 * Throws if a response with a success status contains an error.
 *
 * @param body The parsed body of a response or an event.
 * @throws {UpstreamError} If it has an `error`.
 */
export function throwIfError(body: Record<string, unknown>): void {
  const { error, object } = body;
  const isError = object === "error" || typeof error === "string"
    ? error !== ""
    : typeof error === "object" && error !== null;
  if (isError) throw upstreamError(200, readOpenAiError(body, 200));
}

/** Tolerates a single unreadable event of a stream; two in a row end it. */
export class EventTolerance {
  #hasFailed = false;

  /**
   * Parses an event.
   *
   * @returns Undefined for an event that is skipped.
   * @throws {UpstreamError} For the second unreadable event in a row, and any other error of the parser.
   */
  read<T>(parse: (data: string) => T, data: string): T | undefined {
    try {
      const value = parse(data);
      this.#hasFailed = false;
      return value;
    } catch (error) {
      const isUnreadable = UpstreamError.isInstance(error) && error.kind === "invalid_response";
      if (!isUnreadable || this.#hasFailed) throw error;
      this.#hasFailed = true;
      return undefined;
    }
  }
}

/**
 * Parses one event in OpenAI's dialect.
 *
 * @throws {UpstreamError} If it is an error, or not a JSON object.
 */
export function parseChunk(data: string): ChatCompletionChunk {
  const body = parseObject(data);
  throwIfError(body);
  if (Array.isArray(body.choices) && !body.choices.every(isObject)) {
    throw new UpstreamError("The provider's event has an unreadable choice", { kind: "invalid_response" });
  }
  return body as unknown as ChatCompletionChunk;
}
