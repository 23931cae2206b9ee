/**
 * The behaviour suites in Chromium, over the browser entry: each test is a step with its own title.
 * @module
 */
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

/** The files of all behaviour suites. */
export const behaviourSuites: readonly string[] = ["tests/behaviour", "tests/slow/behaviour"].flatMap(listSuites);

function listSuites(folder: string): string[] {
  const names = [...Deno.readDirSync(folder)].map(({ name }) => name).filter((name) => name.endsWith("_test.ts"));
  return names.sort().map((name) => `${folder}/${name}`);
}

/** The globals of a suite's page. */
type Globals = { readonly suite?: PageSuite; readonly takeClaims?: () => Claim[] };

const titlesOf = () => (globalThis as Globals).suite!.titles;
const countOf = () => (globalThis as Globals).suite!.count;

async function runOne(_: unknown, index: number): Promise<Claim[]> {
  const { suite, takeClaims } = globalThis as Globals;
  await suite!.run(index);
  return takeClaims?.() ?? [];
}

/** The titles that a list names, by themselves or by what they are below; fails when it names what is not there. */
function excludedFrom(titles: readonly string[], list: readonly string[]): ReadonlySet<string> {
  const named = (name: string) => titles.filter((title) => title === name || title.startsWith(`${name} > `));
  assertEquals(list.filter((name) => named(name).length === 0), [], "excluded, but not there");
  return new Set(list.flatMap(named));
}

/** What a suite runs with. */
interface SuiteContext {
  readonly script: Uint8Array;
  readonly browser: Browser;
  readonly test: Deno.TestContext;
}

/** Runs every test of a suite in a page, but those that are excluded by title. */
async function runSuite(file: string, { script, browser, test }: SuiteContext): Promise<void> {
  await using site = await startSuiteSite(file, script);
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

/**
 * Defines a test for each suite.
 *
 * @param files The files of suites; those that are excluded from pages are left out.
 */
export function testSuitesInPages(files: readonly string[]): void {
  const suites = files.filter((file) => typeof notInPages[file] !== "string");
  let script: Promise<Uint8Array> | undefined; // made when the first suite runs
  for (const file of suites) {
    testInChromium(`${file} in a page`, async (browser, test) => {
      script ??= bundleSuites(suites);
      await runSuite(file, { script: await script, browser, test });
    });
  }
}
