/**
 * JSON responses.
 * @module
 */
import type { PlainResponse } from "../contracts/shell.ts";

/** Serializes a value as a response. */
export function json(value: unknown, { headers, status = 200 }: {
  /** Headers, in addition to `content-type`. */
  readonly headers: Record<string, string>;
  /**
   * HTTP status.
   * @default 200
   */
  readonly status?: number;
}): PlainResponse {
  headers["content-type"] = "application/json";
  return { status, headers, body: JSON.stringify(value) };
}
