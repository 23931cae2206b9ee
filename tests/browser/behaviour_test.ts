/** The behaviour suites themselves, in Chromium over the browser entry: each test is a step by its own title. */
import { assertEquals, assertGreater } from "@std/assert";
import { assertMatchesSchema } from "../support/schema.ts";
import { bundleSuites, startSuiteSite } from "./_behaviour_site.ts";
import { testInChromium } from "./_chromium.ts";
import { notInPages } from "./_not_in_pages.ts";
import { TestPage } from "./_page.ts";
import type { Browser } from "./_playwright.ts";
import { Relay, type RelayCall } from "./_relay.ts";
import type { PageSuite } from "./in_page/bdd.ts";
import type { Claim } from "./in_page/schema.ts";

const folder = "tests/behaviour";
const names = [...Deno.readDirSync(folder)].map(({ name }) => name).filter((name) => name.endsWith("_test.ts"));
const all = names.map((name) => `${folder}/${name}`).sort();
const suites = all.filter((file) => typeof notInPages[file] !== "string");

/** The globals of a suite's page. */
type Globals = { readonly suite?: PageSuite; readonly takeClaims?: () => Claim[] };

const titlesOf = () => (globalThis as Globals).suite!.titles;
const countOf = () => (globalThis as Globals).suite!.count;

async function runOne(_: unknown, index: number): Promise<Claim[]> {
  const { suite, takeClaims } = globalThis as Globals;
  await suite!.run(index);
  return takeClaims?.() ?? [];
}

/** Bundled when the first suite runs. */
let scripts: ReadonlyMap<string, Uint8Array> | undefined;

/** The titles that a list names, by themselves or by what they are below; fails when it names what is not there. */
function excludedFrom(titles: readonly string[], list: readonly string[]): ReadonlySet<string> {
  const named = (name: string) => titles.filter((title) => title === name || title.startsWith(`${name} > `));
  assertEquals(list.filter((name) => named(name).length === 0), [], "excluded, but not there");
  return new Set(list.flatMap(named));
}

/** Runs every test of a suite in a page, but those that are excluded by title. */
async function runSuite(file: string, browser: Browser, test: Deno.TestContext): Promise<void> {
  scripts ??= await bundleSuites(suites);
  await using site = await startSuiteSite(file, scripts);
  await using relay = new Relay();
  const functions = { relay: (call: unknown) => relay.call(call as RelayCall) };
  await using page = await TestPage.open(browser, site.port, { functions });
  const titles = await page.run(titlesOf, null);
  const excluded = excludedFrom(titles, Object.keys(notInPages[file] ?? {}));
  for (const [index, title] of titles.entries()) {
    if (excluded.has(title)) continue;
    await test.step(title, async () => {
      const claims = await page.run(runOne, index);
      for (const { name, value } of claims) assertMatchesSchema(name, value);
    });
  }
  const count = await page.run(countOf, null);
  assertGreater(count, 0);
  assertEquals(count, titles.filter((title) => !excluded.has(title)).length, "tests that ran, of those registered");
}

Deno.test("every suite that is excluded from pages is there", () => {
  assertEquals(Object.keys(notInPages).filter((file) => !all.includes(file)), []);
});

for (const file of suites) {
  testInChromium(`${file} in a page`, (browser, test) => runSuite(file, browser, test));
}
