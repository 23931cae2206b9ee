/**
 * Responses of models that search the web with the search pool of the proxy: after each search, the model is asked again
 * with its results, until it answers or calls tools of the client.
 * @module
 */
import type {
  AssistantMessage,
  ChatCompletion,
  ChatCompletionRequest,
  CompletionUsage,
  ToolCall,
} from "../../contracts/openai.ts";
import type { PlainResponse } from "../../contracts/shell.ts";
import { CitedSources } from "../../dialects/cited_sources.ts";
import type { ResponsePart, Translation } from "../../dialects/dialect.ts";
import type { WebSearchTool } from "../../dialects/web_search.ts";
import type { EventStream } from "../../pipeline/committed_stream.ts";
import type { Delivered } from "../../pipeline/perform.ts";
import type { Work } from "../body.ts";
import type { Exchange } from "../exchange.ts";
import { addStreamHeaders, respondWithStream } from "../heartbeat.ts";
import { json } from "../json.ts";
import { addRoutingHeaders } from "../routing_headers.ts";
import { EventBody, toStreamFormat } from "../sse.ts";
import { createWriter } from "../translated_events.ts";
import { addUsages, toNextRequest } from "./_rounds.ts";
import { type SearchedChunk, SearchedStream } from "./searched_stream.ts";
import { Searches } from "./searches.ts";

/** A request whose model may search. */
interface SearchedRequest {
  readonly translation: Translation;
  readonly tool: WebSearchTool;
  readonly exchange: Exchange;
  readonly work: Work;
  /** Performs the chat request of a round. */
  readonly perform: (
    body: ChatCompletionRequest,
    options: { readonly work: Work; readonly signal?: Exchange["request"]["signal"] },
  ) => Promise<Delivered<ChatCompletion>>;
}

/** Performs a request, with the searches of its model, and translates the response. */
export function respondWithSearches(request: SearchedRequest): Promise<PlainResponse> {
  return request.translation.chat.stream === true ? respondStreaming(request) : respondComplete(request);
}

async function respondComplete(
  { translation, tool, exchange, work, perform }: SearchedRequest,
): Promise<PlainResponse> {
  const { signal } = exchange.request;
  const searches = new Searches({ tool, settings: findSettings(exchange), exchange, signal });
  const cited = new CitedSources();
  const before: ResponsePart[] = [];
  let body = translation.chat;
  let usage: CompletionUsage | undefined;
  let costNanoUsd: number | undefined = 0;
  for (;;) {
    const result = await perform(body, { work });
    if (result.kind !== "complete") throw new TypeError(`A round has no response of the kind ${result.kind}`);
    const { body: completion } = result.response;
    usage = addUsages(usage, completion.usage);
    costNanoUsd = addCosts(costNanoUsd, result.costNanoUsd);
    const { calls, others, message } = splitCalls(completion, searches);
    const run = await searches.run(calls, work.time);
    for (const { search } of run) cited.addSources(search.sources);
    if (calls.length > 0) before.push({ message: toEarlier(message) }, ...run.map(({ search }) => ({ search })));
    if (calls.length === 0 || others.length > 0 || searches.isOver) {
      const { routing, dropped, cacheStatus } = result;
      const cost = addCosts(costNanoUsd, searches.costNanoUsd);
      addRoutingHeaders(exchange.headers, {
        routing,
        dropped,
        ...(cost !== undefined && { costNanoUsd: cost }),
        ...(before.length === 0 && cacheStatus && { cacheStatus }), // of several rounds, only some can be repeated
      });
      const last = toLastPart(completion, { others: calls.length > 0 ? others : undefined, usage, cited });
      return json(translation.toResponse(last, before), exchange);
    }
    body = toNextRequest(body, { ...message, tool_calls: calls }, { run, searches });
  }
}

/** The calls of searches, those of other tools, and the message. */
function splitCalls({ choices }: ChatCompletion, searches: Searches) {
  const message: AssistantMessage = choices[0]?.message ?? { role: "assistant", content: null, refusal: null };
  const all = message.tool_calls ?? [];
  const isSearch = ({ function: { name } }: ToolCall) => searches.isSearch(name);
  return { message, calls: all.filter(isSearch), others: all.filter((call) => !isSearch(call)) };
}

