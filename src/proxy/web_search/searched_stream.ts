/**
 * A streamed response whose model searches the web: one stream for the client, from as many of providers as there are
 * rounds.
 * @module
 */
import type { ChatCompletionRequest, CompletionUsage } from "../../contracts/openai.ts";
import type { CompletionChunk } from "../../contracts/provider.ts";
import { CitedSources } from "../../dialects/cited_sources.ts";
import type { WebSearch } from "../../dialects/web_search_results.ts";
import type { EventStream } from "../../pipeline/committed_stream.ts";
import { clientDisconnect } from "../../pipeline/result.ts";
import type { Stopper } from "../../contracts/runtime.ts";
import type { RequestTime } from "../body.ts";
import { RoundReader } from "./_round_reader.ts";
import { addUsages, toNextRequest } from "./_rounds.ts";
import type { Searches } from "./searches.ts";

/** A chunk for the client, or a search that was run. */
export type SearchedChunk = CompletionChunk | {
  readonly search: WebSearch;
  readonly isPing?: undefined;
  more?: boolean;
};

interface SearchedStreamParts {
  readonly searches: Searches;
  /** The request of the first round. */
  readonly body: ChatCompletionRequest;
  /** Requests the stream of a further round. */
  readonly open: (body: ChatCompletionRequest) => Promise<EventStream>;
  /** The time of a search. */
  readonly readTime: () => RequestTime;
  /** Aborts searches and requests of further rounds. */
  readonly stopper: Stopper;
}

/** The chunks of a response with searches. */
export class SearchedStream {
  onStop?: (reason: unknown) => void;
  readonly #parts: SearchedStreamParts;
  readonly #cited = new CitedSources();
  readonly #ready: SearchedChunk[] = [];
  #body: ChatCompletionRequest;
  #stream: EventStream;
  #round: RoundReader;
  #usage: CompletionUsage | undefined;
  #length = 0;
  #isOver = false;
  #isCancelled = false;

  /** @param stream The stream of the first round. */
  constructor(stream: EventStream, parts: SearchedStreamParts) {
    this.#parts = parts;
    this.#body = parts.body;
    this.#stream = this.#follow(stream);
    this.#round = this.#createReader(true);
  }

  /** Whether the stream was stopped. */
  get isStopped(): boolean {
    return this.#stream.isStopped || this.#parts.stopper.signal.aborted;
  }

  /** The next chunk or search; undefined at the end. Throws as `CommittedStream.read` does. */
  async read(): Promise<SearchedChunk | undefined> {
    try {
      for (;;) {
        const next = this.#ready.shift();
        if (next !== undefined || this.#isOver) return next;
        const chunk = await this.#stream.read();
        if (this.#isCancelled) return undefined;
        if (chunk?.isPing) return chunk;
        if (chunk === undefined) await this.#endRound();
        else this.#take(chunk);
      }
    } catch (error) {
      if (this.#isCancelled) return undefined;
      throw error;
    }
  }

  /** Cancels the response, and what it waits for. */
  cancel(reason: unknown = clientDisconnect()): void {
    this.#isOver = this.#isCancelled = true;
    this.#stream.cancel(reason);
    this.#parts.stopper.abort(reason);
  }

  #take({ value, others = [] }: CompletionChunk): void {
    for (const item of [value, ...others]) {
      const passed = this.#round.take(item);
      if (passed !== undefined) this.#ready.push({ value: passed });
    }
  }

  async #endRound(): Promise<void> {
    const round = this.#round;
    this.#usage = addUsages(this.#usage, round.usage);
    this.#length += round.length;
    if (round.calls.length === 0) return this.#end();
    const { searches, open, readTime } = this.#parts;
    const run = await searches.run(round.calls, readTime());
    for (const { search } of run) {
      this.#cited.addSources(search.sources);
      this.#ready.push({ search });
    }
    if (round.hasOtherCalls || searches.isOver || this.#isCancelled) return this.#end();
    this.#body = toNextRequest(this.#body, round.message, { run, searches });
    this.#round = this.#createReader(false);
    this.#stream = this.#follow(await open(this.#body));
    if (this.#isCancelled) this.#stream.cancel();
  }

  #end(): void {
    this.#isOver = true;
    const end = this.#round.end(this.#usage);
    if (end !== undefined) this.#ready.push({ value: end });
  }

  #createReader(isFirst: boolean): RoundReader {
    return new RoundReader({ searches: this.#parts.searches, cited: this.#cited, offset: this.#length, isFirst });
  }

  #follow(stream: EventStream): EventStream {
    stream.onStop = (reason) => this.onStop?.(reason);
    return stream;
  }
}
