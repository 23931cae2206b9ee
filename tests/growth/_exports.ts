/**
 * Finds what reads text and data from outside, by its name.
 * @module
 */
import { readdir, readFile } from "node:fs/promises";
import process from "node:process";

/** Functions that read something into another form. */
const verbs = /^(parse|read|to|from|scan|decode|normalize|translate)([A-Z]\w*)?$/;

/** Classes that read something piece by piece. */
const nouns = /(Parser|Reader|Decoder|Scanner|Splitter|Stream|Events|Batches|Normalizer|Calls|Progress)$/;

/** Functions that list what a registry has. */
const lists = /^(list|describe|status)([A-Z]\w*)?$/;

/** Calls of a provider connector for one operation. */
const calls = /(In|By)$/;

const exported = /^export (?:async )?(?:function\*?|abstract class|class) (\w+)/gm;

/** Dialects are objects. */
const dialects = /^export const (\w+): (?:Embedding)?Dialect = /gm;

/**
 * Returns the exports of the source that belong in the table, as `path#name`.
 *
 * @param folders Folders to search.
 */
export async function readingExports(folders: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  for (const folder of folders) {
    for (const file of await readdir(folder, { recursive: true })) {
      if (!file.endsWith(".ts")) continue;
      const path = `${folder}/${file.replaceAll("\\", "/")}`;
      const text = await readFile(`${process.cwd()}/${path}`, "utf8");
      const isProvider = path.startsWith("connectors/providers/");
      for (const [, name] of text.matchAll(exported)) {
        if (belongs(name!) || isProvider && calls.test(name!)) found.push(`${path}#${name}`);
      }
      for (const [, name] of text.matchAll(dialects)) found.push(`${path}#${name}`);
    }
  }
  return found.sort();
}

function belongs(name: string): boolean {
  return verbs.test(name) || nouns.test(name) || lists.test(name);
}
