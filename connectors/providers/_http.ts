/**
 * What every provider's connector does with HTTP: read a body within bounds, read JSON, turn an error response
 * into an `UpstreamError`.
 * @module
 */
import type { ChatCompletionChunk, OpenAiError } from "../../src/contracts/openai.ts";
import type { BodyReader, Clock, UpstreamResponse } from "../../src/contracts/runtime.ts";
import { UpstreamError } from "../../src/errors.ts";
import { readBody } from "../../src/util/bytes.ts";
import { classifyFault } from "../../src/util/classify.ts";
import { retryAfterMs } from "../../src/util/retry_after.ts";
import { readOpenAiError } from "./_openai_error.ts";

const maxAnswerBytes = 64 * 1024 * 1024;
const maxErrorBytes = 64 * 1024;
const maxErrorMs = 2_000;

/** How a vendor's error responses are read. */
export interface FaultReader {
  /** The error in OpenAI's terms; `body` is the parsed JSON, or the text when it is none. */
  readError(body: unknown, status: number): OpenAiError;
  /** A wait the vendor names in the body or in headers of its own, ms. */
  readRetryAfter?(body: unknown, headers: { get(name: string): string | null }): number | undefined;
}

/**
 * Reads a whole body.
 *
 * @param response The response.
 * @param limit Largest size, bytes.
 * @throws {UpstreamError} `invalid_response` when it is larger.
 */
export async function readBytes(response: UpstreamResponse, limit: number = maxAnswerBytes): Promise<Uint8Array> {
  return await readBody(response, {
    maxBytes: limit,
    tooLarge: () => new UpstreamError(`The provider's answer is over ${limit} bytes`, { kind: "invalid_response" }),
  });
}

/**
 * Reads the body of a streamed response as it arrives.
 *
 * @throws {UpstreamError} `invalid_response` when it has none.
 */
export function streamReaderOf(response: UpstreamResponse): BodyReader {
  const reader = response.reader();
  if (reader === null) throw new UpstreamError("The provider sent no body", { kind: "invalid_response" });
  return reader;
}

/**
 * Reads a JSON object.
 *
 * @param text The text.
 * @throws {UpstreamError} `invalid_response` when it is none; the text itself is not quoted.
 */
export function parseObject(text: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    const what = text.trim() === ""
      ? "an empty body"
      : text.trimStart().startsWith("<")
      ? "a web page"
      : "no valid JSON";
    throw new UpstreamError(`The provider answered with ${what}`, { kind: "invalid_response" });
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new UpstreamError("The provider answered with JSON that is no object", { kind: "invalid_response" });
  }
  return value as Record<string, unknown>;
}

/**
 * Reads an error response.
 *
 * @param response A response whose status is not 2xx.
 * @param reader How the vendor writes errors.
 * @param clock Bounds the wait for the body.
 */
export async function readFault(response: UpstreamResponse, reader: FaultReader, clock: Clock): Promise<UpstreamError> {
  const { status, headers } = response;
  let body: unknown = "";
  try {
    const text = new TextDecoder().decode(await readSoon(response, clock));
    body = text;
    body = JSON.parse(text);
  } catch {
    // an error response needs no readable body: its status is enough
  }
  const shouldRetry = headers.get("x-should-retry");
  return upstreamError(status, reader.readError(body, status), {
    retryAfterMs: reader.readRetryAfter?.(body, headers) ?? retryAfterMs(headers, clock.now()),
    shouldRetry: shouldRetry === null ? undefined : shouldRetry === "true",
  });
}

/** What there is of an error response's body before long: a server that never ends it must not delay its status. */
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
 * An `UpstreamError` for an error in OpenAI's terms, classed by `classifyFault`.
 *
 * @param status The HTTP status it came under; 200 for an error inside a response that began well.
 * @param error The error.
 * @param hints Further facts of the response.
 */
export function upstreamError(
  status: number,
  error: OpenAiError,
  hints: { retryAfterMs?: number; shouldRetry?: boolean } = {},
): UpstreamError {
  return new UpstreamError(`The provider answered ${status}: ${error.message}`, {
    kind: classifyFault(status, error),
    fault: { status, error, retryAfterMs: hints.retryAfterMs },
    shouldRetry: hints.shouldRetry,
  });
}

/**
 * Refuses a response that began well and is an error inside.
 *
 * @param body The parsed body of a response or an event.
 * @throws {UpstreamError} When it has an `error`.
 */
export function throwIfError(body: Record<string, unknown>): void {
  const { error } = body;
  const isError = typeof error === "string" ? error !== "" : typeof error === "object" && error !== null;
  if (isError) throw upstreamError(200, readOpenAiError(body, 200));
}

/**
 * The object of one event in OpenAI's dialect.
 *
 * @param data Its JSON text.
 * @throws {UpstreamError} When it is an error, or no JSON object.
 */
export function chunkOf(data: string): ChatCompletionChunk {
  const body = parseObject(data);
  throwIfError(body);
  return body as unknown as ChatCompletionChunk;
}
