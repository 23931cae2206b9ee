/**
 * Parses `data:` URLs (RFC 2397).
 * @module
 */

/** Maximum length of the part before the data. */
const maxHeadChars = 1_024;

/**
 * Parses a `data:` URL whose data is in base64.
 *
 * @param url Any URL.
 * @returns The media type in lower case, without parameters, which may be empty; and the base64, which is not validated.
 * Undefined for any other URL.
 *
 * @example
 * ```ts
 * parseDataUrl("data:image/PNG;name=a.png;base64,AAAA"); // { type: "image/png", data: "AAAA" }
 * ```
 */
export function parseDataUrl(url: string): { readonly type: string; readonly data: string } | undefined {
  const head = url.slice(0, maxHeadChars);
  const comma = head.indexOf(",");
  if (comma < 0 || head.slice(0, 5).toLowerCase() !== "data:") return undefined;
  const [type = "", ...parameters] = head.slice(5, comma).toLowerCase().split(";");
  return parameters.at(-1) === "base64" ? { type, data: url.slice(comma + 1) } : undefined;
}
