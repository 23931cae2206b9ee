/**
 * Calls of models whose responses may be repeated.
 * @module
 */
import type { CompletionResponse } from "../../contracts/provider.ts";
import { toBase64 } from "../../util/base64.ts";
import { priceUsage } from "../../util/cost.ts";
import type { Completing } from "../delivered.ts";
import { openingStream, readEvents } from "../perform_stream.ts";
import type { RouteDeps, RoutedRequest } from "../request.ts";
import type { ServedResult } from "../result.ts";
import { route } from "../route.ts";
import type { EntryForm } from "./cache_entry.ts";
import type { CachedRequest } from "./cached_request.ts";
import { isStorable } from "./cache_policy.ts";
import type { Begun, CallFacts, OpenResult, Settle } from "./pending_call.ts";
import { RecordedContent } from "./recorded_content.ts";
import { toCompletion } from "./replay.ts";
import type { OpenedResponse } from "./share_call.ts";

/** A request that is sent to a model. */
interface SentRequest {
  readonly cached: CachedRequest;
  readonly deps: RouteDeps;
  /** Requests a complete response. */
  readonly call: ReturnType<Completing>;
  /** Returns what settles the result of a stream. */
  readonly settle: (result: OpenResult) => Settle;
  /** Whether the request log may have the events of a stream. */
  readonly isLogged: boolean;
}

/** Sends a request to a model. */
export async function callModel(sent: RoutedRequest, parts: SentRequest): Promise<Begun> {
  const { deps, call } = parts;
  parts.cached.countMiss();
  if (sent.delivery === "stream") return await openStream(sent, parts);
  const result = await route(sent, call, deps);
  result.cacheStatus = "MISS";
  const { response, body, usage, isEmpty } = result.received;
  const keep = ({ costUsd }: CallFacts) => {
    if (isEmpty || response.isFiltered === true || !isStorable(response.body, sent.body)) return;
    store(toForm(response), { ...parts, result, costUsd });
  };
  return { kind: "complete", result, response, end: { ...usage, text: () => JSON.stringify(body) }, keep };
}

async function openStream(sent: RoutedRequest, parts: SentRequest): Promise<Begun> {
  const { deps, settle, isLogged } = parts;
  const result = await route(sent, openingStream(deps), deps);
  result.cacheStatus = "MISS";
  const { member, received, connection } = result;
  const reportInterrupt = () => result.reportInterrupt();
  const shared = { member, received, connection, settle: settle(result), reportInterrupt };
  const withUsage = { body: { ...sent.body, stream_options: { include_usage: true } } };
  const stream = readEvents(shared, withUsage, { ...deps, isLogged });
  const keep = ({ events: recorded, costUsd }: CallFacts) => {
    const events = received.isEmpty ? undefined : recorded?.map(({ text }) => text);
    if (events === undefined || !isStorable(toCompletion(events), sent.body)) return;
    store({ kind: "stream", events }, { ...parts, result, costUsd });
  };
  const estimateCost = () => {
    const { input } = sent.operation.measureNeeds(sent.body, sent.files ?? []).load;
    return priceUsage({ input, output: 0 }, member.model.info.pricing, deps.runtime.clock.now())?.nanoUsd;
  };
  return { kind: "stream", result, stream, keep, estimateCost };
}

/** Sends a request for content to a model. */
export async function openContent(cached: CachedRequest, deps: RouteDeps): Promise<OpenedResponse> {
  const { request: sent, caching } = cached;
  cached.countMiss();
  const { openingContent, readContent } = await import("../content_stream.ts");
  const result = await route(sent, openingContent(sent.operation), deps);
  const stream = new RecordedContent(readContent(result, sent.operation, deps), caching.settings.maxEntry);
  result.cacheStatus = "MISS";
  const keep = () => {
    const content = result.received.isEmpty ? undefined : stream.content;
    const { cost_usd: costUsd } = result.routing;
    store(content && { kind: "content", content }, { result, cached, deps, costUsd });
  };
  return { kind: "content", result, stream, keep };
}

/** Keeps a response, with the facts that each repetition states. */
function store(form: EntryForm | undefined, { result, cached, deps, costUsd }: {
  readonly result: ServedResult;
  readonly cached: CachedRequest;
  readonly deps: RouteDeps;
  readonly costUsd: number | undefined;
}): void {
  const { model, provider, served_by: servedBy } = result.routing;
  if (form === undefined || model === null || provider === null) return;
  const dropped = result.dropped.length === 0 ? undefined : result.dropped;
  cached.store({ createdAt: deps.runtime.clock.now(), model, provider, servedBy, dropped, costUsd, form });
}

/** Returns a response as it is kept; undefined if it is not complete. */
function toForm({ body, wire, content }: CompletionResponse<unknown>): EntryForm | undefined {
  const text = wire instanceof Uint8Array ? new TextDecoder().decode(wire) : wire ?? JSON.stringify(body);
  if (content === undefined) return { kind: "complete", text };
  const { type, bytes } = content;
  return bytes instanceof Uint8Array
    ? { kind: "complete", text, content: { type, base64: toBase64(bytes) } }
    : undefined;
}
