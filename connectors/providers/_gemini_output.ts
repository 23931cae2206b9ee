/**
 * Converts what a Gemini response contains besides text and calls: images, and the sources of the text.
 *
 * Sources: https://ai.google.dev/gemini-api/docs/image-generation, /google-search and the types of `@google/genai`
 * 2.32.0, read 2026-11-26. Positions are bytes of a part.
 * @module
 */
import type { Annotation, JsonObject, OutputImage } from "../../src/contracts/openai.ts";
import { toAnnotation } from "../../src/util/annotations.ts";
import { ByteOffsets } from "../../src/util/byte_offsets.ts";
import { asNumber, asObject, asObjects, asText } from "./_gemini_wire.ts";
import { toText } from "../../src/util/to_text.ts";

/** Maximum number of references to sources that become annotations, since each repeats its source. */
const maxSupports = 1_000;

/**
 * Translates a part with an image; undefined for other parts, and for drafts in the model's thoughts.
 *
 * @param index Index of the image in the response.
 */
export function toOutputImage(
  { inlineData, thought, thoughtSignature }: JsonObject,
  index: number,
): OutputImage | undefined {
  const { mimeType, data } = asObject(inlineData) ?? {};
  if (thought === true || asText(data) === undefined || !toText(mimeType).startsWith("image/")) return undefined;
  const signature = asText(thoughtSignature);
  return {
    type: "image_url",
    image_url: { url: `data:${mimeType};base64,${data}` },
    index,
    ...(signature === undefined ? {} : { extra_content: { google: { thought_signature: signature } } }),
  };
}

/**
 * Translates the sources of a candidate.
 *
 * @param starts Where each part begins in the text; all at its start by default, as in a stream.
 */
export function toAnnotations(
  { groundingMetadata, citationMetadata }: JsonObject,
  text: string,
  starts: readonly number[] = [],
): Annotation[] {
  const { groundingChunks, groundingSupports } = asObject(groundingMetadata) ?? {};
  const { citationSources, citations = citationSources } = asObject(citationMetadata) ?? {};
  const sources = Array.isArray(groundingChunks) ? groundingChunks.map(toSource) : [];
  const quoted = asObjects(citations);
  if (sources.length + quoted.length === 0) return [];
  const offsets = new ByteOffsets(text);
  const toRange = (segment: JsonObject) => {
    const start = offsets.toByte(starts[asNumber(segment.partIndex) ?? 0] ?? 0);
    const [from, to] = [segment.startIndex, segment.endIndex].map((byte) =>
      offsets.toIndex(start + (asNumber(byte) ?? 0))
    );
    return { start: from!, end: to! };
  };
  const others = new Set(sources);
  const supported: Annotation[] = [];
  for (const { segment, groundingChunkIndices: indices } of asObjects(groundingSupports)) {
    const range = toRange(asObject(segment) ?? {});
    for (const index of Array.isArray(indices) ? indices.slice(0, maxSupports - supported.length) : []) {
      const source = sources[index];
      if (source === undefined) continue;
      others.delete(source);
      supported.push(toAnnotation({ ...source, ...range }));
    }
  }
  return [
    ...supported,
    ...[...others].map((source) => toAnnotation({ ...source, start: 0, end: 0 })),
    ...quoted.map((quote) => toAnnotation({ ...toSource({ web: quote }), ...toRange(quote) })),
  ];
}

function toSource(chunk: unknown): { readonly url: string; readonly title: string } {
  const { web, retrievedContext = web, maps = retrievedContext } = asObject(chunk) ?? {};
  const { uri, title } = asObject(maps) ?? {};
  return { url: asText(uri) ?? "", title: asText(title) ?? asText(uri) ?? "" };
}
