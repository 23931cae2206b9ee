/**
 * Proves what a tag would publish, and publishes nothing: one version everywhere, a change log that has it, what JSR and npm
 * say to a dry run. It leaves the npm package in `npm/`.
 *
 * Arguments: `--tag=v1.2.3`; without it, the version of `deno.json` is taken, and the change log may call it unreleased.
 * @module
 */
import { stop } from "./npm/esbuild.ts";
import { fromFileUrl, root } from "./npm/files.ts";
import { buildPackage } from "./npm/package.ts";
import { run } from "./npm/process.ts";

/** Where a release's version stands. */
export interface ReleaseFacts {
  /** Such as `v1.2.3`; undefined when there is none yet. */
  readonly tag?: string | undefined;
  /** Of `deno.json`. */
  readonly version: string;
  /** The text of `CHANGELOG.md`. */
  readonly changelog: string;
}

/**
 * What keeps a version from being released.
 *
 * @param facts Where it stands.
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

/** What npm would publish. */
interface Packed {
  readonly name: string;
  readonly version: string;
  readonly files: readonly { readonly path: string }[];
}

/** What has to be in the package, whatever else is. */
const needed = ["README.md", "LICENSE", "schema.json", "api.md", "docs/README.md", "dist/mod.js", "types/mod.d.ts"];

async function checkNpm({ name, version }: { readonly name: string; readonly version: string }): Promise<string[]> {
  const folder = new URL("npm/", root);
  await buildPackage(folder).finally(stop);
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
  await run([Deno.execPath(), "publish", "--dry-run", "--allow-dirty"], { folder: fromFileUrl(root) });
  problems.push(...await checkNpm(manifest));
  for (const problem of problems) console.error(problem);
  if (problems.length === 0) console.log(`${manifest.name} ${manifest.version} can be published to JSR and npm`);
  return problems.length === 0 ? 0 : 1;
}

if (import.meta.main) Deno.exit(await main(Deno.args));
