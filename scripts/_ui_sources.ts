/**
 * Source files of the dashboard. Separate from the build, which needs a bundler.
 * @module
 */
import { toBase64 } from "../src/util/base64.ts";

/** The folder of the sources. */
export const folder: URL = new URL("../ui/", import.meta.url);

/** Returns a digest of all source files, which identifies what a page was built from. */
export async function digestOfSources(): Promise<string> {
  const names: string[] = [];
  for await (const { name, isFile } of Deno.readDir(folder)) if (isFile && name !== "deno.json") names.push(name);
  const contents = await Promise.all(
    names.sort().map(async (name) => `${name}\n${await Deno.readTextFile(new URL(name, folder))}`),
  );
  return await hashSource(contents.join("\n"));
}

/**
 * Returns the SHA-256 of a text in the form of a Content-Security-Policy source.
 *
 * @param text Encoded as UTF-8.
 */
export async function hashSource(text: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return `sha256-${toBase64(new Uint8Array(digest))}`;
}
