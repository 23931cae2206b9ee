/**
 * What the address of a request says: `/v1beta/models/{model}:{method}?alt=sse&key=…`. Newer clients write `/v1`.
 * @module
 */
import { decodeSegment } from "../../util/decode_segment.ts";

/** Where the API's models are. */
export const modelsPath = "/v1beta/models";

/** What can be done with a model. */
export const methods = [
  "generateContent",
  "streamGenerateContent",
  "countTokens",
  "embedContent",
  "batchEmbedContents",
] as const;

/** A model, and what is to be done with it. */
interface Address {
  /** The model's name; empty where the list of them is meant. */
  readonly model: string;
  /** Undefined where it names none. */
  readonly method: string | undefined;
}

/**
 * Reads a path. Names may have slashes and colons.
 *
 * @param path Percent-encoded.
 * @returns Undefined for a path that is no model's.
 */
export function addressOf(path: string): Address | undefined {
  const [prefix] = /^\/v1(beta)?\/models(\/|$)/.exec(path) ?? [];
  if (prefix === undefined) return undefined;
  const name = path.slice(prefix.length);
  const colon = name.lastIndexOf(":");
  const method = name.slice(colon + 1);
  // methods have two words and more: what follows the colon in `llama3:8b` is part of a name
  return colon >= 0 && /^[a-z]+[A-Z][A-Za-z]*$/.test(method)
    ? { model: decodeSegment(name.slice(0, colon)), method }
    : { model: decodeSegment(name), method: undefined };
}

/** The path of a URL. */
export function pathOf(url: string): string {
  const start = url.indexOf("/", url.indexOf("://") + 3);
  return start < 0 ? "/" : url.slice(start).split(/[?#]/, 1)[0]!;
}

/** A parameter of a URL's query. */
export function parameterOf(url: string, name: string): string | undefined {
  const start = url.indexOf("?");
  return start < 0 ? undefined : new URLSearchParams(url.slice(start + 1)).get(name) ?? undefined;
}
