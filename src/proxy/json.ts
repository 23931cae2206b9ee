/**
 * Answers in JSON, before they become a `Response`, or what else a server sends.
 * @module
 */
import type { PlainResponse } from "../contracts/shell.ts";

/**
 * A JSON answer.
 *
 * @param value What it says.
 * @param headers What it carries; the type is added.
 * @param status Of HTTP.
 */
export function json(value: unknown, headers: Record<string, string>, status: number = 200): PlainResponse {
  headers["content-type"] = "application/json";
  return { status, headers, body: JSON.stringify(value) };
}
