/**
 * JSON responses.
 * @module
 */
import type { PlainResponse } from "../contracts/shell.ts";

/** The head of a JSON response. */
export interface JsonHead {
  /** `content-type` is added to them. */
  readonly headers: Record<string, string>;
  /**
   * HTTP status.
   * @default 200
   */
  readonly status?: number;
}

/**
 * A JSON response.
 *
 * @param value Its body.
 * @param head Its headers and status.
 */
export function json(value: unknown, { headers, status = 200 }: JsonHead): PlainResponse {
  headers["content-type"] = "application/json";
  return { status, headers, body: JSON.stringify(value) };
}
