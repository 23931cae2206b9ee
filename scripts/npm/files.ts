/**
 * Paths of this repository.
 * @module
 */
import { fileURLToPath } from "node:url";

/** The repository's folder. */
export const root: URL = new URL("../../", import.meta.url);

/**
 * The path behind a `file:` address.
 *
 * @param url The address.
 */
export function fromFileUrl(url: URL): string {
  return fileURLToPath(url);
}
