/**
 * Tests in headless Chromium: one browser per file, one context per page, so that no page finds what another left.
 * @module
 */
import { afterAll, beforeAll, describe, it } from "@std/testing/bdd";
import { accessSync } from "node:fs";
import { delimiter, join } from "node:path";
import process from "node:process";
import { type OpenOptions, TestPage } from "./_page.ts";
import { type Browser, chromium } from "./_playwright.ts";
import { type Site, startSite } from "./_site.ts";

/** Opens a page of the site. */
export type Open = (options?: OpenOptions) => Promise<TestPage>;

const flags = [
  "--no-sandbox",
  "--headless",
  "--disable-gpu",
  "--disable-quic",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--no-first-run",
  "--host-resolver-rules=MAP *.example 127.0.0.1", // pages of other origins than the own machine's
];

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
  let browser: Browser;
  let site: Site;
  beforeAll(async () => {
    site = await startSite();
    browser = await chromium.launch({ executablePath, args: flags }); // its profile is a new folder, removed at the end
  });
  afterAll(async () => {
    await browser.close();
    await site[Symbol.asyncDispose]();
  });
  define((options) => TestPage.open(browser, site.port, options));
}

function findChromium(): string | undefined {
  const names = ["chromium", "chromium-browser", "google-chrome"];
  const folders = (process.env.PATH ?? "").split(delimiter);
  return folders.flatMap((folder) => names.map((name) => join(folder, name))).find(exists);
}

function exists(path: string): boolean {
  try {
    accessSync(path);
    return true;
  } catch {
    return false;
  }
}
