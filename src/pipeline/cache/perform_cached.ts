/**
 * Requests whose responses may be repeated. Imported with the first request of a mesh with a cache, or with the first that says
 * something about one.
 * @module
 */
import type { RequestBody } from "../../contracts/openai.ts";
import type { CompletionResponse } from "../../contracts/provider.ts";
import type { RequestGuard } from "../guards/guarding.ts";
import type { Completing, Delivered } from "../delivered.ts";
import type { RoutedRequest } from "../request.ts";
import { callModel, openContent } from "./call_model.ts";
import type { CachedDeps } from "./caching.ts";
import { createMissError } from "./cached_request.ts";
import { readCacheControl } from "./cache_policy.ts";
import { KeptContent } from "./recorded_content.ts";
import { KeptStream } from "./kept_stream.ts";
import { repeat, type RepeatedRequest } from "./repeat.ts";
import { type OpenedResponse, shareCall } from "./share_call.ts";

/** Parts of {@linkcode performCached}. */
interface CacheParts {
  readonly routed: RoutedRequest;
  readonly guard: RequestGuard | undefined;
  readonly deps: CachedDeps;
  readonly completing: Completing;
}

/**
 * Performs a request whose response may be repeated.
 *
 * @param parts The request as its guards have left it, its guards, and what calls models.
 * @returns Undefined if it passes by the cache.
 * @throws {MeshError} `cache_miss`, or as other requests do.
 */
export async function performCached<Body extends RequestBody, Response>(
  request: RoutedRequest<Body, Response>,
  { routed, guard, deps, completing }: CacheParts,
): Promise<Delivered<Response> | undefined> {
  if (deps.caching === undefined) {
    if (readCacheControl(request.routingConstraints?.cache).mode === "only") throw createMissError();
    return undefined;
  }
  const startedAt = deps.runtime.clock.monotonic();
  const cached = await deps.caching.open(routed, deps);
  if (cached === undefined) return undefined;
  const opened = await openResponse(request as unknown as RoutedRequest, {
    cached,
    guard,
    deps,
    completing,
    startedAt,
  });
  return await deliver(opened, guard) as Delivered<Response>;
}

/** Repeats a response, or requests it from a model. */
async function openResponse(
  request: RoutedRequest,
  { guard, completing, ...parts }: Pick<CacheParts, "guard" | "completing"> & RepeatedRequest,
): Promise<OpenedResponse> {
  const { cached, deps } = parts;
  const { operation } = cached.request;
  if (operation.name === "embeddings") {
    const { callForVectors } = await import("./embeddings.ts");
    return await shareCall({ ...parts, begin: (sent) => callForVectors(sent, { ...parts, completing }) });
  }
  const isLogged = guard === undefined;
  const entry = await cached.lookup();
  const repeated = entry && repeat(entry, parts, { isLogged });
  if (repeated !== undefined) return repeated;
  if (operation.hasContent) return await openContent(cached, deps);
  const call = completing(request, deps);
  return await shareCall({
    ...parts,
    begin: (sent, settle) => callModel(sent, { cached, deps, call, settle, isLogged }),
  });
}

/** Lets the guards check a response, settles it unless it is streamed, and keeps it. */
async function deliver(opened: OpenedResponse, guard: RequestGuard | undefined): Promise<Delivered<unknown>> {
  const { result, keep } = opened;
  if (opened.kind === "stream") {
    const stream = guard === undefined ? opened.stream : await guard.guardStream(opened.stream, result);
    const kept = keep === undefined ? stream : new KeptStream(stream, keep);
    return Object.assign(result, { kind: "stream" as const, stream: kept });
  }
  if (opened.kind === "content") {
    const stream = guard === undefined ? opened.stream : await guard.guardContent(opened.stream, result);
    const kept = keep === undefined ? stream : new KeptContent(stream, keep);
    return Object.assign(result, { kind: "content" as const, stream: kept });
  }
  const { response, end: { text, ...end } } = opened;
  const checked = guard === undefined ? response : await checkResponse(opened, guard);
  const isLogged = checked === response; // not what guards have replaced
  const used = result.settle("success", { ...end, ...(isLogged && text && { text }) });
  keep?.();
  const costNanoUsd = used.isReported ? used.costNanoUsd : undefined;
  return Object.assign(result, { kind: "complete" as const, response: checked, costNanoUsd });
}

/** A response that is blocked has been paid for. Its model has not failed. */
async function checkResponse(
  { result, response, end: { text: _, ...end } }: OpenedResponse & { readonly kind: "complete" },
  guard: RequestGuard,
): Promise<CompletionResponse<unknown>> {
  try {
    return await guard.checkResponse(response, result);
  } catch (cause) {
    result.settle("success", { ...end, cause });
    throw cause;
  }
}
