/**
 * Parts of the OTLP JSON encoding that traces and metrics share.
 * @module
 */

/** An attribute; OTLP's JSON encodes 64-bit integers as strings. */
export interface KeyValue {
  readonly key: string;
  readonly value: { readonly stringValue: string } | { readonly intValue: string } | { readonly doubleValue: number };
}

/** Converts the members of an object to attributes; undefined and null members are omitted. */
export function toAttributes(
  values: Readonly<Record<string, string | number | null | undefined>>,
): readonly KeyValue[] {
  return Object.entries(values).flatMap(([key, value]): KeyValue[] => {
    if (value === undefined || value === null) return [];
    if (typeof value === "string") return [{ key, value: { stringValue: value } }];
    return [{ key, value: Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value } }];
  });
}

/**
 * Formats a time in nanoseconds since the Unix epoch.
 *
 * @param ms Time, ms since the Unix epoch, with fractions.
 */
export function toNanos(ms: number): string {
  return String(BigInt(Math.round(ms * 1000)) * 1000n);
}

/** Operation names of the semantic conventions; operations without one keep their own name. */
const operationNames: Readonly<Record<string, string>> = {
  "speech": "generate_content",
  "transcription": "generate_content",
  "audio-translation": "generate_content",
  "image": "generate_content",
  "image-edit": "generate_content",
  "search": "retrieval",
};

/** Operation names of the semantic conventions for dialects. */
const dialectNames: Readonly<Record<string, string>> = {
  "completions": "text_completion",
  "generateContent": "generate_content",
};

/**
 * The value of `gen_ai.operation.name`.
 *
 * @param operation The `operation` of the record.
 * @param dialect The `dialect` of the record.
 */
export function toOperationName(operation: string, dialect: string = ""): string {
  return dialectNames[dialect] ?? operationNames[operation] ?? operation;
}
