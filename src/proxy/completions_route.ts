/**
 * `POST /v1/completions`: one chat per prompt, combined in one response.
 * @module
 */
import type { ChatCompletion } from "../contracts/openai.ts";
import type { StopSignal } from "../contracts/runtime.ts";
import type { PlainResponse } from "../contracts/shell.ts";
import { completionsDialect as dialect, translateCompletion } from "../dialects/completions/completions.ts";
import type { Translation } from "../dialects/dialect.ts";
import type { Delivered } from "../pipeline/perform.ts";
import { editMembers } from "../util/json_members.ts";
import { createWriter, performChat, respondToChat } from "./dialect_route.ts";
import type { Exchange } from "./exchange.ts";
import { JoinedEvents } from "./joined_events.ts";
import { json } from "./json.ts";
import { readWork, type Work } from "./body.ts";
import { addStreamHeaders, respondWithStream } from "./heartbeat.ts";
import { addRoutingHeaders } from "./routing_headers.ts";
import { toStreamFormat } from "./sse.ts";

/** Handles a request. */
export async function handleCompletion(exchange: Exchange): Promise<PlainResponse> {
  const work = await readWork(exchange);
  const { chats, join, events } = translateCompletion(work.value);
  const [first] = chats;
  if (chats.length === 1) return await respondToChat(first!, { dialect, work, exchange });
  const common = { ...work, text: editMembers(work.text ?? "{}", { prompt: undefined }) }; // each request has its own
  const { headers, requestId } = exchange;
  if (first!.chat.stream !== true) {
    const results = await performAll(chats, { work: common, exchange, signal: exchange.request.signal });
    addRoutingHeaders(headers, results[0]!);
    const bodies = results.flatMap((result, index) =>
      result.kind === "complete" ? [chats[index]!.toResponse(result.response.body)] : []
    );
    return json(join(bodies), { headers });
  }
  const translator = events();
  return await respondWithStream(exchange, {
    startedAt: work.time.startedAt,
    format: toStreamFormat(createWriter(translator, requestId)),
    perform: (signal) => performAll(chats, { work: common, exchange, signal }),
    respond: (results) => joinedResponse(results, { chats, translator, exchange }),
  });
}

interface JoinedParts {
  readonly chats: ReturnType<typeof translateCompletion>["chats"];
  readonly translator: ReturnType<ReturnType<typeof translateCompletion>["events"]>;
  readonly exchange: Exchange;
}

function joinedResponse(
  results: readonly Delivered<ChatCompletion>[],
  { chats, translator, exchange: { headers, requestId, onEnd } }: JoinedParts,
): PlainResponse {
  addRoutingHeaders(headers, results[0]!);
  addStreamHeaders(headers, "text/event-stream");
  const streams = results.flatMap((result) => result.kind === "stream" ? result.stream : []);
  const body = new JoinedEvents(streams, {
    push: (index, chunk) => translator.pushFor(chats[index]!.form, chunk),
    end: () => translator.end(),
    fail: (fault) => translator.fail(fault),
    requestId,
    onEnd,
  });
  return { status: 200, headers, body };
}

/** Performs all of them concurrently. The first failure aborts the others. */
async function performAll(
  translations: readonly Translation[],
  { work, exchange, signal }: { readonly work: Work; readonly exchange: Exchange; readonly signal: StopSignal },
): Promise<Delivered<ChatCompletion>[]> {
  const all = new AbortController();
  const leave = () => all.abort(signal.reason);
  signal.addEventListener("abort", leave);
  if (signal.aborted) leave();
  let failure: { readonly error: unknown } | undefined;
  const settled = await Promise.all(translations.map(async (translation) => {
    try {
      return await performChat(translation, { dialect, work, exchange, signal: all.signal });
    } catch (error) {
      failure ??= { error };
      all.abort(error);
    }
  }));
  if (failure === undefined) return settled as Delivered<ChatCompletion>[];
  for (const result of settled) if (result?.kind === "stream") result.stream.cancel(failure.error);
  throw failure.error;
}
