import { assert, assertEquals } from "@std/assert";
import { parse as parseYaml } from "@std/yaml";
// deno-lint-ignore no-import-prefix -- an entry of `imports` would be downloaded before every task
import Ajv from "npm:ajv@8.20.0";
import { writtenFiles } from "../../../scripts/schema.ts";
import { parse } from "../../../src/config/schema/parse.ts";
import { Report } from "../../../src/config/schema/report.ts";
import { isPlainObject } from "../../../src/config/schema/tree.ts";
import { loadDocument } from "../../../src/config/load/load.ts";
import { schema } from "../../../src/config/schema/schema.ts";
import { validate } from "../../../src/config/build/validate.ts";
import { denoRuntime } from "../../../src/runtime/deno.ts";
import { junk, listPlaces } from "../../config/_junk_places.ts";
import { catchProblems } from "../../config/_known.ts";
import { completePath, dotted, known } from "../../config/_whole.ts";

type Document = Record<string, unknown>;

const ajv = new Ajv.default({ allErrors: true, strict: true, allowUnionTypes: true, allowMatchingProperties: true });
ajv.addVocabulary(["patternErrorMessage"]); // a word of editors
const check = ajv.compile(JSON.parse(await Deno.readTextFile("docs/schema.json")));

/** What the schema has against a document. */
function complaints(document: unknown): string[] {
  return check(document) ? [] : check.errors!.map(({ instancePath, message }) => `${instancePath} ${message}`);
}

async function whole(): Promise<Document> {
  return await loadDocument(completePath, denoRuntime().files!) as Document;
}

/** The documents that are shown to people. */
async function shown(): Promise<Document[]> {
  const texts = await Promise.all(
    ["README.md", "docs/configuration.md", "docs/routing.md"].map((path) => Deno.readTextFile(path)),
  );
  const blocks = texts.flatMap((text) => [...text.matchAll(/```yaml\n(.*?)```/gs)].map(([, block = ""]) => block));
  return blocks.map((block) => parseYaml(block, { schema: "core" }) as Document);
}

Deno.test("docs/schema.json and docs/configuration.md say what the schema says", async () => {
  for (const { path, text } of await writtenFiles()) {
    assert(await Deno.readTextFile(path) === text, `${path} is stale: run "deno task schema"`);
  }
});

Deno.test("docs/schema.json accepts the documents that are shown, and the one that uses everything", async () => {
  const documents = [...await shown(), await whole(), dotted(await whole())];
  assert(documents.length >= 5);
  for (const document of documents) assertEquals(complaints(document), []);
});

Deno.test("the documents that are shown hold, and warn of nothing", async () => {
  for (const document of await shown()) {
    const isPart = document.pools === undefined || document.proxy === undefined;
    if (isPart) continue;
    const { warnings } = validate(document, { knownConnectors: known });
    assertEquals(warnings, []);
  }
});

/** Every document in which one key of the given one is misspelt, with the misspelt path. */
function* misspelt(value: unknown, path: readonly string[] = []): Generator<[path: string, document: unknown]> {
  if (typeof value !== "object" || value === null) return;
  for (const [key, member] of Object.entries(value)) {
    for (const [inner, changed] of misspelt(member, [...path, key])) {
      yield [
        inner,
        Array.isArray(value) ? Object.assign([...value], { [key]: changed }) : { ...value, [key]: changed },
      ];
    }
    if (Array.isArray(value)) continue;
    const { [key]: moved, ...others } = value as Document;
    yield [[...path, key].join("."), { ...others, [`${key}x`]: moved }];
  }
}

Deno.test("docs/schema.json and validate() refuse a key that is misspelt, wherever it stands", async () => {
  let refused = 0;
  for (const [path, document] of misspelt(await whole())) {
    const isRefused = complaints(document).length > 0;
    const isProblem = catchProblems(() => validate(document, { knownConnectors: known })).some((line) =>
      line.includes("unknown key")
    );
    assertEquals(isRefused, isProblem, path);
    if (isRefused) refused++;
  }
  assert(refused > 200, `${refused} refused`);
});

Deno.test("docs/schema.json accepts whatever is read without a problem", () => {
  let accepted = 0;
  let refused = 0;
  for (const put of listPlaces(schema)) {
    for (const document of junk.map(put)) {
      if (document === null || !isJson(document)) continue;
      const report = new Report();
      parse(schema, document, { path: "", report });
      const against = complaints(document);
      if (report.problems.length === 0) assertEquals(against, [], JSON.stringify(document));
      if (report.problems.length === 0) accepted++;
      else if (against.length > 0) refused++;
    }
  }
  assert(accepted > 500 && refused > 5000, `${accepted} accepted, ${refused} refused`);
});

/** Whether a file could have it. */
function isJson(value: unknown): boolean {
  if (typeof value === "number") return Number.isFinite(value);
  if (value === null || typeof value === "string" || typeof value === "boolean") return true;
  if (Array.isArray(value)) return [...value].every(isJson);
  return isPlainObject(value) && Object.values(value).every(isJson);
}
