/**
 * Size of pages that use the browser entry, and detection of server code in them.
 * @module
 */
import { build, type Metafile, type Plugin } from "./esbuild.ts";
import { fromFileUrl, root } from "./files.ts";
import { optionalPackages } from "./optional_packages.ts";
import { std } from "./std.ts";

/** Maximum size of {@linkcode oneProvider}, minified and gzipped, bytes. */
export const limitBytes = 49_152;

/** Maximum size including what its first chat call loads, bytes. */
export const callLimitBytes = 92_160;

/** Modules loaded by its first chat call. */
export const firstCall: readonly string[] = ["src/engine/lifecycle.ts", "src/client/chat_call.ts"];

/** Name of the browser entry for consumers. */
const browserEntry = "@modelmesh/core/browser";

/** A program with one provider: the smallest useful page. */
export const oneProvider: string = `
  import { BrowserBaseProvider, create, createBrowserProviderConfig } from "${browserEntry}";
  const config = createBrowserProviderConfig({ baseUrl: "https://api.example.com/v1", apiKey: "k", models: ["m"] });
  export const client = create("chat-completion", { providers: [new BrowserBaseProvider(config)] });
`;

/** A program that uses everything. */
export const completeEntry: string = `export * from "${browserEntry}";`;

/** Resolves the package to the sources. */
const sources: Plugin = {
  name: "sources",
  setup(build) {
    build.onResolve({ filter: /^@modelmesh\/core\/browser$/ }, () => {
      return { path: fromFileUrl(new URL("browser.ts", root)), sideEffects: false };
    });
  },
};

/** Marks every module as free of side effects, as `package.json` does. */
const pure: Plugin = {
  name: "pure",
  setup(build) {
    build.onResolve({ filter: /^\.{1,2}\// }, ({ path, resolveDir }) => {
      return { path: fromFileUrl(new URL(path, `file://${resolveDir}/`)), sideEffects: false };
    });
  },
};

/** A program bundled for a page. */
export interface PageBundle {
  /** What the page loads initially, minified. */
  readonly text: string;
  /** Its gzipped size, bytes. */
  readonly gzipBytes: number;
  /** Gzipped size including what the first chat call loads, bytes. */
  readonly callGzipBytes: number;
  /** Files by path, and the modules of those loaded later. */
  readonly files: ReadonlyMap<string, string>;
  readonly modules: ReadonlyMap<string, string>;
  /** All code, including what is loaded later. */
  readonly allText: string;
}

/** Options of bundling. */
export interface BundleOptions {
  /** Whether to remove unused code (tree shaking). @default true */
  readonly isShaken?: boolean;
  /** Path of a project that has the package, or of the package itself; the sources of this repository by default. */
  readonly folder?: string;
}

/**
 * Bundles and minifies a program as a consumer does.
 *
 * @param source Its code; `./` is the folder of this repository or project.
 * @param options Options.
 */
export async function bundleForPage(
  source: string,
  { isShaken = true, folder }: BundleOptions = {},
): Promise<PageBundle> {
  const resolveDir = folder ?? fromFileUrl(root).replace(/\/$/, "");
  const { metafile, outputFiles } = await build({
    absWorkingDir: resolveDir,
    stdin: { contents: source, resolveDir, sourcefile: "page.ts", loader: "ts" },
    outdir: "page",
    bundle: true,
    splitting: true,
    minify: true,
    format: "esm",
    target: "es2022",
    platform: "browser",
    treeShaking: isShaken,
    ...(folder === undefined
      ? { plugins: [sources, std, ...isShaken ? [pure] : []] }
      : { external: Object.keys(optionalPackages) }),
    metafile: true,
    write: false,
    logLevel: "silent", // failures are thrown
  });
  const files = new Map(outputFiles.map(({ path, text }) => [path.slice(resolveDir.length + 1), text]));
  const join = (paths: ReadonlySet<string>) => [...paths].map((path) => files.get(path)!).join("");
  const eager = eagerOutputs(metafile, "page.ts");
  const called = new Set([...eager, ...firstCall.flatMap((path) => [...eagerOutputs(metafile, path)])]);
  const text = join(eager);
  const modules = Object.entries(metafile.outputs).flatMap(([path, { entryPoint }]) =>
    entryPoint === undefined ? [] : [[path, entryPoint] as const]
  );
  return {
    text,
    gzipBytes: await gzipSize(text),
    callGzipBytes: await gzipSize(join(called)),
    files,
    modules: new Map(modules),
    allText: [...files.values()].join(""),
  };
}

/** Returns the static imports of an entry and the entry, in execution order, without dynamic imports. */
function eagerOutputs({ outputs }: Metafile, entry: string): Set<string> {
  const eager = new Set<string>();
  const entered = new Set<string>();
  const visit = (path: string): void => {
    if (entered.has(path)) return;
    entered.add(path);
    for (const { kind, path: used } of outputs[path]!.imports) {
      if (kind === "import-statement" && used in outputs) visit(used);
    }
    eager.add(path);
  };
  Object.keys(outputs).filter((path) => isModuleOfSource(entry, outputs[path]!.entryPoint)).forEach(visit);
  return eager;
}

/**
 * Whether a module is that of a source file. In the package, dynamically imported modules are chunks of the same name.
 */
function isModuleOfSource(source: string, module: string | undefined): boolean {
  const chunk = source.replace(/^.*\//, "/chunks/").replace(/\.ts$/, "-");
  return module === source || module !== undefined && module.includes(chunk);
}

/** Returns the gzipped size of a text, bytes. */
export async function gzipSize(text: string): Promise<number> {
  const packed = new Blob([text]).stream().pipeThrough(new CompressionStream("gzip"));
  return (await new Response(packed).arrayBuffer()).byteLength;
}

/** Patterns of server code in minified code. */
const serverNames: readonly (readonly [text: RegExp, name: string])[] = [
  [/\bDeno\b(?! \w)/, "Deno"],
  [/["'`]node:\w/, "a module of Node"],
  [/\bprocess\b\s*[.:?[}]/, "process"],
  [/\brequire\s*\(/, "require"],
];

/**
 * Returns occurrences of server code in a bundle.
 *
 * @returns Names, with the surrounding code.
 */
export function serverTraces(text: string): string[] {
  return serverNames.flatMap(([pattern, name]) => {
    const at = text.search(pattern);
    return at < 0 ? [] : [`${name}: …${text.slice(Math.max(0, at - 40), at + 40)}…`];
  });
}
