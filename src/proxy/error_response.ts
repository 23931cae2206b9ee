/**
 * The response to a request that failed.
 * @module
 */
import type { PlainResponse } from "../contracts/shell.ts";
import { MeshError } from "../errors.ts";
import type { Engine } from "../engine/engine.ts";
import { routingOf } from "../observe/routing_of.ts";
import type { Client } from "./client.ts";
import { errorRowOf } from "./error_body.ts";
import { json } from "./json.ts";
import { addRoutingHeaders } from "./routing_headers.ts";

/** The request that failed. */
export interface FailedRequest {
  /** Gets a trace of an unexpected error. */
  readonly mesh: Engine;
  readonly requestId: string;
  /** Headers that the response has already. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Its sender, where clients have names. */
  readonly client?: Client | undefined;
}

/**
 * The response to a request that failed, by the error table.
 *
 * @param error Anything that was thrown.
 * @param request The request that failed.
 */
export function errorResponse(
  error: unknown,
  { mesh, requestId, headers: known, client }: FailedRequest,
): PlainResponse {
  const row = errorRowOf(error, requestId);
  if (row.status === 500) traceUnexpected(error, mesh, requestId);
  const headers = { ...known };
  const record = isRouted(error) ? routingOf(error) : undefined;
  if (record !== undefined) addRoutingHeaders(headers, { routing: record });
  Object.assign(headers, row.headers, { "x-request-id": requestId });
  const message = client?.messageFor(error, mesh.runtime.clock.now());
  const body = message === undefined ? row.body : { error: { ...row.body.error, message } };
  return json(body, { headers, status: row.status });
}

/**
 * Whether an error has a routing record.
 *
 * @param error Anything that was thrown.
 */
export function isRouted(error: unknown): error is object {
  return typeof error === "object" && error !== null && routingOf(error) !== undefined;
}

function traceUnexpected(error: unknown, { hub, redact }: Engine, requestId: string): void {
  const name = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  hub.trace({
    severity: "error",
    component: "proxy",
    message: redact(name),
    request_id: requestId,
    ...(error instanceof Error && !MeshError.isInstance(error) ? { stack: redact(error.stack ?? "") } : {}),
  });
}
