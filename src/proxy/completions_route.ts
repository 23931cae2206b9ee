/**
 * `POST /v1/completions`: one chat per prompt, combined in one response.
 * @module
 */
import type { ChatCompletion } from "../contracts/openai.ts";
import type { PlainResponse } from "../contracts/shell.ts";
import { completionsDialect as dialect, translateCompletion } from "../dialects/completions/completions.ts";
import type { Translation } from "../dialects/dialect.ts";
import type { Answer } from "../pipeline/answer.ts";
import { chatResponse, performChat } from "./dialect_route.ts";
import type { Exchange } from "./exchange.ts";
import { JoinedEvents } from "./joined_events.ts";
import { json } from "./json.ts";
import { readWork, type Work } from "./form.ts";
import { addRoutingHeaders } from "./routing_headers.ts";

/** Handles a request. */
export async function handleCompletion(exchange: Exchange): Promise<PlainResponse> {
  const work = await readWork(exchange);
  const { chats, whole, events } = translateCompletion(work.value);
  const [first] = chats;
  if (chats.length === 1) return chatResponse(await performChat(first!, { dialect, work, exchange }), first!, exchange);
  const answers = await performAll(chats, { work, exchange });
  const { headers, requestId, onEnd } = exchange;
  addRoutingHeaders(headers, answers[0]!);
  const streams = answers.flatMap((answer) => answer.kind === "stream" ? answer.stream : []);
  if (streams.length === 0) {
    const bodies = answers.flatMap((answer, index) =>
      answer.kind === "whole" ? [chats[index]!.whole(answer.response.body)] : []
    );
    return json(whole(bodies), { headers });
  }
  headers["content-type"] = "text/event-stream";
  headers["cache-control"] = "no-cache";
  const translator = events();
  const body = new JoinedEvents(streams, {
    push: (index, chunk) => translator.pushOf(chats[index]!.form, chunk),
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
  { work, exchange }: { readonly work: Work; readonly exchange: Exchange },
): Promise<Answer<ChatCompletion>[]> {
  const all = new AbortController();
  const leave = () => all.abort(exchange.request.signal.reason);
  exchange.request.signal.addEventListener("abort", leave, { once: true });
  if (exchange.request.signal.aborted) leave();
  let failure: { readonly error: unknown } | undefined;
  const settled = await Promise.all(translations.map(async (translation) => {
    try {
      return await performChat(translation, { dialect, work, exchange, signal: all.signal });
    } catch (error) {
      failure ??= { error };
      all.abort(error);
    }
  }));
  if (failure === undefined) return settled as Answer<ChatCompletion>[];
  for (const answer of settled) if (answer?.kind === "stream") answer.stream.cancel(failure.error);
  throw failure.error;
}
