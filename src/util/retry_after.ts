/**
 * Parses the retry delay that a server requests.
 *
 * Source: RFC 9110 section 10.2.3 (`Retry-After`); `retry-after-ms` is OpenAI's variant in milliseconds.
 * @module
 */

interface HeaderSource {
  get(name: string): string | null;
}

/** The delay that a server requests before another call. */
export interface RetryHint {
  /** Time until then, ms. */
  readonly retryAfterMs: number;
  /** Wall-clock ms, if the server has stated a date. */
  readonly retryAt?: number;
}

/**
 * Parses `retry-after-ms`, else `retry-after` in seconds or as an HTTP date. A date is relative to the response's
 * `Date` header, so that clock skew does not matter.
 *
 * @param now Wall-clock ms, the reference for a response without `Date`.
 * @returns The delay in ms; undefined when it is absent or invalid (past, negative, not a number).
 *
 * @example
 * ```ts
 * retryAfterMs(new Headers({ "retry-after": "1.5" }), Date.now()); // 1500
 * ```
 */
export function retryAfterMs(headers: HeaderSource, now: number): number | undefined {
  const ms = positive(headers.get("retry-after-ms"));
  if (ms !== undefined) return ms;
  const value = headers.get("retry-after");
  if (value === null) return undefined;
  const seconds = positive(value);
  if (seconds !== undefined) return seconds * 1000;
  if (!/[a-z]/i.test(value)) return undefined;
  const at = Date.parse(value);
  const sent = Date.parse(headers.get("date") ?? "");
  const wait = at - (Number.isNaN(sent) ? now : sent);
  return wait > 0 ? wait : undefined;
}

/** Whether the delay of {@linkcode retryAfterMs} is stated as a date. */
export function isRetryDate(headers: HeaderSource): boolean {
  return positive(headers.get("retry-after-ms")) === undefined && /[a-z]/i.test(headers.get("retry-after") ?? "");
}

function positive(text: string | null): number | undefined {
  if (text === null || !/^\d+(\.\d+)?$/.test(text.trim())) return undefined;
  const value = Number(text);
  return value > 0 && Number.isFinite(value) ? value : undefined;
}
