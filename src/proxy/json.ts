/**
 * JSON responses.
 * @module
 */
import type { PlainResponse } from "../contracts/shell.ts";

/**
 * A JSON response.
 *
 * @param value Its body.
 * @param headers Its headers; `content-type` is added to them.
 * @param status HTTP status.
 *   @default 200
 */
export function json(value: unknown, headers: Record<string, string>, status: number = 200): PlainResponse {
  headers["content-type"] = "application/json";
  return { status, headers, body: JSON.stringify(value) };
}
