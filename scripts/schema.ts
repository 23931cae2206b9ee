/**
 * Generates what describes the configuration elsewhere: `docs/schema.json` for editors, the tables of
 * `docs/configuration.md`, and the types of a configuration and its names. The source is `src/config/schema` and the
 * connectors. A test fails while the files are stale.
 * @module
 */
import { jsonSchema } from "./schema/json_schema.ts";
import { readKeys } from "./schema/keys.ts";
import { withTables } from "./schema/reference.ts";
import { documentTypes, nameTypes } from "./schema/types.ts";

const root = new URL("../", import.meta.url);

/** A generated file. */
export interface WrittenFile {
  /** Path in this repository. */
  readonly path: string;
  /** Its text. */
  readonly text: string;
}

/** Returns the generated files. */
export async function writtenFiles(): Promise<readonly WrittenFile[]> {
  const keys = readKeys();
  const path = "docs/configuration.md";
  return [
    { path: "docs/schema.json", text: `${JSON.stringify(jsonSchema(keys), null, 2)}\n` },
    { path, text: withTables(await Deno.readTextFile(new URL(path, root)), keys) },
    { path: "src/contracts/config_document.ts", text: await formatted(documentTypes(keys)) },
    { path: "src/contracts/names.ts", text: await formatted(nameTypes()) },
  ];
}

/** Formats TypeScript; the formatter needs a second pass for some code it has wrapped. */
async function formatted(text: string): Promise<string> {
  const next = await formattedOnce(text);
  return next === text ? text : await formatted(next);
}

async function formattedOnce(text: string): Promise<string> {
  const args = ["fmt", "--ext=ts", "-"];
  const child = new Deno.Command(Deno.execPath(), { args, cwd: root, stdin: "piped", stdout: "piped" }).spawn();
  const output = child.output();
  const writer = child.stdin.getWriter();
  await writer.write(new TextEncoder().encode(text));
  await writer.close();
  const { success, stdout } = await output;
  if (!success) throw new Error("deno fmt failed");
  return new TextDecoder().decode(stdout);
}

if (import.meta.main) {
  for (const { path, text } of await writtenFiles()) await Deno.writeTextFile(new URL(path, root), text);
}
