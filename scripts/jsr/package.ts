/**
 * Builds the JSR package: bundled modules, declarations, `deno.json` and documentation.
 * @module
 */
import { type Manifest, readManifest, thirdPartyLicenses, writePackage } from "../npm/package.ts";
import { declarations } from "../npm/types.ts";
import { bundleForDeno } from "./bundle.ts";

/**
 * Builds the package.
 *
 * @param folder Output folder, which is emptied first.
 * @throws {Error} When the sources are inconsistent.
 */
export async function buildJsrPackage(folder: URL): Promise<void> {
  const manifest = await readManifest();
  const { files, notices } = await bundleForDeno();
  await writePackage(folder, [
    ...files,
    ...declarations({ extension: ".d.ts", hasLibraries: false }),
    { path: "deno.json", text: `${JSON.stringify(toJsrConfig(manifest), null, 2)}\n` },
    await thirdPartyLicenses(notices),
  ]);
}

/** Its `deno.json`, with built entries and without what concerns this repository alone. */
function toJsrConfig({ name, version, license, description, exports }: Manifest): Record<string, unknown> {
  const built = Object.entries(exports).map(([key, file]) => [key, file.replace(/\.ts$/, ".js")]);
  const publish = { exclude: ["!**"] }; // git ignores the folder
  return { name, version, license, description, exports: Object.fromEntries(built), publish };
}
