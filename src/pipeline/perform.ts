/**
 * Performs requests for complete, streamed and binary responses. The latter two are imported with their first request, which keeps pages
 * small.
 * @module
 */
import type { RequestBody } from "../contracts/openai.ts";
import type { Runtime } from "../contracts/runtime.ts";
import type { CompletionRequest, CompletionResponse } from "../contracts/provider.ts";
import type { ClientNames } from "./client_names.ts";
import type { RouteDeps, RoutedRequest } from "./request.ts";
import { isFilteredOut, readModelId, readResponse } from "./read_response.ts";
import type { Completion, Delivered } from "./delivered.ts";
import type { Call, Result, SentRequest } from "./result.ts";
import type { Operation } from "./operation.ts";
import { route } from "./route.ts";
import { DeadlineError, MeshError, ModelNotFoundError, ProviderError, UnsupportedRequestError } from "../errors.ts";
import type { CachedDeps } from "./cache/caching.ts";
import type { RequestGuard } from "./guards/guarding.ts";

type Writable<T> = { -readonly [key in keyof T]: T[key] };

let streams: typeof import("./perform_stream.ts") | undefined;

export type { Delivered };

/** Requests a complete response from a model, as its operation defines. */
function completing<Body extends RequestBody, Response>(
  request: RoutedRequest<Body, Response>,
  { runtime }: RouteDeps,
): Call<Completion<Response>> {
  return ({ model }, sent, connection) => {
    const completing = model.instance.provider!.complete(sent.completion as CompletionRequest, connection);
    // a provider of the program may return no promise
    return Promise.resolve(completing).then((complete) => readCompletion(complete, { request, sent, runtime }));
  };
}

function readCompletion<Body extends RequestBody, Response>(
  complete: Parameters<typeof readResponse>[0],
  { request: { operation, body: requested }, sent: { completion, clientNames, rotatesFiltered }, runtime }: {
    readonly request: RoutedRequest<Body, Response>;
    readonly sent: SentRequest;
    readonly runtime: Runtime;
  },
): Completion<Response> {
  const received = readResponse(complete, completion, operation);
  const normalized = operation.normalize?.(received, completion, runtime) ?? received;
  const response = clientNames === undefined ? normalized : withClientNames(normalized, clientNames);
  const { body } = response;
  const { usage, tier, written } = operation.usageIn(body);
  const isEmpty = received.isFiltered
    ? rotatesFiltered === true
    : operation.isEmpty(body) || rotatesFiltered === true && isFilteredOut(body);
  return {
    body,
    usage: { usage, billed: received.billed, tier, written },
    response: isEmpty ? response : operation.finish?.(response, requested) ?? response,
    isEmpty,
    modelId: readModelId(body),
  };
}

/** The bytes of a response with other names are not sent. */
function withClientNames<Response>(
  response: CompletionResponse<Response>,
  clientNames: ClientNames,
): CompletionResponse<Response> {
  const body = clientNames.restore(response.body, "message");
  if (body === response.body) return response;
  const { wire: _, ...others } = response;
  return { ...others, body };
}

/**
 * Performs a request. If no model serves it, continues with the names in its `models` list.
 *
 * @param deps Dependencies.
 * @throws A `MeshError`, the last one about existing models; or the client's abort reason.
 */
export function perform<Body extends RequestBody, Response>(
  request: RoutedRequest<Body, Response>,
  deps: CachedDeps,
): Promise<Delivered<Response>> {
  return request.body.models?.length
    ? performInTurn(request, (part) => performOne(part, deps), () => deps.runtime.clock.monotonic())
    : performOne(request, deps);
}

function performOne<Body extends RequestBody, Response>(
  request: RoutedRequest<Body, Response>,
  deps: CachedDeps,
): Promise<Delivered<Response>> {
  const isPlain = deps.guarding === undefined && (deps.caching ?? request.routingConstraints?.cache) === undefined;
  return isPlain ? deliver(request, { deps }) : performWithMore(request, deps);
}

/** Performs a request with guards or a cache. */
async function performWithMore<Body extends RequestBody, Response>(
  request: RoutedRequest<Body, Response>,
  deps: CachedDeps,
): Promise<Delivered<Response>> {
  const guard = deps.guarding && await deps.guarding.open(request as unknown as RoutedRequest, deps);
  if ((deps.caching ?? request.routingConstraints?.cache) !== undefined) {
    const { performCached } = await import("./cache/perform_cached.ts");
    const routed = guard?.request ?? request as unknown as RoutedRequest;
    const repeatable = await performCached(request, { routed, guard, deps, completing });
    if (repeatable !== undefined) return repeatable;
  }
  return await deliver(request, { deps, guard });
}

