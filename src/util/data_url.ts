/**
 * Parses `data:` URLs (RFC 2397).
 * @module
 */

/** Maximum length of the part before the data. */
const maxHeadChars = 1_024;

/** A `data:` URL in base64. */
interface DataUrl {
  /** The media type in lower case, without parameters; may be empty. */
  readonly type: string;
  /** The base64, which is not validated. */
  readonly data: string;
}

/**
 * Parses a `data:` URL whose data is in base64.
 *
 * @param url Any URL.
 * @returns Undefined for any other URL.
 *
 * @example
 * ```ts
 * parseDataUrl("data:image/PNG;name=a.png;base64,AAAA"); // { type: "image/png", data: "AAAA" }
 * ```
 */
export function parseDataUrl(url: string): DataUrl | undefined {
  const head = url.slice(0, maxHeadChars);
  const comma = head.indexOf(",");
  if (comma < 0 || head.slice(0, 5).toLowerCase() !== "data:") return undefined;
  const [type = "", ...parameters] = head.slice(5, comma).toLowerCase().split(";");
  return parameters.at(-1) === "base64" ? { type, data: url.slice(comma + 1) } : undefined;
}
