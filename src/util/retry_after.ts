/**
 * The wait a server asks for.
 *
 * Source: RFC 9110 section 10.2.3 (`Retry-After`); `retry-after-ms` is OpenAI's finer form.
 * @module
 */

/**
 * Reads `retry-after-ms`, else `retry-after` in seconds or as an HTTP date. A date is judged against the
 * response's own `Date`, so that a wrong clock on either side does not matter.
 *
 * @param now Wall clock, ms, for a response without `Date`.
 * @returns The wait in ms; undefined when there is none, or none that makes sense (past, negative, no number).
 *
 * @example
 * ```ts ignore
 * retryAfterMs(new Headers({ "retry-after": "1.5" }), Date.now()); // 1500
 * ```
 */
export function retryAfterMs(headers: { get(name: string): string | null }, now: number): number | undefined {
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

function positive(text: string | null): number | undefined {
  if (text === null || !/^\s*\d+(\.\d+)?\s*$/.test(text)) return undefined;
  const value = Number(text);
  return value > 0 && Number.isFinite(value) ? value : undefined;
}
