/**
 * Builds the npm package: scripts, declarations, `package.json` and documentation.
 * @module
 */
import { bundleEntries, type PackageFile } from "./bundle.ts";
import { copied, root } from "./files.ts";
import { optionalPackages } from "./optional_packages.ts";
import { findRepository, type RepositoryMembers, toRepositoryMembers } from "./repository.ts";
import { declarations } from "./types.ts";

/** Members of `deno.json` that the package uses. */
interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly license: string;
  readonly description: string;
  readonly exports: Readonly<Record<string, string>>;
}

/** Minimum version of Node, the first with `process.getBuiltinModule`. `modelmesh.cjs` has it as well. */
const engine = ">=20.16";

/** Majors of `ai` that `@modelmesh/core/ai-sdk` has models for. It is not imported: npm warns of others. */
const sdkVersions = { ai: "^5.0.0 || ^6.0.0 || ^7.0.0" };

/** License of inlined third-party code, below the notices of its files. */
const thirdParty = "This package contains code of the Deno standard library and of what it was ported from, " +
  "under the MIT license:";

/**
 * Builds the package.
 *
 * @param folder Output folder, which is emptied first.
 * @returns The generated files, without copied ones.
 * @throws {Error} When the sources are inconsistent.
 */
export async function buildPackage(folder: URL): Promise<PackageFile[]> {
  const manifest = await readManifest();
  const repository = toRepositoryMembers(await findRepository());
  const { files, notices } = await bundleEntries();
  const all = [
    ...files,
    ...declarations(),
    { path: "modelmesh.cjs", text: await Deno.readTextFile(new URL("scripts/npm/modelmesh.cjs", root)) },
    { path: "package.json", text: `${JSON.stringify(packageJson(manifest, repository), null, 2)}\n` },
    await thirdPartyLicenses(notices),
  ];
  await writePackage(folder, all);
  await Deno.chmod(new URL("modelmesh.cjs", folder), 0o755);
  return all;
}

/**
 * Returns the file with the licenses of inlined third-party code.
 *
 * @param notices Notices of its files.
 */
async function thirdPartyLicenses(notices: string): Promise<PackageFile> {
  const license = await Deno.readTextFile(new URL("LICENSE", root));
  const terms = license.slice(license.indexOf("Permission is hereby"));
  return { path: "THIRD_PARTY_LICENSES", text: `${thirdParty}\n\n${notices}\n${terms}` };
}

/**
 * Writes a package, with license, schema and documentation.
 *
 * @param folder Output folder, which is emptied first.
 * @param files Its other files.
 */
async function writePackage(folder: URL, files: readonly PackageFile[]): Promise<void> {
  await Deno.remove(folder, { recursive: true }).catch(() => {}); // absent in the first build
  for (const { path, text } of files) {
    await Deno.mkdir(new URL(".", new URL(path, folder)), { recursive: true });
    await Deno.writeTextFile(new URL(path, folder), text);
  }
  for (const path of copied) await copy(path, folder);
}

/** Copies a file or a folder. */
async function copy(path: string, folder: URL): Promise<void> {
  const { isDirectory } = await Deno.stat(new URL(path, root));
  if (!isDirectory) return await Deno.copyFile(new URL(path, root), new URL(path, folder));
  await Deno.mkdir(new URL(path, folder));
  for await (const { name } of Deno.readDir(new URL(path, root))) await copy(`${path}/${name}`, folder);
}

/**
 * Reads `deno.json`.
 *
 * @throws {Error} When its version is not that of the sources.
 */
async function readManifest(): Promise<Manifest> {
  const manifest = JSON.parse(await Deno.readTextFile(new URL("deno.json", root))) as Manifest;
  const { version } = await import(new URL("src/version.ts", root).href) as { version: string };
  if (version !== manifest.version) {
    throw new Error(`src/version.ts says ${version}, deno.json says ${manifest.version}`);
  }
  return manifest;
}

function packageJson(
  { name, version, license, description, exports }: Manifest,
  repository: RepositoryMembers | undefined,
): Record<string, unknown> {
  return {
    name,
    version,
    description,
    license,
    ...repository,
    keywords: ["ai", "llm", "openai", "anthropic", "gemini", "proxy", "gateway", "failover", "router", "streaming"],
    type: "module",
    exports: {
      ...Object.fromEntries(Object.entries(exports).map(([key, file]) => [key, toExportEntry(file)])),
      "./schema.json": "./docs/schema.json",
      "./package.json": "./package.json",
    },
    bin: { modelmesh: "modelmesh.cjs" },
    files: ["dist", "types", "modelmesh.cjs", "THIRD_PARTY_LICENSES", ...copied.filter((path) => path !== "LICENSE")],
    engines: { node: engine },
    peerDependencies: { ...mapped((version) => `^${version}`), ...sdkVersions },
    peerDependenciesMeta: { ...mapped(() => ({ optional: true })), ai: { optional: true } },
    sideEffects: false,
  };
}

/** Maps each optional package to a value. */
function mapped<Value>(of: (version: string) => Value): Record<string, Value> {
  return Object.fromEntries(Object.entries(optionalPackages).map(([name, version]) => [name, of(version)]));
}

/** Returns the conditions of an entry. `types` comes first, since TypeScript uses the first match. */
function toExportEntry(file: string): { types: string; default: string } {
  const name = file.replace(/^\.\/(.*)\.ts$/, "$1");
  return { types: `./types/${name}.d.ts`, default: `./dist/${name}.js` };
}
