/**
 * Parses request URLs: `/v1beta/models/{model}:{method}?alt=sse&key=…`. Newer clients use `/v1`.
 * @module
 */
import { decodeSegment, readSearch } from "../../util/request_path.ts";

/** Path of the API's models. */
export const modelsPath = "/v1beta/models";

/** Methods of a model. */
export const methods = [
  "generateContent",
  "streamGenerateContent",
  "countTokens",
  "embedContent",
  "batchEmbedContents",
] as const;

/**
 * Parses a path. Model names may contain slashes and colons.
 *
 * @param path The path, percent-encoded.
 * @returns The model's name, empty for the model list, and the method, if there is one. Undefined if it is not the path
 * of a model.
 */
export function findAddress(
  path: string,
): { readonly model: string; readonly method: string | undefined } | undefined {
  const [prefix] = /^\/v1(beta)?\/models(\/|$)/.exec(path) ?? [];
  if (prefix === undefined) return undefined;
  const name = path.slice(prefix.length);
  const colon = name.lastIndexOf(":");
  const method = name.slice(colon + 1);
  // a method is in camelCase: the suffix in `llama3:8b` is part of the model's name
  return colon >= 0 && /^[a-z]+[A-Z][A-Za-z]*$/.test(method)
    ? { model: decodeSegment(name.slice(0, colon)), method }
    : { model: decodeSegment(name), method: undefined };
}

/** A query parameter of a URL. */
export function findParameter(url: string, name: string): string | undefined {
  const search = readSearch(url);
  return search === "" ? undefined : new URLSearchParams(search).get(name) ?? undefined;
}
