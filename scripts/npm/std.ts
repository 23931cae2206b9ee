/**
 * Resolves `@std/…` for a bundler, which knows neither `links` nor `npm:`.
 * @module
 */
import { fromFileUrl, root } from "./files.ts";
import { optionalPackages } from "./optional_packages.ts";
import type { Plugin } from "./esbuild.ts";

/**
 * Resolves `@std/…` as `links` in `deno.json` does, and `npm:` to the copy that Deno has downloaded. Optional packages
 * are external.
 */
export const std: Plugin = {
  name: "std",
  setup(build) {
    build.onResolve({ filter: /^@std\// }, async ({ path }) => ({ path: await linked(path) }));
    build.onResolve({ filter: /^npm:deno-std@/ }, async ({ path }) => ({ path: await downloaded(path) }));
    build.onResolve({ filter: /^npm:/ }, ({ path }) => ({ path: optional(path), external: true }));
  },
};

/** Returns the name of an optional package, which stays external. */
function optional(specifier: string): string {
  const [, name, version] = /^npm:(.+)@([^@/]+)$/.exec(specifier) ?? [];
  if (name !== undefined && optionalPackages[name] === version) return name;
  throw new Error(`${specifier}: scripts/npm/optional_packages.ts does not name it`);
}

/** Resolves `@std/cli/parse-args` to the export `./parse-args` of `scripts/std/cli`. */
export async function linked(specifier: string): Promise<string> {
  const [, name, ...rest] = specifier.split("/");
  const folder = new URL(`scripts/std/${name}/`, root);
  const { exports } = JSON.parse(await Deno.readTextFile(new URL("deno.json", folder)));
  const file = typeof exports === "string" ? exports : exports[[".", ...rest].join("/")];
  if (file === undefined) throw new Error(`${specifier}: scripts/std/${name} does not export it`);
  return fromFileUrl(new URL(file, folder));
}

/**
 * Returns the path of a file of an npm package that Deno has downloaded.
 *
 * @param specifier Such as `npm:deno-std@1.4.0/yaml/mod.js`; the file is a module.
 */
export async function downloaded(specifier: string): Promise<string> {
  await import(specifier); // downloads it if necessary
  const path = specifier.slice("npm:".length).replace(/(?<=.)@/, "/");
  const { stdout } = await new Deno.Command(Deno.execPath(), { args: ["info", "--json"] }).output();
  const { npmCache } = JSON.parse(new TextDecoder().decode(stdout)) as { npmCache: string };
  const file = await findFile(npmCache, path);
  if (file === undefined) throw new Error(`${specifier}: not found among Deno's downloads`);
  return file;
}

/** Finds a file. Deno stores packages by host and path of their registry. */
async function findFile(folder: string, path: string, depth = 4): Promise<string | undefined> {
  const file = `${folder}/${path}`;
  if (await Deno.stat(file).then(({ isFile }) => isFile, () => false)) return file;
  if (depth === 0) return undefined;
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    const found = isDirectory ? await findFile(`${folder}/${name}`, path, depth - 1) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}
