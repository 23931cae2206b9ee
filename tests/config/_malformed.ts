/** Files that people break, and what is said of them. */
import { listFields } from "../../scripts/schema/keys.ts";
import { loadConfig } from "../../src/config/load/mesh_config.ts";
import type { Field } from "../../src/config/schema/field.ts";
import { listNearest } from "../../src/config/schema/report.ts";
import { schema } from "../../src/config/schema/schema.ts";
import { denoRuntime } from "../../src/runtime/deno.ts";
import { catchRejections, known } from "./_known.ts";

/** What is wrong in a word, the file's content, and every problem it has; what begins with a brace is JSON. */
export type MalformedFile = readonly [what: string, content: string | Uint8Array, ...problems: string[]];

/** A provider. */
export const acme = "providers:\n  acme.llm.v1: { api_key: k }\n";

const fields = new Map([["", schema as Field], ...listFields(schema)]);

/** The end of what is said of an unknown key: the keys there are, or those that are the nearest to it. */
export function allowed(path: string, name: string): string {
  const field = path.endsWith(".*") ? fields.get(path.slice(0, -2))!.item! : fields.get(path)!;
  return `allowed: ${listNearest(name, Object.keys(field.fields!))}`;
}

/** What is said of a file with this content. */
export async function describeFile(content: string | Uint8Array): Promise<string[]> {
  const isJson = typeof content === "string" && content.startsWith("{");
  const path = await Deno.makeTempFile({ suffix: isJson ? ".json" : ".yaml" });
  try {
    await Deno.writeFile(path, typeof content === "string" ? new TextEncoder().encode(content) : content);
    return await catchRejections(loadConfig(path, { knownConnectors: known, files: denoRuntime().files! }));
  } finally {
    await Deno.remove(path);
  }
}
