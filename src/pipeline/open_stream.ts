/**
 * Opening a stream: events are held until one bears content, so that a failure up to there can go to another model.
 * @module
 */
import type { CompletionUsage } from "../contracts/openai.ts";
import type { CompletionChunk } from "../contracts/provider.ts";
import type { StopSignal } from "../contracts/runtime.ts";
import { carriesContent } from "./content.ts";
import type { Served } from "./routed.ts";

/** As much as is held before the stream is passed on all the same, characters. */
const maxBufferedChars = 64 * 1024;

/** A stream whose first content has arrived. */
export interface OpenStream {
  /** Events up to and with the first that bears content. */
  readonly held: CompletionChunk[];
  /** The events after them. */
  readonly rest: AsyncIterator<CompletionChunk>;
  /** The held events are all there are. */
  readonly complete: boolean;
}

/**
 * Reads a stream up to its first content.
 *
 * @param events A provider's stream, not read yet.
 * @param signal Ends the call; a stream that ignores it is left all the same.
 * @throws Whatever the provider throws before the first content.
 */
export function openStream(
  events: AsyncIterable<CompletionChunk>,
  signal: StopSignal,
): Promise<Served<OpenStream>> {
  const rest = events[Symbol.asyncIterator]();
  // ends the source; on a stream that is over, or was left already, it does nothing
  signal.addEventListener("abort", () => void rest.return?.()?.catch(() => {}));
  return warmUp(rest, signal);
}

async function warmUp(rest: AsyncIterator<CompletionChunk>, signal: StopSignal): Promise<Served<OpenStream>> {
  const held: CompletionChunk[] = [];
  let size = 0;
  let usage: CompletionUsage | null | undefined;
  for (;;) {
    const { done, value } = await rest.next();
    if (signal.aborted) throw signal.reason;
    if (done) return { answer: { held, rest, complete: true }, empty: true, usage };
    held.push(value);
    usage = value.value.usage ?? usage;
    size += value.wire?.length ?? JSON.stringify(value.value).length;
    if (carriesContent(value.value) || size > maxBufferedChars) {
      return { answer: { held, rest, complete: false }, empty: false };
    }
  }
}
