/**
 * Checks what a tag would publish, without publishing: one version everywhere, a change log entry, and dry runs of JSR
 * and npm. Leaves the package of the latter in `npm/`.
 *
 * Arguments: `--tag=v1.2.3`. Without it, the version of `deno.json` is used, and the change log entry may be marked
 * unreleased.
 * @module
 */
import { stop } from "./npm/esbuild.ts";
import { fromFileUrl, root } from "./npm/files.ts";
import { buildPackage } from "./npm/package.ts";
import { run } from "./npm/process.ts";

/** Version information of a release. */
export interface ReleaseFacts {
  /** Such as `v1.2.3`; undefined without a tag. */
  readonly tag?: string | undefined;
  /** Version in `deno.json`. */
  readonly version: string;
  /** Text of `CHANGELOG.md`. */
  readonly changelog: string;
}

/**
 * Returns the problems that prevent a release.
 *
 * @param facts Version information.
 */
export function releaseProblems({ tag, version, changelog }: ReleaseFacts): string[] {
  const problems: string[] = [];
  if (!/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version)) problems.push(`deno.json has the version "${version}"`);
  if (tag !== undefined && tag !== `v${version}`) problems.push(`The tag is "${tag}", and deno.json says ${version}`);
  const [, latest = "", state = ""] = /^## (\S+)(.*)$/m.exec(changelog) ?? [];
  if (latest !== version) problems.push(`CHANGELOG.md begins with "${latest}", and deno.json says ${version}`);
  if (tag !== undefined && /unreleased/i.test(state)) problems.push(`CHANGELOG.md calls ${latest} unreleased`);
  return problems;
}

/** Result of the npm dry run. */
interface Packed {
  readonly name: string;
  readonly version: string;
  readonly files: readonly { readonly path: string }[];
}

/** Files that the package must contain. */
const needed = [
  "README.md",
  "LICENSE",
  "docs/schema.json",
  "docs/api.md",
  "docs/README.md",
  "dist/mod.js",
  "types/mod.d.ts",
];

/** JSR gets the sources. Their types are known from `deno task check`. */
async function checkJsr(): Promise<void> {
  const options = ["--dry-run", "--allow-dirty", "--no-check"];
  await run([Deno.execPath(), "publish", ...options], { folder: fromFileUrl(root) });
}

async function checkNpm({ name, version }: { readonly name: string; readonly version: string }): Promise<string[]> {
  const folder = new URL("npm/", root);
  await buildPackage(folder);
  const command = ["npm", "publish", "--dry-run", "--json", "--access", "public"];
  const { out } = await run(command, { folder: fromFileUrl(folder), limitSeconds: 120 });
  const packed = (JSON.parse(out) as Record<string, Packed>)[name];
  if (packed === undefined) return [`npm would not publish ${name}: ${out}`];
  const paths = new Set(packed.files.map(({ path }) => path));
  const missing = needed.filter((path) => !paths.has(path)).map((path) => `The npm package lacks ${path}`);
  return packed.version === version ? missing : [...missing, `npm would publish ${packed.version}`];
}

async function main(args: readonly string[]): Promise<number> {
  const tag = args.find((arg) => arg.startsWith("--tag="))?.slice("--tag=".length);
  const read = (path: string) => Deno.readTextFile(new URL(path, root));
  const manifest = JSON.parse(await read("deno.json")) as { name: string; version: string };
  const problems = releaseProblems({ tag, version: manifest.version, changelog: await read("CHANGELOG.md") });
  try {
    await checkJsr();
    problems.push(...await checkNpm(manifest));
  } finally {
    await stop();
  }
  for (const problem of problems) console.error(problem);
  if (problems.length === 0) console.log(`${manifest.name} ${manifest.version} can be published to JSR and npm`);
  return problems.length === 0 ? 0 : 1;
}

if (import.meta.main) Deno.exit(await main(Deno.args));