/** What a round with searches has besides calls. Reasoning without text belongs to the calls. */
function toEarlier({ reasoning_details, tool_calls: _, ...message }: AssistantMessage): AssistantMessage {
  return message.content ? { ...message, ...(reasoning_details && { reasoning_details }) } : message;
}

/** The last part of the response, with citations. */
function toLastPart(completion: ChatCompletion, { others, usage, cited }: {
  /** The calls that are left, if the model has searched at the same time; its text is a part before it. */
  readonly others: ToolCall[] | undefined;
  readonly usage: CompletionUsage | undefined;
  readonly cited: CitedSources;
}): ChatCompletion {
  const { choices: [choice, ...more], ...rest } = completion;
  if (choice === undefined) return completion;
  const { message } = choice;
  const found = [...cited.add(typeof message.content === "string" ? message.content : ""), ...cited.end()];
  const annotations = [...message.annotations ?? [], ...found];
  const withUsage = usage === undefined ? rest : { ...rest, usage };
  if (others === undefined) {
    const lastMessage = { ...message, ...(annotations.length === 0 ? {} : { annotations }) };
    return { ...withUsage, choices: [{ ...choice, message: lastMessage }, ...more] };
  }
  const { role, content, reasoning_details } = message;
  const details = content || others.length === 0 ? undefined : reasoning_details;
  const last = {
    role,
    content: null,
    refusal: null,
    tool_calls: others,
    ...(details && { reasoning_details: details }),
  };
  const finish_reason = others.length === 0 && choice.finish_reason === "tool_calls" ? "stop" : choice.finish_reason;
  return { ...withUsage, choices: [{ ...choice, message: last, finish_reason }, ...more] };
}

function addCosts(first: number | undefined, second: number | undefined): number | undefined {
  return first === undefined || second === undefined ? undefined : first + second;
}

async function respondStreaming(
  { translation, tool, exchange, work, perform }: SearchedRequest,
): Promise<PlainResponse> {
  const { mesh: { runtime }, request, requestId, headers, onEnd } = exchange;
  const events = translation.events();
  const inner = createWriter(events, requestId);
  const writer = {
    ...inner,
    chunk: (chunk: SearchedChunk) => "search" in chunk ? events.searched?.(chunk.search) ?? "" : inner.chunk(chunk),
  };
  const stopper = runtime.stopper?.() ?? new AbortController();
  const stop = () => stopper.abort(request.signal.reason);
  request.signal.addEventListener("abort", stop);
  if (request.signal.aborted) stop();
  // what waits for a search is not bounded by the deadline of the first content
  const readTime = () => ({ ...work.time, startedAt: runtime.clock.monotonic() });
  const open = async (body: ChatCompletionRequest): Promise<EventStream> => {
    const result = await perform(body, { work: { ...work, time: readTime() }, signal: stopper.signal });
    if (result.kind !== "stream") throw new TypeError(`A round has no response of the kind ${result.kind}`);
    return result.stream;
  };
  const contentType = events.contentType ?? "text/event-stream";
  return await respondWithStream(exchange, {
    startedAt: work.time.startedAt,
    format: toStreamFormat(writer, contentType),
    perform: (signal) => perform(translation.chat, { work, signal }),
    respond: (result) => {
      if (result.kind !== "stream") throw new TypeError(`A round has no response of the kind ${result.kind}`);
      addRoutingHeaders(headers, result);
      addStreamHeaders(headers, contentType);
      const searches = new Searches({ tool, settings: findSettings(exchange), exchange, signal: stopper.signal });
      const parts = { searches, body: translation.chat, open, readTime, stopper };
      return { status: 200, headers, body: new EventBody(new SearchedStream(result.stream, parts), { writer, onEnd }) };
    },
  });
}

function findSettings({ proxy }: Exchange): { readonly pool: string; readonly maxUses: number } {
  return proxy.tools.webSearch!;
}
