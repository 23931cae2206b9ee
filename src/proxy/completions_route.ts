/**
 * `POST /v1/completions`: one chat per prompt, combined in one response.
 * @module
 */
import type { ChatCompletion, ChatCompletionChunk } from "../contracts/openai.ts";
import type { StopSignal } from "../contracts/runtime.ts";
import type { PlainResponse, PlainStream } from "../contracts/shell.ts";
import { completionsDialect as dialect, translateCompletion } from "../dialects/completions/completions.ts";
import type { DialectFault, Translation } from "../dialects/dialect.ts";
import type { Delivered } from "../pipeline/perform.ts";
import { editMembers } from "../util/json_members.ts";
import { performChat, respondToChat } from "./dialect_route.ts";
import { createWriter } from "./translated_events.ts";
import type { Exchange } from "./exchange.ts";
import { json } from "./json.ts";
import { readWork, type Work } from "./body.ts";
import { addStreamHeaders, respondWithStream } from "./heartbeat.ts";
import { addRoutingHeaders } from "./routing_headers.ts";
import { toStreamFormat } from "./sse.ts";
import type { CompletionChunk } from "../contracts/provider.ts";
import type { EventStream } from "../pipeline/committed_stream.ts";
import { toErrorRow } from "./error_body.ts";

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
    addRoutingHeaders(headers, findDescribed(results));
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

/** Returns the first result that is not repeated, since headers say that all of a response is. */
function findDescribed(results: readonly Delivered<ChatCompletion>[]): Delivered<ChatCompletion> {
  return results.find(({ routing }) => routing.cached !== true) ?? results[0]!;
}

function joinedResponse(
  results: readonly Delivered<ChatCompletion>[],
  { chats, translator, exchange: { headers, requestId, onEnd } }: {
    readonly chats: ReturnType<typeof translateCompletion>["chats"];
    readonly translator: ReturnType<ReturnType<typeof translateCompletion>["events"]>;
    readonly exchange: Exchange;
  },
): PlainResponse {
  addRoutingHeaders(headers, findDescribed(results));
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

/** The format: complete events, or an empty string if there is none yet. */
interface JoinedWriter {
  /** Returns the events for a chunk of one stream. */
  push(index: number, chunk: ChatCompletionChunk): string;
  /** Returns the events after the last chunk of all streams. */
  end(): string;
  /** Returns the events in place of missing ones after an error. */
  fail(fault: DialectFault): string;
  readonly requestId: string;
  /** Called at the end, possibly more than once. */
  readonly onEnd: () => void;
}

/** A pending read of one stream. */
type Arrived =
  & { readonly index: number }
  & ({ readonly chunk: CompletionChunk | undefined } | { readonly error: unknown });

/** Writes events in order of arrival. An error of one stream ends all. Each stream is read when the client reads. */
class JoinedEvents implements PlainStream {
  onStop?: (reason: unknown) => void;
  readonly #streams: readonly EventStream[];
  readonly #writer: JoinedWriter;
  readonly #reads = new Map<number, Promise<Arrived>>();
  readonly #open: Set<number>;
  #isOver = false;

  /** @param streams Committed streams. */
  constructor(streams: readonly EventStream[], writer: JoinedWriter) {
    this.#streams = streams;
    this.#writer = writer;
    this.#open = new Set(streams.keys());
    for (const stream of streams) {
      stream.onStop = (reason) => {
        this.onStop?.(reason);
        writer.onEnd();
      };
    }
  }

  async read(): Promise<string | undefined> {
    let text = "";
    while (!this.#isOver && text === "") text = await this.#next();
    return text === "" ? undefined : text;
  }

  cancel(): void {
    this.#finish();
    for (const stream of this.#streams) stream.cancel();
  }

  async #next(): Promise<string> {
    for (const index of this.#open) if (!this.#reads.has(index)) this.#reads.set(index, this.#readStream(index));
    const arrival = await Promise.race(this.#reads.values());
    if (this.#isOver) return "";
    this.#reads.delete(arrival.index);
    if ("error" in arrival) return this.#fail(arrival);
    const { index, chunk } = arrival;
    if (chunk !== undefined) {
      if (chunk.isPing) return "";
      return [chunk.value, ...chunk.others ?? []].reduce((sum, value) => sum + this.#writer.push(index, value), "");
    }
    this.#open.delete(index);
    if (this.#open.size > 0) return "";
    this.#finish();
    return this.#writer.end();
  }

  #readStream(index: number): Promise<Arrived> {
    return this.#streams[index]!.read().then((chunk) => ({ index, chunk }), (error) => ({ index, error }));
  }

  #fail({ index, error }: { readonly index: number; readonly error: unknown }): string {
    if (this.#streams[index]!.isStopped) throw error;
    this.#finish();
    for (const stream of this.#streams) stream.cancel(error); // their client gets the error
    const { status, body } = toErrorRow(error, this.#writer.requestId);
    return this.#writer.fail({ status, error: body.error });
  }

  #finish(): void {
    this.#isOver = true;
    this.#writer.onEnd();
  }
}
