import { assert, assertEquals, assertNotEquals } from "@std/assert";
import { checkDocument, loadConfig, MeshConfigBase } from "../../../src/config/load/mesh_config.ts";
import { loadDocument } from "../../../src/config/load/load.ts";
import { saveConfigFile } from "../../../src/config/load/save.ts";
import type { Settings } from "../../../src/config/settings/settings.ts";
import { validate } from "../../../src/config/build/validate.ts";
import { denoRuntime } from "../../../src/runtime/deno.ts";
import { specifiedKeys } from "../../config/_spec_keys.ts";
import { completePath, dotted, known } from "../../config/_whole.ts";

const files = denoRuntime().files!;

async function whole(): Promise<Record<string, unknown>> {
  return await loadDocument(completePath, files) as Record<string, unknown>;
}

/** Whether a document says something under a path in which `*` stands for any name. */
function says(value: unknown, [key, ...rest]: readonly string[]): boolean {
  if (key === undefined) return value !== undefined;
  if (Array.isArray(value)) return value.some((item) => says(item, [key, ...rest]));
  if (typeof value !== "object" || value === null) return false;
  const members = key === "*" ? Object.values(value) : [Reflect.get(value, key)];
  return members.some((member) => says(member, rest));
}

function withoutSource(settings: Settings): Settings {
  return { ...settings, source: undefined };
}

Deno.test("settings are data: they can be copied as such, and those of one document are equal", async () => {
  const document = await whole();
  const settings = validate(document, { knownConnectors: known });
  assertEquals(structuredClone(settings).pools.size, settings.pools.size); // throws at a function
  assertEquals(validate(document, { knownConnectors: known }), settings);
});

Deno.test("the document of these tests uses every attribute of the specification", async () => {
  const document = await whole();
  for (const path of specifiedKeys) assert(says(document, path.split(".")), path);
});

for (const format of ["yaml", "json"]) {
  Deno.test(`a configuration is the same after it was saved and read again, as ${format}`, async () => {
    const folder = await Deno.makeTempDir();
    try {
      const read = await loadConfig(completePath, { knownConnectors: known, files });
      const first = new MeshConfigBase(read);
      await saveConfigFile(first, `${folder}/a.${format}`, files);
      const readAgain = await loadConfig(`${folder}/a.${format}`, { knownConnectors: known, files });
      const second = new MeshConfigBase(readAgain);
      assertEquals(second.document, first.document);
      assertEquals(withoutSource(readAgain.settings), withoutSource(read.settings));
      await saveConfigFile(second, `${folder}/b.${format}`, files);
      assertEquals(await files.readText(`${folder}/b.${format}`), await files.readText(`${folder}/a.${format}`));
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  });
}

Deno.test("a configuration is the same however its keys are spelled, nested or dotted", async () => {
  const document = await whole();
  const flat = dotted(document);
  assertNotEquals(Object.keys(flat), Object.keys(document));
  const meaningOf = (one: unknown) => ({ ...validate(one, { knownConnectors: known }), document: undefined });
  assertEquals(meaningOf(flat), meaningOf(document));
});

Deno.test("a configuration that says something else is another one", async () => {
  const document = await whole();
  const other = { ...document, proxy: { ...document.proxy as object, port: 8081 } };
  assertNotEquals(
    withoutSource(checkDocument(other, { knownConnectors: known }).settings),
    withoutSource(validate(document, { knownConnectors: known })),
  );
});
