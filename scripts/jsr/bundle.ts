/**
 * The entries as a few ES modules for Deno, which takes a fifth of a millisecond to find, load and link each.
 * @module
 */
import { type Bundle, collectNotices, type PackageFile, withoutBareImports } from "../npm/bundle.ts";
import { build, type BuildResult } from "../npm/esbuild.ts";
import { fromFileUrl, root } from "../npm/files.ts";
import { type LoadedBefore, ModuleGraph, withImports } from "../npm/loading.ts";
import { bundleProgram, program } from "../npm/program.ts";
import { stdFor } from "../npm/std.ts";

/** Entries that share modules. */
const libraries: readonly string[] = ["mod", "browser", "proxy", "ai_sdk"];

/** What all bundles have in common. */
const options = {
  absWorkingDir: fromFileUrl(root),
  outdir: ".",
  bundle: true,
  format: "esm",
  target: "esnext",
  platform: "neutral",
  metafile: true,
  write: false,
  logLevel: "silent", // a failure is thrown, with its text
} as const;

/** Bundles the entries. Each refers to its declarations in `types/`. */
export async function bundleForDeno(): Promise<Bundle> {
  const bundles = [await bundleLibraries(), await bundleProgram({ ...options, plugins: [stdFor("jsr")] })];
  const files = bundles.flatMap(({ outputFiles }) =>
    outputFiles.map(({ path, text }) =>
      withTypes({ path: path.slice(options.absWorkingDir.length), text: withoutBareImports(text) })
    )
  );
  return { files, notices: await collectNotices(bundles.flatMap(({ metafile }) => Object.keys(metafile.inputs))) };
}

/** A first pass finds the modules; in the second, those that every program loads become few files. */
async function bundleLibraries(): Promise<BuildResult<typeof options>> {
  const bundle = (imports: LoadedBefore) =>
    build({
      ...options,
      entryPoints: libraries.map((name) => `${name}.ts`),
      chunkNames: "chunks/[name]-[hash]",
      splitting: true,
      plugins: [stdFor("jsr"), withImports(imports)],
    });
  const { metafile } = await bundle(new Map());
  return await bundle(loadedBefore(new ModuleGraph(metafile)));
}

/** For each module that is loaded after others: the modules that have been loaded by then. */
function loadedBefore(graph: ModuleGraph): LoadedBefore {
  const core = graph.loadedWith("mod.ts");
  const inPages = core.intersection(graph.loadedWith("browser.ts"));
  const everInPages = graph.everLoadedWith("browser.ts");
  return new Map([
    ...["proxy.ts", "ai_sdk.ts"].map((path) => [path, core] as const),
    ...[...graph.dynamic.difference(core)].map((path) => [path, everInPages.has(path) ? inPages : core] as const),
  ]);
}

/** Adds the reference to its declarations to an entry. */
function withTypes({ path, text }: PackageFile): PackageFile {
  const name = [...libraries, program].find((entry) => path === `${entry}.js`);
  return name === undefined ? { path, text } : { path, text: `// @ts-self-types="./types/${name}.d.ts"\n${text}` };
}
