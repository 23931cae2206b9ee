/**
 * Responses to failed requests.
 * @module
 */
import type { PlainResponse } from "../contracts/shell.ts";
import type { DialectConventions } from "../dialects/dialect.ts";
import { MeshError } from "../errors.ts";
import type { Engine } from "../engine/engine.ts";
import { routingOf } from "../observe/routing_of.ts";
import type { Client } from "./client.ts";
import { toErrorRow } from "./error_body.ts";
import { json } from "./json.ts";
import { addRoutingHeaders } from "./routing_headers.ts";

/** Creates the response according to the error table, with routing headers if the error has a record. */
export function errorResponse(
  error: unknown,
  { mesh, requestId, headers: knownHeaders, client, dialect }: {
    /** Receives traces of unexpected errors. */
    readonly mesh: Engine;
    readonly requestId: string;
    /** Headers already set. */
    readonly headers?: Readonly<Record<string, string>>;
    readonly client?: Client | undefined;
    /** The format of its body; OpenAI's by default. */
    readonly dialect?: DialectConventions | undefined;
  },
): PlainResponse {
  const row = toErrorRow(error, requestId);
  if (row.status === 500) traceUnexpected(error, mesh, requestId);
  const headers = { ...knownHeaders };
  const record = isRouted(error) ? routingOf(error) : undefined;
  if (record !== undefined) addRoutingHeaders(headers, { routing: record });
  Object.assign(headers, row.headers, { "x-request-id": requestId });
  const message = client?.messageFor(error);
  const { status, body: { error: facts } } = row;
  const body = { error: message === undefined ? facts : { ...facts, message } };
  const fault = { status, ...body };
  return json(dialect?.errorBody(fault) ?? body, { headers, status: dialect?.toStatus?.(fault) ?? status });
}

/** Whether an error has a routing record. */
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
