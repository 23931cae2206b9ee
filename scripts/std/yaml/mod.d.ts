// The part of @std/yaml that this repository uses: the code is that of npm's deno-std, which has no types.

/** Which plain scalars are numbers, booleans and null, and in which spellings. */
export type SchemaType = "core" | "failsafe" | "json";

/**
 * Parses one document.
 *
 * @throws {SyntaxError} When it is not one document of valid YAML; the message contains the position.
 */
export function parse(content: string, options?: { readonly schema?: SchemaType }): unknown;

/**
 * Writes a value as a document.
 *
 * @param options `lineWidth` is the length at which lines are folded, characters (80).
 */
export function stringify(
  data: unknown,
  options?: { readonly schema?: SchemaType; readonly lineWidth?: number },
): string;
