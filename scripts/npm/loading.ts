/**
 * Groups modules by when they are loaded, for bundlers that make one file of what the same entries and dynamic imports
 * reach: what is loaded later imports all that has been loaded by then, so that this becomes one file.
 * @module
 */
import type { Metafile, Plugin } from "./esbuild.ts";
import { fromFileUrl, root } from "./files.ts";

/** Modules that a module is preceded by, by its path in this repository. */
export type LoadedBefore = ReadonlyMap<string, Iterable<string>>;

type Kind = Metafile["inputs"][string]["imports"][number]["kind"];

/** The modules of a bundle, by their paths in this repository. */
export class ModuleGraph {
  readonly #inputs: Metafile["inputs"];

  /** @param metafile The bundler's report. */
  constructor({ inputs }: Metafile) {
    this.#inputs = inputs;
  }

  /** Modules that are imported dynamically. */
  get dynamic(): ReadonlySet<string> {
    return new Set(Object.keys(this.#inputs).flatMap((path) => this.#listImports(path, "dynamic-import")));
  }

  /** Modules that are loaded with some, themselves included. */
  loadedWith(...paths: string[]): ReadonlySet<string> {
    const found = new Set(paths);
    for (const path of found) for (const next of this.#listImports(path, "import-statement")) found.add(next);
    return found;
  }

  #listImports(path: string, wanted: Kind): string[] {
    const { imports } = this.#inputs[path]!;
    return imports.filter(({ kind, external }) => !external && kind === wanted).map((found) => found.path);
  }
}

/**
 * Adds imports to modules.
 *
 * @param imports What to import, by module.
 * @param edit Returns what becomes of the text of a module.
 */
export function withImports(imports: LoadedBefore, edit: (path: string, text: string) => string): Plugin {
  const folder = fromFileUrl(root);
  return {
    name: "with-imports",
    setup(build) {
      build.onLoad({ filter: /\.ts$/ }, async ({ path }) => {
        const own = path.slice(folder.length);
        const added = imports.get(own);
        if (added === undefined) return undefined;
        const lines = [...added].filter((path) => path !== own).map((path) =>
          `import ${JSON.stringify(folder + path)};`
        );
        return { contents: `${lines.join("\n")}\n${edit(own, await Deno.readTextFile(path))}`, loader: "ts" };
      });
    },
  };
}
