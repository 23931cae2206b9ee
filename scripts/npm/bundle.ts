/**
 * The entries as ES modules that Node, Deno, Bun and bundlers for browsers take alike.
 * @module
 */
import { build, type BuildResult, type Plugin } from "./esbuild.ts";
import { fromFileUrl, root } from "./files.ts";
import { type Bundled, type BundledFile, bundleProgram, program } from "./program.ts";
import { std } from "./std.ts";

/** The entries: what stands behind the names in `exports`. */
export const entries: readonly string[] = ["mod", "connector_kit", "browser", "proxy", "ai_sdk", "cli"];

/** The entry that only passes on what its parts export, so that a page's bundler takes the parts that are used. */
const barrel = "browser";

/** How it does so. */
const part = /^export \* from "\.\/(.+)\.ts";$/gm;

/** Code of others that is inlined. */
const foreign = /(?:^|\/)(?:deno-std\/[^/]+|scripts\/std)\//;

/** One file of the package. */
export interface PackageFile {
  /** Path in the package. */
  readonly path: string;
  /** Its text. */
  readonly text: string;
}

/** What bundling gives. */
interface Bundle {
  /** Scripts and their source maps. */
  readonly files: readonly PackageFile[];
  /** Notices of the inlined code of others. */
  readonly notices: string;
}

/** What all bundles have in common. */
const options = {
  absWorkingDir: fromFileUrl(root),
  outdir: "dist",
  bundle: true,
  format: "esm",
  target: "es2022",
  platform: "neutral", // a module of Node's is an error here, not an import
  define: { "import.meta.main": "false" },
  metafile: true,
  write: false,
  logLevel: "silent", // a failure is thrown, with its text
} as const;

/** Bundles the entries into `dist/`, with what those of a library share in `dist/chunks/`. */
export async function bundleEntries(): Promise<Bundle> {
  const source = await Deno.readTextFile(new URL(`${barrel}.ts`, root));
  const parts = [...source.matchAll(part)].map(([, path]) => path!);
  const bundles = [await bundleLibrary(parts), await bundleCommandLine()];
  const files = bundles.flatMap(({ outputFiles }) =>
    outputFiles.map((file) => ({ path: toPackagePath(file), text: toPackageText(file) }))
  );
  files.push({
    path: `dist/${barrel}.js`,
    text: parts.map((path) => `export * from "./${toPartPath(path)}.js";\n`).join(""),
  });
  return { files, notices: await collectNotices(bundles.flatMap(({ metafile }) => Object.keys(metafile.inputs))) };
}

function bundleLibrary(parts: readonly string[]): Promise<BuildResult<typeof options>> {
  const libraries = entries.filter((entry) => entry !== barrel && entry !== program);
  return build({
    ...options,
    entryPoints: [
      ...libraries.map((entry) => ({ in: `${entry}.ts`, out: entry })),
      ...parts.map((path) => ({ in: `${path}.ts`, out: toPartPath(path) })),
    ],
    chunkNames: "chunks/[name]-[hash]",
    splitting: true,
    sourcemap: "linked",
    plugins: [std, withoutMain],
  });
}

/** Names stay as they are, for stack traces. */
function bundleCommandLine(): Promise<Bundled> {
  return bundleProgram(
    { ...options, minifySyntax: true, minifyWhitespace: true, plugins: [std] },
    (text) => text.replace(main, ""),
  );
}

/** Where a part lies in `dist/`. */
function toPartPath(path: string): string {
  return `${barrel}/${path.split("/").at(-1)}`;
}

/** What an entry does when it is run itself. */
const main = /^if \(import\.meta\.main\) [^]*$/m;

/**
 * Cuts off what an entry does when it is run itself: Deno runs `cli.ts`, the package has `bin` for that. An `await` in
 * a branch that is never taken would still make the module one that `require()` refuses.
 */
const withoutMain: Plugin = {
  name: "without-main",
  setup(build) {
    build.onLoad({ filter: /\/(?:cli|proxy)\.ts$/ }, async ({ path }) => {
      return { contents: (await Deno.readTextFile(path)).replace(main, ""), loader: "ts" };
    });
  },
};

function toPackagePath({ path }: BundledFile): string {
  return path.slice(options.absWorkingDir.length);
}

/**
 * Removes imports of nothing, which the bundler writes to keep modules in order. None of ours has an effect to wait for, a
 * page's bundler takes such an import for a use, and Deno resolves each. Lines stay, for the source map.
 *
 * @param text A bundled module.
 */
function withoutBareImports(text: string): string {
  return text.replace(/^(?:\s*import\b[^;]*;)+/, (imports) => imports.replace(/\bimport ?"\.[^"]+";/g, ""));
}

/** Source maps name files as if they lay in the package, which has no place of its own for them: they hold the text. */
function toPackageText(file: BundledFile): string {
  if (!file.path.endsWith(".map")) return withoutBareImports(file.text);
  const map = JSON.parse(file.text) as { sources: string[] };
  const up = toPackagePath(file).split("/").slice(1).map(() => "..").join("/");
  const base = new URL(toPackagePath(file), root);
  map.sources = map.sources.map((source) => `${up}/${sourcePath(new URL(source, base))}`);
  return `${JSON.stringify(map)}\n`;
}

function sourcePath({ href }: URL): string {
  if (href.startsWith(root.href)) return href.slice(root.href.length);
  const [, path] = href.match(/\/(deno-std\/.*)$/) ?? [];
  if (path === undefined) throw new Error(`A source of neither this repository nor @std: ${href}`);
  return path;
}

/**
 * Returns the comments with copyright at the head of the inlined files of others, each once.
 *
 * @param inputs Paths of the inlined files, relative to the repository.
 */
export async function collectNotices(inputs: readonly string[]): Promise<string> {
  const notices = new Set<string>();
  for (const path of inputs.filter((input) => foreign.test(input))) {
    const text = await Deno.readTextFile(new URL(path, root));
    const head = text.match(/^(?:\/\/.*\n|\/\*![^]*?\*\/\n)*/)?.[0].replace(/^\/\/ This module is .*\n/gm, "") ?? "";
    if (head.includes("Copyright")) notices.add(head.replace(/^(?:\/\/| \*\/| \*|\/\*!) ?/gm, ""));
  }
  return [...notices].sort().join("\n");
}
