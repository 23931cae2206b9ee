/**
 * Writes what is said of the configuration's keys elsewhere: `schema.json` for editors, and the tables of
 * `docs/configuration.md`. Both come from `src/config/schema`; a test fails when they are stale.
 * @module
 */
import { jsonSchema } from "./schema/json_schema.ts";
import { readKeys } from "./schema/keys.ts";
import { withTables } from "./schema/reference.ts";

const root = new URL("../", import.meta.url);

/** A file, and the text it has to have. */
export interface WrittenFile {
  /** Its path in this repository. */
  readonly path: string;
  /** Its text. */
  readonly text: string;
}

/** The files as they have to be. */
export async function writtenFiles(): Promise<readonly WrittenFile[]> {
  const keys = readKeys();
  const path = "docs/configuration.md";
  return [
    { path: "schema.json", text: `${JSON.stringify(jsonSchema(keys), null, 2)}\n` },
    { path, text: withTables(await Deno.readTextFile(new URL(path, root)), keys) },
  ];
}

if (import.meta.main) {
  for (const { path, text } of await writtenFiles()) await Deno.writeTextFile(new URL(path, root), text);
}
