/**
 * The common part of all endpoints that route requests: constraints, session, and remaining time.
 * @module
 */
import type { RequestBody } from "../contracts/openai.ts";
import type { StopSignal } from "../contracts/runtime.ts";
import type { Delivered } from "../pipeline/perform.ts";
import { missing, requestedDelivery } from "../pipeline/check_body.ts";
import type { RoutedRequest } from "../pipeline/request.ts";
import { readLabels, readRoutingConstraints, type RequestLabels } from "../pipeline/routing_constraints.ts";
import { findSession, readTraceContext } from "../util/request_id.ts";
import type { Exchange, RouteEntry } from "./exchange.ts";
import { readWork, type RequestTime } from "./body.ts";
import type { PlainResponse } from "../contracts/shell.ts";
import type { CheckedOperation } from "../pipeline/operation.ts";
import { addContentType, ContentBody } from "./content_body.ts";
import { addStreamHeaders, respondWithStream } from "./heartbeat.ts";
import { addRoutingHeaders } from "./routing_headers.ts";
import { chatEvents, EventBody, toStreamFormat } from "./sse.ts";

/** A request to perform. */
interface CheckedRequest<Body extends RequestBody, Response>
  extends Pick<RoutedRequest<Body, Response>, "operation" | "body" | "text" | "files" | "original"> {
  /** The default `model` of HTTP requests. */
  readonly defaultModel?: string | undefined;
  /** The session, if the dialect specifies it in its own way. */
  readonly session?: string | undefined;
  /** The body as received, in which its tags and its end user are; by default the body. */
  readonly labeled?: Readonly<Record<string, unknown>> | undefined;
  /** Aborts it; defaults to the request's own signal. */
  readonly signal?: StopSignal | undefined;
  readonly time: RequestTime;
}

/**
 * Performs a request within its remaining time.
 *
 * @param checked Its operation and validated body, with a model unless the operation has a default.
 */
export function performRequest<Body extends RequestBody, Response>(
  exchange: Exchange,
  checked: CheckedRequest<Body, Response>,
): Promise<Delivered<Response>> {
  return exchange.mesh.perform(toRoutedRequest(exchange, checked));
}

/**
 * Returns a request as the pipeline performs it, within its remaining time.
 *
 * @param checked Its operation and validated body, with a model unless the operation has a default.
 */
export function toRoutedRequest<Body extends RequestBody, Response>(
  exchange: Exchange,
  checked: CheckedRequest<Body, Response>,
): RoutedRequest<Body, Response> {
  const { mesh, request, requestId, client, proxy: { guards } } = exchange;
  const { operation, body, text, files, original, defaultModel, session: named, labeled = body, signal, time } =
    checked;
  const { startedAt, limitMs } = time;
  const { headers } = request;
  const further = {
    priority: headers.get("x-mesh-priority"),
    tags: headers.get("x-mesh-tags"),
    cache: headers.get("x-mesh-cache"),
  };
  const routingConstraints = readRoutingConstraints(headers.get("x-mesh-route"), body, further);
  if (routingConstraints?.priority !== undefined) client?.checkPriority(routingConstraints.priority);
  const providerKey = headers.get("x-provider-key") ?? undefined;
  if (providerKey !== undefined) client?.checkProviderKeys();
  const session = findSession(headers.get("x-mesh-session"), body, named);
  const labels = exchange.labels ??= findLabels(exchange, labeled, routingConstraints);
  const ownMs = Math.min(limitMs, routingConstraints?.deadlineMs ?? Infinity);
  // no spread: what follows one is added member by member
  return {
    id: requestId,
    operation,
    delivery: requestedDelivery(operation, body),
    model: body.model ?? defaultModel!,
    body,
    text,
    files,
    original,
    signal: signal ?? request.signal,
    timeoutMs: Math.max(0, ownMs - (mesh.runtime.clock.monotonic() - startedAt)),
    routingConstraints,
    client,
    identity: exchange.sender?.identity,
    isStoredTurn: exchange.isStoredTurn,
    guards,
    labels,
    scopes: mesh.state.scopes && selectScopes(exchange, labels),
    userAgent: headers.get("user-agent") ?? undefined,
    trace: readTraceContext(headers),
    session,
    providerKey,
  };
}

