/**
 * What simulated vendors say: the number of the request, so that a response is known to be the right one.
 * @module
 */
import type { ChatCompletion, CompletionChunk, CompletionUsage } from "../../mod.ts";
import { createChunk, createResponse } from "../support/_custom_provider.ts";
import type { Arrival } from "./_traffic.ts";

/** What a request takes at any vendor. Its text is counted low, so that no estimate can be too low. */
export function usageFor({ letters, written }: Arrival): CompletionUsage {
  const read = 3 + Math.floor(letters / 8);
  return { prompt_tokens: read, completion_tokens: written, total_tokens: read + written };
}

/** The text of the right response to a request. */
export function textFor({ id }: Arrival): string {
  return `Answer to request ${id}`;
}

/** A non-streaming response. */
export function respondTo(arrival: Arrival, isEmpty: boolean): ChatCompletion {
  return { ...createResponse(isEmpty ? "" : textFor(arrival)), usage: arrival.oddUsage ?? usageFor(arrival) };
}

/** One of the three events of a streamed response. */
export function chunkFor(arrival: Arrival, place: number, isEmpty: boolean): CompletionChunk {
  if (place < 2) return createChunk(isEmpty ? "" : place === 0 ? textFor(arrival) : ".");
  return { value: { ...createChunk(undefined).value, usage: arrival.oddUsage ?? usageFor(arrival) } };
}
