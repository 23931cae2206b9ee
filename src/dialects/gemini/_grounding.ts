/**
 * Converts annotations of chat to grounding metadata, whose positions are bytes.
 * @module
 */
import type { JsonObject } from "../../contracts/openai.ts";
import { readCitations } from "../../util/annotations.ts";
import { ByteOffsets } from "../../util/byte_offsets.ts";

/** Maximum length of a part of the text that is repeated beside its position. */
const maxQuoted = 1_000;

/**
 * Converts annotations to the member `groundingMetadata`; empty if there are none, nor searches.
 *
 * @param annotations Its annotations, as they came.
 * @param queries What was searched for.
 */
export function toGrounding(text: string, annotations: unknown, queries: readonly string[] = []): JsonObject {
  const citations = readCitations(annotations);
  if (citations.length + queries.length === 0) return {};
  const offsets = new ByteOffsets(text);
  const groundingChunks: JsonObject[] = [];
  const groundingSupports: { segment: JsonObject; groundingChunkIndices: number[] }[] = [];
  const indexByUrl = new Map<string, number>();
  for (const { start, end, url, title } of citations) {
    const key = JSON.stringify([url, title]);
    const index = indexByUrl.get(key) ?? groundingChunks.length;
    if (index === groundingChunks.length) {
      indexByUrl.set(key, index);
      groundingChunks.push(url === "" ? { retrievedContext: { title } } : { web: { uri: url, title } });
    }
    if (end <= start) continue; // without a place
    const [startIndex, endIndex] = [offsets.toByte(start), offsets.toByte(end)];
    const last = groundingSupports.at(-1);
    if (last?.segment.startIndex === startIndex && last.segment.endIndex === endIndex) {
      last.groundingChunkIndices.push(index);
    } else {
      const quoted = end - start > maxQuoted ? {} : { text: text.slice(start, end) };
      const segment = { startIndex, endIndex, ...quoted };
      groundingSupports.push({ segment, groundingChunkIndices: [index] });
    }
  }
  const webSearchQueries = queries.length === 0 ? {} : { webSearchQueries: [...queries] };
  return { groundingMetadata: { ...webSearchQueries, groundingChunks, groundingSupports } };
}
