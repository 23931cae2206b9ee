// The part of @std/yaml that this repository uses; the code is npm's deno-std, which has no types.

export type SchemaType = "failsafe" | "json" | "core" | "default" | "extended";

export interface ParseOptions {
  allowDuplicateKeys?: boolean;
  schema?: SchemaType;
  onWarning?: (error: Error) => void;
}

export interface StringifyOptions {
  arrayIndent?: boolean;
  compatMode?: boolean;
  condenseFlow?: boolean;
  flowLevel?: number;
  indent?: number;
  lineWidth?: number;
  quoteStyle?: "'" | '"';
  schema?: SchemaType;
  skipInvalid?: boolean;
  sortKeys?: boolean | ((a: string, b: string) => number);
  useAnchors?: boolean;
}

export function parse(content: string, options?: ParseOptions): unknown;
export function stringify(data: unknown, options?: StringifyOptions): string;
