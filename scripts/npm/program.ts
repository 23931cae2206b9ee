/**
 * The command-line interface, bundled apart from the library: what a start of its proxy loads is one file, since each
 * takes time to find, and what it may need later are others.
 * @module
 */
import { build, type BuildOptions, type BuildResult, type OutputFile } from "./esbuild.ts";
import { type LoadedBefore, ModuleGraph, withImports } from "./loading.ts";

/** A bundled file. */
export type BundledFile = Pick<OutputFile, "path" | "text">;

/** Bundled files, and the modules they are made of. */
export type Bundled = Pick<BuildResult<{ metafile: true }>, "metafile"> & {
  readonly outputFiles: readonly BundledFile[];
};

/** Its entry. */
export const program = "cli";

/** What a start of a proxy imports dynamically. */
const atStart: readonly string[] = [
  "src/cli/proxy.ts",
  "src/engine/lifecycle.ts",
  "connectors/observability/console.ts",
  "connectors/providers/_openai_compatible.ts",
  "connectors/strategies/stick_until_failure.ts",
  "src/runtime/_node_send.ts",
  "src/runtime/_node_server.ts",
];

/**
 * Bundles it. A first pass finds the modules.
 *
 * @param options The bundler's options.
 * @param edit Returns what becomes of the text of its entry.
 */
export async function bundleProgram(
  options: BuildOptions,
  edit: (text: string) => string,
): Promise<Bundled> {
  const entry = `${program}.ts`;
  const bundle = (imports: LoadedBefore) =>
    build({
      ...options,
      metafile: true,
      write: false,
      entryPoints: [entry],
      chunkNames: `${program}/[name]-[hash]`,
      splitting: true,
      plugins: [...options.plugins ?? [], withImports(imports, (path, text) => path === entry ? edit(text) : text)],
    });
  const graph = new ModuleGraph((await bundle(new Map([[entry, []]]))).metafile);
  const start = graph.loadedWith(entry, ...atStart).difference(new Set([entry]));
  const later = [entry, ...atStart, ...graph.dynamic];
  const { outputFiles, metafile } = await bundle(new Map(later.map((path) => [path, start])));
  return { outputFiles: withoutPassing(outputFiles), metafile };
}

/** A file that only passes on what another one exports. The bundler writes one for each module that is imported dynamically. */
const passing = /^(?:import"[^"]+";)*import\{([\w$,]+)\}from"\.\/([\w-]+\.js)";export\{\1\};\s*$/;

/** Imports what such files pass on directly, and leaves them out: a start would read a dozen. */
function withoutPassing(files: readonly BundledFile[]): BundledFile[] {
  const sources = new Map<string, string>();
  for (const { path, text } of files) {
    const [, , source] = passing.exec(text) ?? [];
    if (source !== undefined) sources.set(path.slice(path.lastIndexOf("/") + 1), source);
  }
  return files.filter(({ text }) => !passing.test(text)).map(({ path, text }) => ({
    path,
    text: text.replace(/\bimport\("\.\/([\w-]+\.js)"\)/g, (found, name) => {
      const source = sources.get(name);
      return source === undefined ? found : `import("./${source}")`;
    }),
  }));
}
