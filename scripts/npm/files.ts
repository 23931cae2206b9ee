/**
 * Paths of this repository.
 * @module
 */
import { fileURLToPath } from "node:url";

/** URL of the repository's folder. */
export const root: URL = new URL("../../", import.meta.url);

/** What packages contain as it is, files and folders: documentation is complete with its link targets. */
export const copied: readonly string[] = [
  "LICENSE",
  "README.md",
  "CHANGELOG.md",
  "ARCHITECTURE.md",
  "CONTRIBUTING.md",
  "SECURITY.md",
  "docs",
];

/** Converts a `file:` URL to a path. */
export function fromFileUrl(url: URL): string {
  return fileURLToPath(url);
}
