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

/** What a page leaves open is not Deno's, and what drives it removes its files a moment later. */
const sanitizers = { sanitizeOps: false, sanitizeResources: false };

/**
 * A suite whose tests open pages. Without Chromium it is skipped, and the summary says what to install; it fails
 * where `CI` is set.
 *
 * @param name What the tests are about.
 * @param define Defines them.
 */
export function describeInChromium(name: string, define: (open: Open) => void): void {
  const executablePath = findChromium();
  if (executablePath === undefined) return reportMissing(name);
  describe(name, sanitizers, () => defineIn(executablePath, define));
}

/**
 * A test that finds out in the browser what its steps are; likewise skipped without Chromium.
 *
 * @param name What it is about.
 * @param body Runs it.
 */
export function testInChromium(name: string, body: (browser: Browser, test: Deno.TestContext) => Promise<void>): void {
  const executablePath = findChromium();
  if (executablePath === undefined) return reportMissing(name);
  Deno.test({ name, ...sanitizers }, async (test) => {
    await using connection = await connect(executablePath);
    await body(connection.browser, test);
  });
}

function reportMissing(name: string): void {
  const missing = `${name} (no Chromium on PATH; on Debian: apt-get install -y chromium)`;
  if (process.env.CI === undefined) return void describe.skip(missing, () => {});
  it(missing, () => {
    throw new Error("Chromium is not installed, and CI runs every test");
  });
}

interface Connection extends AsyncDisposable {
  readonly browser: Browser;
}

/** Connects to the browser that runs for all files, or to one of its own. */
async function connect(executablePath: string): Promise<Connection> {
  const shared = process.env[chromiumVariable];
  const own: Chromium | undefined = shared === undefined ? await startChromium(executablePath) : undefined;
  // a folder of its own would be removed after the connection has ended, which nothing waits for
  const browser = await chromium.connectOverCDP(shared ?? own!.url, { artifactsDir: tmpdir() });
  return {
    browser,
    async [Symbol.asyncDispose]() {
      await browser.close(); // ends the connection alone
      await own?.[Symbol.asyncDispose]();
    },
  };
}

function defineIn(executablePath: string, define: (open: Open) => void): void {
  let connection: Connection;
  let site: Site;
  beforeAll(async () => {
    site = await startSite();
    connection = await connect(executablePath);
  });
  afterAll(async () => {
    await connection[Symbol.asyncDispose]();
    await site[Symbol.asyncDispose]();
  });
  define((options) => TestPage.open(connection.browser, site.port, options));
}
