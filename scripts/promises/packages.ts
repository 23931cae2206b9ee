/**
 * Resolves the names that this tree imports, for a compiler that knows neither import maps nor `npm:`.
 * @module
 */
import { fromFileUrl, root } from "../npm/files.ts";
import ts from "../npm/typescript.ts";

/** Folder in which the packages of Deno's cache appear to the compiler, side by side, one version of each. */
const folder = "/packages/node_modules/";

const packageName = /^(?:@[^/]+\/)?[^/@]+/;

interface Manifest {
  readonly name: string;
  readonly exports: string | Readonly<Record<string, string>>;
  readonly imports?: Readonly<Record<string, string>>;
  readonly links?: readonly string[];
}

/**
 * Reads the files that stand behind the names of `deno.json`: its own entries, its links, and the paths of its imports.
 */
export function readImportMap(): ReadonlyMap<string, string> {
  const manifest = readManifest(".");
  const links = (manifest.links ?? []).map((path) => [path, readManifest(path)] as const);
  const names = [[".", manifest] as const, ...links].flatMap(([path, { name, exports }]) =>
    Object.entries(typeof exports === "string" ? { ".": exports } : exports).map(([entry, file]) =>
      [name + entry.slice(1), `${path}/${file}`] as const
    )
  );
  const paths = Object.entries(manifest.imports ?? {}).filter(([, target]) => target.startsWith("./"));
  return new Map([...names, ...paths].map(([name, path]) => [name, fromFileUrl(new URL(path, root))]));
}

function readManifest(path: string): Manifest {
  return JSON.parse(Deno.readTextFileSync(new URL(`${path}/deno.json`, root)));
}

/** The packages in Deno's cache, as a `node_modules` folder. */
export class CachedPackages {
  readonly #cache: string;
  readonly #versions: Map<string, string | undefined>;

  /**
   * @param cache Folder of Deno's cache with a folder per package.
   * @param specifiers Specifiers with versions, such as `npm:openai@7.55.0`; of other packages the last version is used.
   */
  constructor(cache: string, specifiers: readonly string[]) {
    this.#cache = cache;
    this.#versions = new Map(specifiers.flatMap((specifier) => {
      const [, name, version] = /^npm:\/?((?:@[^/]+\/)?[^/@]+)@([\d.]+)/.exec(specifier) ?? [];
      return name === undefined ? [] : [[name, version]];
    }));
  }

  /** Returns the path of an import of a package as the compiler sees it: `npm:ai@7.0.1/test` is `…/node_modules/ai/test`. */
  static toBareName(specifier: string): string {
    return specifier.replace(/^npm:\/?((?:@[^/]+\/)?[^/@]+)(?:@[^/]*)?/, "$1");
  }

  /** Maps the path of a file that the compiler asks for. */
  toPath(path: string): string {
    if (!path.startsWith(folder)) return path;
    const [name] = packageName.exec(path.slice(folder.length)) ?? [""];
    const version = this.#findVersion(name);
    return version === undefined ? path : `${this.#cache}/${name}/${version}${path.slice(folder.length + name.length)}`;
  }

  #findVersion(name: string): string | undefined {
    if (!this.#versions.has(name)) this.#versions.set(name, this.#readLastVersion(name));
    return this.#versions.get(name);
  }

  #readLastVersion(name: string): string | undefined {
    try {
      const names = [...Deno.readDirSync(`${this.#cache}/${name}`)].filter((entry) => entry.isDirectory);
      return names.map((entry) => entry.name).sort((a, b) => a.localeCompare(b, "en", { numeric: true })).at(-1);
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) return undefined;
      throw error;
    }
  }
}

/** Where the compiler starts to look for packages. */
export const packagesFrom = "/packages/index.ts";

/**
 * Returns the compiler's view of this machine's files with the packages among them.
 *
 * @param options Options of the compiler.
 * @param texts Further files, by path.
 */
export function createHost(
  options: ts.CompilerOptions,
  packages: CachedPackages,
  texts: ReadonlyMap<string, string>,
): ts.CompilerHost {
  const host = ts.createCompilerHost(options);
  const readFile = (path: string) => texts.get(path) ?? host.readFile(packages.toPath(path));
  const fileExists = host.fileExists;
  return {
    ...host,
    readFile,
    fileExists: (path) => texts.has(path) || fileExists(packages.toPath(path)),
    directoryExists: (path) => folder.startsWith(`${path}/`) || ts.sys.directoryExists(packages.toPath(path)),
    realpath: (path) => path,
    getSourceFile: (path, languageVersion) => {
      const text = readFile(path);
      return text === undefined ? undefined : ts.createSourceFile(path, text, languageVersion, true);
    },
  };
}
