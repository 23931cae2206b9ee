/**
 * Tests in headless Chromium: one browser for all files, which `scripts/test.ts` starts, and one context per page, so
 * that no page finds what another left.
 * @module
 */
import { afterAll, beforeAll, describe, it } from "@std/testing/bdd";
import { tmpdir } from "node:os";
import process from "node:process";
import { type Chromium, chromiumVariable, findChromium, startChromium } from "../../scripts/chromium.ts";
import { type OpenOptions, TestPage } from "./_page.ts";
import { type Browser, chromium } from "./_playwright.ts";
import { type Site, startSite } from "./_site.ts";

/** Opens a page of the site. */
export type Open = (options?: OpenOptions) => Promise<TestPage>;

/**
 * A suite whose tests open pages. Without Chromium it is skipped, and the summary says what to install; it fails
 * where `CI` is set.
 *
 * @param name What the tests are about.
 * @param define Defines them.
 */
export function describeInChromium(name: string, define: (open: Open) => void): void {
  const executablePath = findChromium();
  if (executablePath !== undefined) return void describe(name, () => defineIn(executablePath, define));
  const missing = `${name} (no Chromium on PATH; on Debian: apt-get install -y chromium)`;
  if (process.env.CI === undefined) return void describe.skip(missing, () => {});
  it(missing, () => {
    throw new Error("Chromium is not installed, and CI runs every test");
  });
}

function defineIn(executablePath: string, define: (open: Open) => void): void {
  let own: Chromium | undefined;
  let browser: Browser;
  let site: Site;
  beforeAll(async () => {
    site = await startSite();
    const url = process.env[chromiumVariable] ?? (own = await startChromium(executablePath)).url;
    // a folder of its own would be removed after the connection has ended, which nothing waits for
    browser = await chromium.connectOverCDP(url, { artifactsDir: tmpdir() });
  });
  afterAll(async () => {
    await browser.close(); // ends the connection alone
    await own?.[Symbol.asyncDispose]();
    await site[Symbol.asyncDispose]();
  });
  define((options) => TestPage.open(browser, site.port, options));
}
