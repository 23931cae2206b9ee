/** The keys of the configuration that pages name exist. */
import { assert, assertEquals } from "@std/assert";
import { serverConnectors } from "../../connectors/server.ts";
import { listFields } from "../../scripts/schema/keys.ts";
import { schema } from "../../src/config/schema/schema.ts";
import { codePages } from "../support/_page_code.ts";

/** A key in code: its sections, and `<name>`, `*` or `"*"` for an entry. */
const mention = /`([a-z_]+(?:(?:\[\d*\])?\.(?:<[a-z]+>|"\*"|\*|[a-z_]+))+)(?=[`:])/g;

/** Values of the Helm chart have the name of a section, too. */
const chart = /^kubernetes\.md: storage\./;

Deno.test("every key of the configuration that a page names exists", async () => {
  const paths = [...listFields(schema)].map(([path]) => path);
  const sections = Object.keys(schema.fields);
  const attributes = new Set(
    serverConnectors.filter(({ kind }) => kind === "storage").flatMap(({ attributes = {} }) => Object.keys(attributes)),
  );
  const exists = (key: string) =>
    paths.some((path) => path === key || path.startsWith(`${key}.`)) ||
    key.startsWith("providers.*.config.") ||
    key.startsWith("storage.") && attributes.has(key.slice("storage.".length));
  const wrong: string[] = [];
  let count = 0;
  for (const page of await codePages()) {
    const text = await Deno.readTextFile(new URL(`../../${page}`, import.meta.url));
    for (const [, name = ""] of text.matchAll(mention)) {
      if (!sections.includes(name.split(".")[0]!)) continue;
      count++;
      const key = name.replace(/\.(?:<[a-z]+>|"\*"|\*)/g, ".*").replace(/\[\d*\]/g, "");
      // a page about providers names the keys of an entry without its path
      if (!exists(key) && !exists(`providers.*.${key}`)) wrong.push(`${page.replace("docs/", "")}: ${name}`);
    }
  }
  assert(count > 200, `only ${count} keys are seen`);
  assertEquals(wrong.filter((one) => !chart.test(one)), []);
});
