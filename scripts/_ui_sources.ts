/**
 * The sources of the dashboard, without what builds it.
 * @module
 */
import { toBase64 } from "../src/util/base64.ts";

/** Their folder. */
export const folder: URL = new URL("../ui/", import.meta.url);

/** A digest of all of them: it says whether a page was built from these. */
export async function digestOfSources(): Promise<string> {
  const names: string[] = [];
  for await (const { name, isFile } of Deno.readDir(folder)) if (isFile && name !== "deno.json") names.push(name);
  const texts = await Promise.all(
    names.sort().map(async (name) => `${name}\n${await Deno.readTextFile(new URL(name, folder))}`),
  );
  return await hashOf(texts.join("\n"));
}

/**
 * The SHA-256 of a text, as a Content-Security-Policy names it.
 *
 * @param text UTF-8.
 */
export async function hashOf(text: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return `sha256-${toBase64(new Uint8Array(digest))}`;
}
