/**
 * Citations of a response: OpenAI's `annotations`, to and from which those of other APIs are translated.
 * @module
 */
import type { Annotation, JsonObject } from "../contracts/openai.ts";
import { isObject } from "./is_object.ts";
import { toText } from "./to_text.ts";

/** A citation: which part of a text is based on which source. */
export interface Citation {
  /** The cited part of the text, in UTF-16 code units; both are 0 if it is unknown. */
  readonly start: number;
  readonly end: number;
  /** URL of the source; empty for a document without one. */
  readonly url: string;
  readonly title: string;
  /** Vendor-specific form of the citation, keyed by vendor. */
  readonly extra?: JsonObject | undefined;
}

/** Converts a citation to an annotation. */
export function toAnnotation({ start, end, url, title, extra }: Citation): Annotation {
  return {
    type: "url_citation",
    url_citation: { start_index: start, end_index: end, url, title },
    ...(extra === undefined ? {} : { extra_content: extra }),
  };
}

/**
 * Reads the citations of a message or a delta, in the order of the text. Annotations of other types are skipped.
 *
 * @param annotations The member as it came.
 */
export function readCitations(annotations: unknown): Citation[] {
  if (!Array.isArray(annotations)) return [];
  return annotations.flatMap((annotation: unknown): Citation[] => {
    const { type, url_citation: citation, extra_content: extra } = isObject(annotation) ? annotation : {};
    if (type !== "url_citation" || !isObject(citation)) return [];
    const { url, title, start_index, end_index } = citation;
    const source = { url: toText(url), title: toText(title ?? url) };
    if (source.url + source.title === "") return [];
    const start = toPosition(start_index);
    const end = Math.max(start, toPosition(end_index));
    return [{ ...source, start, end, extra: isObject(extra) ? extra : undefined }];
  }).sort((first, second) => first.start - second.start || first.end - second.end);
}

/**
 * Moves annotations of a part of a text.
 *
 * @param annotations As they came; of other types they stay.
 * @param by Length of the text before the part, UTF-16 code units.
 */
export function shiftAnnotations(annotations: readonly unknown[], by: number): Annotation[] {
  return annotations.filter(isObject).map((annotation) => {
    const { url_citation: cited } = annotation;
    if (by === 0 || !isObject(cited) || toPosition(cited.end_index) === 0) return annotation as unknown as Annotation;
    const [start_index, end_index] = [toPosition(cited.start_index) + by, toPosition(cited.end_index) + by];
    return { ...annotation, url_citation: { ...cited, start_index, end_index } } as unknown as Annotation;
  });
}

function toPosition(value: unknown): number {
  return Number.isSafeInteger(value) ? Math.max(0, value as number) : 0;
}
