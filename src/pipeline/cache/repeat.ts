/**
 * Responses from the cache, in the form that a request asks for.
 * @module
 */
import type { CompletionResponse } from "../../contracts/provider.ts";
import { fromBase64 } from "../../util/base64.ts";
import type { RouteDeps } from "../request.ts";
import type { ResponseEnd } from "../result.ts";
import type { CacheEntry, EntryForm } from "./cache_entry.ts";
import { CachedResult } from "./cached_result.ts";
import type { CachedRequest } from "./cached_request.ts";
import { RepeatedContent } from "./recorded_content.ts";
import { readEvent, ReplayedStream, toCompletion, toEvents } from "./replay.ts";
import type { OpenedResponse } from "./share_call.ts";

/** A chat response, or the complete response of another operation. */
type MessageForm = Exclude<EntryForm, { kind: "content" }>;

/** A request whose response is repeated. */
export interface RepeatedRequest {
  readonly cached: CachedRequest;
  /** When it arrived, monotonic ms. */
  readonly startedAt: number;
  readonly deps: RouteDeps;
}

/** Repeats a response; undefined if the entry is none of this operation. */
export function repeat(
  entry: CacheEntry,
  { cached, startedAt, deps }: RepeatedRequest,
  { isLogged }: {
    /** Whether the request log may have the events of a stream: not those that guards change. */
    readonly isLogged: boolean;
  },
): OpenedResponse | undefined {
  const { request, pool, caching } = cached;
  const { form } = entry;
  if ((form.kind === "content") !== (request.operation.hasContent === true)) return undefined;
  const result = new CachedResult(request, { entry, pool, ageMs: caching.findAge(entry), startedAt, deps });
  if (form.kind !== "content" && request.delivery !== "stream") {
    return { kind: "complete", result, ...toComplete(form) };
  }
  const events = form.kind === "content" ? undefined : toStreamEvents(form);
  const onEnd = (cause?: unknown) => {
    const text = isLogged && events && (() => events.map((event) => event.text).join("\n"));
    result.settle(cause === undefined ? "success" : "none", { cause, ...(text && { text }) });
  };
  if (form.kind === "content") return { kind: "content", result, stream: new RepeatedContent(form.content, onEnd) };
  const wantsUsage = Object(request.body.stream_options).include_usage === true;
  const stream = new ReplayedStream(events!, { wantsUsage, signal: request.signal, onEnd });
  return { kind: "stream", result, stream };
}

function toStreamEvents(form: MessageForm) {
  return form.kind === "stream" ? form.events.map(readEvent) : toEvents(JSON.parse(form.text));
}

function toComplete(form: MessageForm): {
  readonly response: CompletionResponse<unknown>;
  readonly end: ResponseEnd;
} {
  const { text, content } = form.kind === "complete"
    ? form
    : { text: JSON.stringify(toCompletion(form.events)), content: undefined };
  const end = { usage: undefined, written: () => 0, text: () => text };
  const body: unknown = JSON.parse(text);
  if (content === undefined) return { response: { body, wire: text }, end };
  return { response: { body, content: { type: content.type, bytes: fromBase64(content.base64) } }, end };
}
