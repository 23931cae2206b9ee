/**
 * Requests whose responses may be repeated. Imported with the first request of a mesh with a cache, or with the first that says
 * something about one.
 * @module
 */
import type { RequestBody } from "../../contracts/openai.ts";
import type { CompletionResponse } from "../../contracts/provider.ts";
import type { Outcome, Usage } from "../../state/counters/usage.ts";
import { fromBase64, toBase64 } from "../../util/base64.ts";
import type { EventStream } from "../committed_stream.ts";
import type { ByteStream } from "../content_stream.ts";
import type { RequestGuard } from "../guards/guarding.ts";
import type { Completing, Delivered } from "../delivered.ts";
import { openingStream, readEvents } from "../perform_stream.ts";
import type { RouteDeps, RoutedRequest } from "../request.ts";
import type { ResponseEnd, Result, ServedResult } from "../result.ts";
import { route } from "../route.ts";
import type { CacheEntry, EntryForm } from "./cache_entry.ts";
import { CachedResult } from "./cached_result.ts";
import { type CachedDeps, type CachedRequest, createMissError } from "./caching.ts";
import { isStorable, isStorableStream, readCacheControl } from "./cache_policy.ts";
import { KeptContent, RecordedContent, RepeatedContent } from "./recorded_content.ts";
import { KeptStream, RecordedStream, RepeatedStream } from "./recorded_stream.ts";

/** The result of a request, which is settled by its stream if it has one. */
type OpenResult = ServedResult & { settle(outcome: Outcome, end: ResponseEnd): Usage };

/** A response before the guards of its request have seen it. */
export type OpenedResponse =
  & {
    readonly result: OpenResult;
    /** Keeps the response. Called once it is complete and has passed the guards. */
    readonly keep?: () => void;
  }
  & (
    | { readonly kind: "complete"; readonly response: CompletionResponse<unknown>; readonly end: ResponseEnd }
    | { readonly kind: "stream"; readonly stream: EventStream }
    | { readonly kind: "content"; readonly stream: ByteStream }
  );

/** Calls models for a request. */
interface CallParts {
  readonly deps: CachedDeps;
  readonly completing: Completing;
  readonly guard: RequestGuard | undefined;
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
  { routed, ...parts }: CallParts & { readonly routed: RoutedRequest },
): Promise<Delivered<Response> | undefined> {
  const { deps, guard } = parts;
  if (deps.caching === undefined) {
    if (readCacheControl(request.routingConstraints?.cache).mode === "only") throw createMissError();
    return undefined;
  }
  const startedAt = deps.runtime.clock.monotonic();
  const cached = await deps.caching.open(routed, deps);
  if (cached === undefined) return undefined;
  const entry = await cached.lookup();
  const opened = (entry && repeat(entry, { cached, startedAt, deps })) ??
    await callModel(request as unknown as RoutedRequest, cached, parts);
  return await deliver(opened, guard) as Delivered<Response>;
}

/** Repeats a response; undefined if it has another form than the request. */
function repeat(
  entry: CacheEntry,
  { cached, startedAt, deps }: {
    readonly cached: CachedRequest;
    readonly startedAt: number;
    readonly deps: RouteDeps;
  },
): OpenedResponse | undefined {
  const { request, pool, caching } = cached;
  const { form } = entry;
  if (form.kind !== toKind(request)) return undefined;
  const result = new CachedResult(request, { entry, pool, ageMs: caching.findAge(entry), startedAt, deps });
  if (form.kind === "complete") {
    const { text, content } = form;
    const response = {
      body: JSON.parse(text),
      ...(content ? { content: { type: content.type, bytes: fromBase64(content.base64) } } : { wire: encode(text) }),
    };
    const end = { usage: undefined, written: () => 0, text: () => text };
    return { kind: "complete", result, response, end };
  }
  const onEnd = (cause?: unknown) => {
    const text = form.kind === "stream" ? () => form.events.join("\n") : undefined;
    result.settle(cause === undefined ? "success" : "none", { cause, ...(text && { text }) });
  };
  if (form.kind === "content") return { kind: "content", result, stream: new RepeatedContent(form.content, onEnd) };
  const options = { wantsUsage: wantsUsage(request), signal: request.signal, onEnd };
  return { kind: "stream", result, stream: new RepeatedStream(form.events, options) };
}

