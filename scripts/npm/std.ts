/**
 * Where the code behind `@std/…` lies, for a bundler that knows neither `links` nor `npm:`.
 * @module
 */
import { fromFileUrl, root } from "./files.ts";
import type { Plugin } from "./esbuild.ts";

/**
 * Resolves `@std/…` as `links` in `deno.json` does, and the `npm:` behind it to the copy that Deno has downloaded. What
 * our own code takes from npm it loads only when it is needed: that stays outside of the bundle.
 */
export const std: Plugin = {
  name: "std",
  setup(build) {
    build.onResolve({ filter: /^@std\// }, async ({ path }) => ({ path: await linked(path) }));
    build.onResolve({ filter: /^npm:/ }, async ({ path, importer }) =>
      importer.includes("/scripts/std/")
        ? { path: await downloaded(path) } // what stands in for @std
        : { path: nameOf(path), external: true });
  },
};

/** `@std/cli/parse-args` is what `scripts/std/cli` exports as `./parse-args`. */
async function linked(specifier: string): Promise<string> {
  const [, name, ...rest] = specifier.split("/");
  const folder = new URL(`scripts/std/${name}/`, root);
  const { exports } = JSON.parse(await Deno.readTextFile(new URL("deno.json", folder)));
  const file = typeof exports === "string" ? exports : exports[[".", ...rest].join("/")];
  if (file === undefined) throw new Error(`${specifier}: scripts/std/${name} does not export it`);
  return fromFileUrl(new URL(file, folder));
}

/** `npm:@redis/client@6.3.1` is `@redis/client` to whoever has installed it. */
function nameOf(specifier: string): string {
  return specifier.replace(/^npm:(@?[^@]+)@[^/]+/, "$1");
}

async function downloaded(specifier: string): Promise<string> {
  await import(specifier); // downloads it where it is not there yet
  const path = specifier.slice("npm:".length).replace(/(?<=.)@/, "/");
  const { stdout } = await new Deno.Command(Deno.execPath(), { args: ["info", "--json"] }).output();
  const { npmCache } = JSON.parse(new TextDecoder().decode(stdout)) as { npmCache: string };
  const file = await findFile(npmCache, path);
  if (file === undefined) throw new Error(`${specifier}: not found among Deno's downloads`);
  return file;
}

/** Deno keeps packages by registry: by its host, and its path if it has one. */
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
