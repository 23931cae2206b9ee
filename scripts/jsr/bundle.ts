/**
 * The entries as a few ES modules for Deno, which takes a fifth of a millisecond to find, load and link each.
 * @module
 */
import { bareImport, type Bundle, noticesOf, type PackageFile } from "../npm/bundle.ts";
import { build, type BuildResult, type Metafile, type Plugin } from "../npm/esbuild.ts";
import { fromFileUrl, root } from "../npm/files.ts";
import { stdFor } from "../npm/std.ts";

const entries: readonly string[] = ["mod", "browser", "proxy", "ai_sdk", "cli"];

/** What all bundles have in common. */
const options = {
  absWorkingDir: fromFileUrl(root),
  entryPoints: entries.map((name) => `${name}.ts`),
  outdir: ".",
  chunkNames: "chunks/[name]-[hash]",
  bundle: true,
  splitting: true,
  format: "esm",
  target: "esnext",
  platform: "neutral",
  metafile: true,
  write: false,
  logLevel: "silent", // a failure is thrown, with its text
} as const;

/**
 * Bundles the entries. Each refers to its declarations in `types/`.
 *
 * Modules that the same entries and dynamic imports reach become one chunk. A first pass finds which modules every
 * program loads; in the second one, all that is loaded later imports these as well, so that they become one chunk.
 */
export async function bundleForDeno(): Promise<Bundle> {
  const { metafile } = await bundle([]);
  const { outputFiles } = await bundle([withImports(loadedBefore(metafile))]);
  const files = outputFiles.map(({ path, text }) =>
    withTypes({ path: path.slice(options.absWorkingDir.length), text: text.replace(bareImport, "") })
  );
  return { files, notices: await noticesOf(Object.keys(metafile.inputs)) };
}

function bundle(plugins: readonly Plugin[]): Promise<BuildResult<typeof options>> {
  return build({ ...options, plugins: [stdFor("jsr"), ...plugins] });
}

type Kind = Metafile["inputs"][string]["imports"][number]["kind"];

/** For each module that is loaded after others: the modules that have been loaded by then. */
function loadedBefore({ inputs }: Metafile): ReadonlyMap<string, Iterable<string>> {
  const importsOf = (path: string, kinds: readonly Kind[]) =>
    inputs[path]!.imports.filter(({ kind, external }) => !external && kinds.includes(kind)).map((found) => found.path);
  const reachable = (from: string, kinds: readonly Kind[]) => {
    const found = new Set([from]);
    for (const path of found) for (const next of importsOf(path, kinds)) found.add(next);
    return found;
  };
  const core = reachable("mod.ts", ["import-statement"]);
  const inPages = core.intersection(reachable("browser.ts", ["import-statement"]));
  const everInPages = reachable("browser.ts", ["import-statement", "dynamic-import"]);
  const later = new Set(Object.keys(inputs).flatMap((path) => importsOf(path, ["dynamic-import"]))).difference(core);
  return new Map([
    ...["proxy.ts", "ai_sdk.ts"].map((path) => [path, core] as const),
    ...[...later].map((path) => [path, everInPages.has(path) ? inPages : core] as const),
  ]);
}

/** Adds imports to modules. */
function withImports(imports: ReadonlyMap<string, Iterable<string>>): Plugin {
  return {
    name: "with-imports",
    setup(build) {
      build.onLoad({ filter: /\.ts$/ }, async ({ path }) => {
        const added = imports.get(path.slice(options.absWorkingDir.length));
        if (added === undefined) return undefined;
        const lines = [...added].map((one) => `import ${JSON.stringify(options.absWorkingDir + one)};`);
        return { contents: `${lines.join("\n")}\n${await Deno.readTextFile(path)}`, loader: "ts" };
      });
    },
  };
}

/** Adds the reference to its declarations to an entry. */
function withTypes({ path, text }: PackageFile): PackageFile {
  const name = entries.find((entry) => path === `${entry}.js`);
  return name === undefined ? { path, text } : { path, text: `// @ts-self-types="./types/${name}.d.ts"\n${text}` };
}
