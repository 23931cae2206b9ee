/**
 * Paths of this repository.
 * @module
 */
import { fileURLToPath } from "node:url";

/** URL of the repository's folder. */
export const root: URL = new URL("../../", import.meta.url);

/**
 * Converts a `file:` URL to a path.
 *
 * @param url The URL.
 */
export function fromFileUrl(url: URL): string {
  return fileURLToPath(url);
}
