/**
 * What a page loads that uses the browser entry: its size, and whether anything of a server is in it.
 * @module
 */
import { build, type Metafile, type Plugin } from "./esbuild.ts";
import { fromFileUrl, root } from "./files.ts";
import { optionalPackages } from "./optional_packages.ts";
import { std } from "./std.ts";

/** The most that {@linkcode oneProvider} may weigh, minified and gzipped, bytes. */
export const limitBytes = 49_152;

/** The most that it may weigh with what its first chat call loads, bytes. */
export const callLimitBytes = 61_440;

/** What its first chat call loads beside. */
export const firstCall: readonly string[] = ["src/engine/run.ts"];

/** The entry, by the name that consumers know. */
const browserEntry = "@modelmesh/core/browser";

/** A program with one provider: the least that is of use. */
export const oneProvider: string = `
  import { BrowserBaseProvider, create, createBrowserProviderConfig } from "${browserEntry}";
  const config = createBrowserProviderConfig({ baseUrl: "https://api.example.com/v1", apiKey: "k", models: ["m"] });
  export const client = create("chat-completion", { providers: [new BrowserBaseProvider(config)] });
`;

/** A program that uses everything. */
export const wholeEntry: string = `export * from "${browserEntry}";`;

/** Has the sources stand for the package. */
const sources: Plugin = {
  name: "sources",
  setup(build) {
    build.onResolve({ filter: /^@modelmesh\/core\/browser$/ }, () => {
      return { path: fromFileUrl(new URL("browser.ts", root)), sideEffects: false };
    });
  },
};

/** Says of every module what `package.json` says of them: importing one has no effect but its names. */
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
  /** What the page loads at once, minified. */
  readonly text: string;
  /** The same, gzipped, bytes. */
  readonly gzipBytes: number;
  /** The same with what a first chat call loads, gzipped, bytes. */
  readonly callGzipBytes: number;
  /** The files by path; and which module each that is loaded later is for. */
  readonly files: ReadonlyMap<string, string>;
  readonly modules: ReadonlyMap<string, string>;
  /** All of it, also what it loads later. */
  readonly wholeText: string;
}

/** How a program is bundled. */
export interface BundleOptions {
  /** False keeps what the program reaches and does not use. Default: true. */
  readonly isShaken?: boolean;
  /** A project that has the package, or the package itself, as a path. Default: this repository's sources. */
  readonly folder?: string;
}

/**
 * Bundles a program as a consumer's bundler does, minified.
 *
 * @param source Its text; `./` is this repository's folder, or the project's.
 * @param options What to change.
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
    logLevel: "silent", // a failure is thrown, with its text
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
    wholeText: [...files.values()].join(""),
  };
}

/** What an entry imports and then itself, in the order of execution, but for what it loads when it needs it. */
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
  Object.keys(outputs).filter((path) => isOf(entry, outputs[path]!.entryPoint)).forEach(visit);
  return eager;
}

/** Whether a module is the one of a source: in the package, what is loaded on demand is a chunk of its name. */
function isOf(source: string, module: string | undefined): boolean {
  const chunk = source.replace(/^.*\//, "/chunks/").replace(/\.ts$/, "-");
  return module === source || module !== undefined && module.includes(chunk);
}

/**
 * The size of a text after gzip, bytes.
 *
 * @param text The text.
 */
export async function gzipSize(text: string): Promise<number> {
  const packed = new Blob([text]).stream().pipeThrough(new CompressionStream("gzip"));
  return (await new Response(packed).arrayBuffer()).byteLength;
}

/** What only servers have, as it looks in minified code. */
const serverNames: readonly (readonly [text: RegExp, name: string])[] = [
  [/\bDeno\b(?! \w)/, "Deno"],
  [/["'`]node:\w/, "a module of Node"],
  [/\bprocess\b\s*[.:?[}]/, "process"],
  [/\brequire\s*\(/, "require"],
];

/**
 * What of a server is in a bundle.
 *
 * @param text Its text, minified.
 * @returns Names, with what stands around them.
 */
export function serverTraces(text: string): string[] {
  return serverNames.flatMap(([pattern, name]) => {
    const at = text.search(pattern);
    return at < 0 ? [] : [`${name}: …${text.slice(Math.max(0, at - 40), at + 40)}…`];
  });
}