/** Returns the team, the tags and the end user of a request. Most have none. */
function findLabels(
  { client, sender }: Exchange,
  body: Readonly<Record<string, unknown>>,
  constraints: RoutedRequest["routingConstraints"],
): RequestLabels | undefined {
  const ownTags = sender?.tags?.length ? [...client?.tags ?? [], ...sender.tags] : client?.tags;
  const team = client?.team;
  const { metadata, labels, user, safety_identifier } = body;
  const isLabeled = metadata ?? labels ?? user ?? safety_identifier ?? constraints ?? ownTags ?? team;
  if (isLabeled === undefined || isLabeled === null) return undefined;
  return readLabels(body, { ...constraints, ownTags, team: team?.identity.key });
}

/**
 * Returns the limits that a request counts against which is not routed, or not yet.
 *
 * @param body Its body, in which its tags and its end user are.
 */
export function findScopes(
  exchange: Exchange,
  body: Readonly<Record<string, unknown>> = {},
): RoutedRequest["scopes"] {
  const { mesh: { state }, request: { headers } } = exchange;
  if (state.scopes === undefined) return undefined;
  const constraints = readRoutingConstraints(null, body, { tags: headers.get("x-mesh-tags") });
  return selectScopes(exchange, findLabels(exchange, body, constraints));
}

/** Selects the limits that a request counts against, once: all that is done for it is one request. */
function selectScopes(exchange: Exchange, labels?: RequestLabels): RoutedRequest["scopes"] {
  const { client, mesh: { state } } = exchange;
  const own = [client?.scope, client?.team];
  return exchange.scopes ??= state.scopes?.select({ own, client: client?.id ?? "", ...labels });
}

/**
 * Creates the route of an operation.
 *
 * @param operation Validates and performs the requests.
 */
export function operationRoute<Body extends RequestBody, Response>(
  operation: CheckedOperation<Body, Response>,
): RouteEntry {
  const handle = async (exchange: Exchange): Promise<PlainResponse> => {
    const { value, text, files, time } = await readWork(exchange, operation.form);
    const body = operation.check(value, files ?? []);
    const { defaultModel } = operation;
    if (body.model === undefined && defaultModel === undefined) throw missing("model");
    const request = { operation, body, defaultModel, time, text, files: files?.length === 0 ? undefined : files };
    if (body.stream !== true || operation.hasContent) {
      return toOperationResponse(await performRequest(exchange, request), exchange);
    }
    return await respondWithStream(exchange, {
      startedAt: time.startedAt,
      format: toStreamFormat(chatEvents(exchange.requestId)),
      perform: (signal) => performRequest(exchange, { ...request, signal }),
      respond: (result) => toOperationResponse(result, exchange),
    });
  };
  return { methods: ["POST"], isWork: true, handle };
}

function toOperationResponse(result: Delivered<unknown>, exchange: Exchange): PlainResponse {
  const { headers } = exchange;
  addRoutingHeaders(headers, result);
  if (result.kind === "stream") {
    const { requestId, onEnd } = exchange;
    addStreamHeaders(headers, "text/event-stream");
    return { status: 200, headers, body: new EventBody(result.stream, { writer: chatEvents(requestId), onEnd }) };
  }
  if (result.kind === "content") {
    addStreamHeaders(headers, result.stream.type);
    addContentType(headers, result.stream.type);
    return { status: 200, headers, body: new ContentBody(result.stream, exchange.onEnd) };
  }
  const { wire, body: parsed, content } = result.response;
  if (content !== undefined) {
    addContentType(headers, content.type);
    return { status: 200, headers, body: content.bytes as Uint8Array };
  }
  headers["content-type"] = "application/json";
  return { status: 200, headers, body: wire ?? JSON.stringify(parsed) };
}
