/**
 * Builds the npm package into `npm/` and prints its size. Fails when the smallest possible page exceeds its limit.
 * @module
 */
import { bundleForPage, callLimitBytes, completeEntry, gzipSize, limitBytes, oneProvider } from "./npm/browser_size.ts";
import { entries, type PackageFile } from "./npm/bundle.ts";
import { stop } from "./npm/esbuild.ts";
import { fromFileUrl, root } from "./npm/files.ts";
import { buildPackage } from "./npm/package.ts";

const scripts = /^dist\/.*\.js$/;

async function printSizes(files: readonly PackageFile[]): Promise<void> {
  for (const { path, text } of files.filter((file) => scripts.test(file.path))) {
    const role = entries.some((entry) => path === `dist/${entry}.js`) ? "entry" : "shared";
    const raw = new TextEncoder().encode(text).length;
    console.log(`${role.padEnd(7)} ${path.padEnd(40)} ${sized(raw)}  ${sized(await gzipSize(text))} gzipped`);
  }
}

function sized(bytes: number): string {
  return `${bytes.toLocaleString("en")} bytes`.padStart(14);
}

/** Prints the size of pages that use the built package, minified and gzipped. */
async function checkPages(built: URL): Promise<boolean> {
  const folder = fromFileUrl(built).replace(/\/$/, "");
  const [least, complete] = [
    await bundleForPage(oneProvider, { folder }),
    await bundleForPage(completeEntry, { folder }),
  ];
  const isLight = least.gzipBytes <= limitBytes && least.callGzipBytes <= callLimitBytes;
  console.log(`page    create with one provider: ${sized(least.gzipBytes).trim()} of ${sized(limitBytes).trim()}`);
  console.log(`page    one chat call of it: ${sized(least.callGzipBytes).trim()} of ${sized(callLimitBytes).trim()}`);
  console.log(`page    the whole browser entry: ${sized(complete.gzipBytes).trim()}`);
  if (!isLight) console.error("The browser entry has outgrown its limit");
  return isLight;
}

if (import.meta.main) {
  try {
    const built = new URL("npm/", root);
    await printSizes(await buildPackage(built));
    if (!await checkPages(built)) Deno.exitCode = 1;
  } finally {
    await stop();
  }
}