/** The form of a response in the cache. */
function toKind({ operation, delivery }: RoutedRequest): EntryForm["kind"] {
  if (operation.hasContent) return "content";
  return delivery === "stream" ? "stream" : "complete";
}

/** Sends a request to a model. */
async function callModel(
  request: RoutedRequest,
  cached: CachedRequest,
  { deps, guard, completing }: CallParts,
): Promise<OpenedResponse> {
  const { request: sent, caching } = cached;
  if (sent.operation.hasContent) return await openContent(cached, deps);
  if (sent.delivery === "stream") {
    const result = await route(sent, openingStream(deps), deps);
    const withUsage = { body: { ...sent.body, stream_options: { include_usage: true } } };
    const events = readEvents(result, withUsage, { ...deps, isLogged: guard === undefined });
    const stream = new RecordedStream(events, {
      wantsUsage: wantsUsage(request),
      maxChars: caching.settings.maxEntry,
    });
    result.cacheStatus = "MISS";
    return { kind: "stream", result, stream, keep: () => keepStream(stream, { result, cached, deps }) };
  }
  const result = await route(sent, completing(request, deps), deps);
  result.cacheStatus = "MISS";
  const { response, body, usage, isEmpty } = result.received;
  const keep = () => {
    if (!isEmpty && response.isFiltered !== true && isStorable(response.body, sent.body)) {
      store(toForm(response), { result, cached, deps });
    }
  };
  return { kind: "complete", result, response, end: { ...usage, text: () => JSON.stringify(body) }, keep };
}

async function openContent(cached: CachedRequest, deps: RouteDeps): Promise<OpenedResponse> {
  const { request: sent, caching } = cached;
  const { openingContent, readContent } = await import("../content_stream.ts");
  const result = await route(sent, openingContent(sent.operation), deps);
  const stream = new RecordedContent(readContent(result, sent.operation, deps), caching.settings.maxEntry);
  result.cacheStatus = "MISS";
  const keep = () => {
    const { content } = stream;
    store(content && { kind: "content", content }, { result, cached, deps });
  };
  return { kind: "content", result, stream, keep };
}

function keepStream(stream: RecordedStream, parts: StoreParts): void {
  const { events } = stream;
  if (events === undefined || !isStorableStream(events, parts.cached.request.body)) return;
  store({ kind: "stream", events }, parts);
}

interface StoreParts {
  /** A result that is settled. */
  readonly result: Result;
  readonly cached: CachedRequest;
  readonly deps: RouteDeps;
}

/** Keeps a response, with the facts that each repetition states. */
function store(form: EntryForm | undefined, { result, cached, deps }: StoreParts): void {
  const { model, provider, served_by: servedBy, cost_usd: costUsd } = result.routing;
  if (form === undefined || model === null || provider === null) return;
  const dropped = result.dropped.length === 0 ? undefined : result.dropped;
  cached.store({ createdAt: deps.runtime.clock.now(), model, provider, servedBy, dropped, costUsd, form });
}

/** Returns a response as it is kept; undefined if it is not complete. */
function toForm({ body, wire, content }: CompletionResponse<unknown>): EntryForm | undefined {
  const text = wire === undefined ? JSON.stringify(body) : new TextDecoder().decode(wire);
  if (content === undefined) return { kind: "complete", text };
  const { type, bytes } = content;
  return bytes instanceof Uint8Array
    ? { kind: "complete", text, content: { type, base64: toBase64(bytes) } }
    : undefined;
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

function wantsUsage({ body: { stream_options } }: RoutedRequest): boolean {
  return Object(stream_options).include_usage === true;
}

function encode(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
