/**
 * Bundles the entries as ES modules for Node, Deno, Bun and bundlers.
 * @module
 */
import { build, type Metafile, type OutputFile, type Plugin } from "./esbuild.ts";
import { fromFileUrl, root } from "./files.ts";
import { std } from "./std.ts";

/** The entries in `exports`. */
export const entries: readonly string[] = ["mod", "browser", "proxy", "ai_sdk", "cli"];

/** The entry that only re-exports its parts, so that bundlers include the used ones only. */
const barrel = "browser";

/** Its re-exports. */
const part = /^export \* from "\.\/(.+)\.ts";$/gm;

/** Inlined third-party code. */
const foreign = /(?:^|\/)(?:deno-std\/[^/]+|scripts\/std)\//;

/** A file of the package. */
export interface PackageFile {
  /** Path in the package. */
  readonly path: string;
  /** Its text. */
  readonly text: string;
}

/** Result of bundling. */
export interface Bundle {
  /** Scripts and their source maps. */
  readonly files: readonly PackageFile[];
  /** Inputs and imports of each file, by path from the repository's root. */
  readonly metafile: Metafile;
  /** Copyright notices of inlined third-party code. */
  readonly notices: string;
}

/** Bundles the entries into `dist/`, and shared code into `dist/chunks/`. */
export async function bundleEntries(): Promise<Bundle> {
  const folder = fromFileUrl(root);
  const source = await Deno.readTextFile(new URL(`${barrel}.ts`, root));
  const parts = [...source.matchAll(part)].map(([, path]) => path!);
  const { metafile, outputFiles } = await build({
    absWorkingDir: folder,
    entryPoints: [
      ...entries.filter((entry) => entry !== barrel).map((entry) => ({ in: `${entry}.ts`, out: entry })),
      ...parts.map((path) => ({ in: `${path}.ts`, out: partOf(path) })),
    ],
    outdir: "dist",
    chunkNames: "chunks/[name]-[hash]",
    bundle: true,
    splitting: true,
    format: "esm",
    target: "es2022",
    platform: "neutral", // an import of a Node module is an error
    sourcemap: "linked",
    define: { "import.meta.main": "false" },
    plugins: [std, withoutMain],
    metafile: true,
    write: false,
    logLevel: "silent", // failures are thrown
  });
  const files = outputFiles.map((file) => ({ path: pathOf(file, folder), text: textOf(file, folder) }));
  files.push({
    path: `dist/${barrel}.js`,
    text: parts.map((path) => `export * from "./${partOf(path)}.js";\n`).join(""),
  });
  return { files, metafile, notices: await noticesOf(Object.keys(metafile.inputs)) };
}

/** Path of a part in `dist/`. */
function partOf(path: string): string {
  return `${barrel}/${path.split("/").at(-1)}`;
}

/**
 * Removes the main code of an entry: Deno runs `cli.ts` directly, the package has `bin`. Even an `await` in a branch
 * never taken would prevent `require()` of the module.
 */
const withoutMain: Plugin = {
  name: "without-main",
  setup(build) {
    build.onLoad({ filter: /\/(?:cli|proxy)\.ts$/ }, async ({ path }) => {
      const text = await Deno.readTextFile(path);
      return { contents: text.replace(/^if \(import\.meta\.main\) [^]*$/m, ""), loader: "ts" };
    });
  },
};

function pathOf({ path }: OutputFile, folder: string): string {
  return path.slice(folder.length);
}

/**
 * Matches imports without names, which the bundler emits to preserve execution order. The modules have no side effects,
 * and bundlers would include them. The line is kept empty for the source map.
 */
const bareImport = /^import "\.[^"]+";$/gm;

/** Returns the text of a file. Its source map contains the sources, which are not part of the package. */
function textOf(file: OutputFile, folder: string): string {
  if (!file.path.endsWith(".map")) return file.text.replace(bareImport, "");
  const map = JSON.parse(file.text) as { sources: string[] };
  const up = pathOf(file, folder).split("/").slice(1).map(() => "..").join("/");
  const base = new URL(pathOf(file, folder), root);
  map.sources = map.sources.map((source) => `${up}/${sourcePath(new URL(source, base))}`);
  return `${JSON.stringify(map)}\n`;
}

function sourcePath({ href }: URL): string {
  if (href.startsWith(root.href)) return href.slice(root.href.length);
  const [, path] = href.match(/\/(deno-std\/.*)$/) ?? [];
  if (path === undefined) throw new Error(`A source of neither this repository nor @std: ${href}`);
  return path;
}

/** Returns the copyright comments of inlined third-party files, each notice once. */
async function noticesOf(inputs: readonly string[]): Promise<string> {
  const notices = new Set<string>();
  for (const path of inputs.filter((input) => foreign.test(input))) {
    const text = await Deno.readTextFile(new URL(path, root));
    const head = text.match(/^(?:\/\/.*\n)*/)?.[0].replace(/^\/\/ This module is .*\n/gm, "") ?? "";
    if (head.includes("Copyright")) notices.add(head.replace(/^\/\/ ?/gm, ""));
  }
  return [...notices].sort().join("\n");
}