interface Delivery {
  readonly deps: CachedDeps;
  readonly guard?: RequestGuard | undefined;
}

function deliver<Body extends RequestBody, Response>(
  request: RoutedRequest<Body, Response>,
  delivery: Delivery,
): Promise<Delivered<Response>> {
  if (request.operation.hasContent) return deliverContent(request, delivery);
  return request.delivery === "stream" ? deliverStream(request, delivery) : deliverComplete(request, delivery);
}

async function deliverContent<Body extends RequestBody, Response>(
  request: RoutedRequest<Body, Response>,
  { deps, guard }: Delivery,
): Promise<Delivered<Response>> {
  const operation = request.operation as unknown as Operation;
  const { openingContent, readContent } = await import("./content_stream.ts");
  const result = await route(guard?.request ?? request as unknown as RoutedRequest, openingContent(operation), deps);
  const stream = readContent(result, operation, deps);
  return Object.assign(result, {
    kind: "content" as const,
    stream: guard === undefined ? stream : await guard.guardContent(stream, result),
  });
}

async function deliverStream<Body extends RequestBody, Response>(
  request: RoutedRequest<Body, Response>,
  { deps, guard }: Delivery,
): Promise<Delivered<Response>> {
  const { openingStream, readEvents } = streams ??= await import("./perform_stream.ts");
  const result = await route(guard?.request ?? request as unknown as RoutedRequest, openingStream(deps), deps);
  const stream = readEvents(result, request, { ...deps, isLogged: guard === undefined });
  return Object.assign(result, {
    kind: "stream" as const,
    stream: guard === undefined ? stream : await guard.guardStream(stream, result),
  });
}

async function deliverComplete<Body extends RequestBody, Response>(
  request: RoutedRequest<Body, Response>,
  { deps, guard }: Delivery,
): Promise<Delivered<Response>> {
  const routed = guard?.request ?? request as unknown as RoutedRequest;
  const result = await route(routed, completing(request, deps), deps);
  const response = guard === undefined ? result.received.response : await checkResponse(result, guard);
  return settleComplete(result, response);
}

function settleComplete<Response>(
  result: Result<Completion<Response>>,
  response: CompletionResponse<Response>,
): Delivered<Response> {
  const { body, response: received, usage: { usage, billed, tier, written } } = result.received;
  const text = response === received ? () => JSON.stringify(body) : undefined; // not what guards have replaced
  const used = result.settle("success", { usage, billed, tier, written, text });
  const delivered = result as typeof result & Writable<Delivered<Response> & { readonly kind: "complete" }>;
  delivered.kind = "complete";
  delivered.response = response;
  delivered.costNanoUsd = used.isReported ? used.costNanoUsd : undefined;
  return delivered;
}

/** A response that is blocked has been paid for. Its model has not failed. */
async function checkResponse<Response>(
  result: Result<Completion<Response>>,
  guard: RequestGuard,
): Promise<CompletionResponse<Response>> {
  const { usage, response } = result.received;
  try {
    return await guard.checkResponse(response, result);
  } catch (cause) {
    result.settle("success", { ...usage, cause });
    throw cause;
  }
}

/**
 * Performs a request with its own name, then with those of its `models`.
 *
 * @param performOne Performs it with one name.
 * @param now Monotonic ms.
 * @throws A `MeshError`, the last one about existing models; or the client's abort reason.
 */
async function performInTurn<Body extends RequestBody, Response>(
  request: RoutedRequest<Body, Response>,
  performOne: (request: RoutedRequest<Body, Response>) => Promise<Delivered<Response>>,
  now: () => number,
): Promise<Delivered<Response>> {
  const { body } = request;
  const models = [...new Set([request.model, ...body.models!])];
  const deadlineAt = now() + request.timeoutMs;
  let failure: unknown;
  for (const model of models) {
    try {
      const timeoutMs = deadlineAt - now();
      const hasAlternative = model !== models.at(-1);
      return await performOne({ ...request, model, body: { ...body, models }, timeoutMs, hasAlternative });
    } catch (error) {
      if (ProviderError.isInstance(error) && error.isFinal) throw error;
      // what a guard refuses is not offered to another pool
      if (UnsupportedRequestError.isInstance(error) && error.code === "content_blocked") throw error;
      if (!MeshError.isInstance(error) || DeadlineError.isInstance(error)) throw error;
      const isAbsent = ModelNotFoundError.isInstance(error) || UnsupportedRequestError.isInstance(error);
      failure = isAbsent ? failure ?? error : error;
    }
  }
  throw failure;
}
