/**
 * The parts of OTLP's JSON encoding that traces and metrics share.
 * @module
 */

/** One attribute; 64-bit integers are texts in OTLP's JSON. */
export interface KeyValue {
  readonly key: string;
  readonly value: { readonly stringValue: string } | { readonly intValue: string } | { readonly doubleValue: number };
}

/** Attributes of an object; undefined and null members are left out. */
export function attributesOf(
  values: Readonly<Record<string, string | number | null | undefined>>,
): readonly KeyValue[] {
  return Object.entries(values).flatMap(([key, value]): KeyValue[] => {
    if (value === undefined || value === null) return [];
    if (typeof value === "string") return [{ key, value: { stringValue: value } }];
    return [{ key, value: Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value } }];
  });
}

/**
 * A time in nanoseconds, as text.
 *
 * @param ms Since 1970, fractions included.
 */
export function nanosOf(ms: number): string {
  return String(BigInt(Math.round(ms * 1000)) * 1000n);
}

/** The instrumentation scope. */
export const scope = { name: "modelmesh" };

/** What the semantic conventions call operations; those that they have no name for keep their own. */
const operationNames: Readonly<Record<string, string>> = {
  "speech": "generate_content",
  "transcription": "generate_content",
  "audio-translation": "generate_content",
  "image": "generate_content",
  "image-edit": "generate_content",
  "search": "retrieval",
};

/** What they call requests in other words than those of the operation. */
const dialectNames: Readonly<Record<string, string>> = {
  "completions": "text_completion",
  "generateContent": "generate_content",
};

/**
 * The value of `gen_ai.operation.name`.
 *
 * @param operation As records have it.
 * @param dialect As records have it.
 */
export function operationNameOf(operation: string, dialect: string = ""): string {
  return dialectNames[dialect] ?? operationNames[operation] ?? operation;
}
