/**
 * Events of a stream that only say more of an answer: they are passed on as they came, many at once and unread, where
 * nobody but a client of the proxy wants them.
 * @module
 */
import type { ChatCompletionChunk } from "../../src/contracts/openai.ts";
import type { CompletionChunk } from "../../src/contracts/provider.ts";
import type { SseEvent } from "../../src/util/sse_parse.ts";

/** Some events as one chunk. */
export interface Run extends CompletionChunk {
  /** How many events it stands for beside the first. */
  readonly others?: number;
}

/** Finds events that need no reading, once an answer's first content has been read. */
export class PlainEvents {
  #model: ChatCompletionChunk | undefined;

  /** Is told a chunk that was read, and hands it on. */
  saw(chunk: CompletionChunk): CompletionChunk {
    const { value } = chunk;
    if (value.choices.some(({ index, delta }) => index === 0 && delta.content)) this.#model = value;
    return chunk;
  }

  /**
   * The events from a place on that need no reading, joined as they stand in a stream.
   *
   * @param events That arrived together.
   * @param place Where to begin.
   */
  run(events: readonly SseEvent[], place: number): Run | undefined {
    if (this.#model === undefined) return undefined;
    let end = place;
    while (end < events.length && isPlain(events[end]!)) end++;
    if (end === place) return undefined;
    const { id, object, created, model } = this.#model;
    const wire = events.slice(place, end).map(({ data }) => data).join("\n\ndata: ");
    return { value: { id, object, created, model, choices: [] }, wire, others: end - place - 1 };
  }
}

/** Text of the first answer, on one line, that ends nothing. In JSON a text's own quotes follow backslashes. */
function isPlain({ event, data }: SseEvent): boolean {
  const finish = data.indexOf('"finish_reason":');
  return event === "" && finish > 0 && data.startsWith("null", finish + 16) && data.startsWith("{") &&
    data.endsWith("}") && data.includes('"index":0') && data.includes('"delta":{') &&
    data.indexOf('"finish_reason":', finish + 16) < 0 && !data.includes('"tool_calls"') &&
    !data.includes('"usage":{') && !data.includes('"error"') && !data.includes("\n");
}
