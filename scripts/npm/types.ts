/**
 * Declarations of the package, for consumers with any compiler settings.
 * @module
 */
import { entries, type PackageFile } from "./bundle.ts";
import { fromFileUrl, root } from "./files.ts";
import ts from "./typescript.ts";

/** Version of the compiler. */
export const typescriptVersion: string = ts.version;

/** References to newer standard libraries that a file needs, since consumers may target ES2022. */
const libraries: readonly (readonly [names: RegExp, library: string])[] = [
  [/\b(?:Async)?Disposable\b|\bSymbol\.(?:asyncDispose|dispose)\b/, "esnext.disposable"],
];

/**
 * Emits the declarations reachable from the entries into `types/`.
 *
 * @throws {Error} When a declaration cannot be emitted, or refers to something that consumers lack.
 */
export function declarations(): PackageFile[] {
  const written = emit();
  const wanted = new Set<string>();
  const queue = entries.map((entry) => `types/${entry}.d.ts`);
  for (let path = queue.pop(); path !== undefined; path = queue.pop()) {
    if (wanted.has(path)) continue;
    wanted.add(path);
    queue.push(...listImports(path, written.get(path)));
  }
  return [...wanted].sort().map((path) => {
    const text = written.get(path)!;
    return { path, text: findLibraries(path, text) + moduleComment(path, text) + text };
  });
}

/** Returns the module's comment, which the compiler drops with the import that follows it. */
function moduleComment(path: string, text: string): string {
  if (text.includes("@module")) return "";
  const source = Deno.readTextFileSync(new URL(path.replace(/^types\/(.*)\.d\.ts$/, "$1.ts"), root));
  return /^\/\*\*[^]*?\*\/\n/.exec(source)?.[0] ?? "";
}

function emit(): Map<string, string> {
  const program = ts.createProgram(entries.map((entry) => fromFileUrl(new URL(`${entry}.ts`, root))), {
    declaration: true,
    emitDeclarationOnly: true,
    isolatedDeclarations: true,
    strict: true,
    allowImportingTsExtensions: true,
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    lib: ["lib.esnext.d.ts", "lib.dom.d.ts", "lib.dom.iterable.d.ts", "lib.dom.asynciterable.d.ts"],
    types: [],
    rootDir: fromFileUrl(root),
    outDir: "types",
  });
  const files = new Map<string, string>();
  const write = (path: string, text: string) => void files.set(path, text);
  // only errors that prevent emitting matter here; `deno task check` knows the types of Deno and @std
  const { diagnostics } = program.emit(undefined, write, undefined, true, {
    afterDeclarations: [withNames],
  });
  const [first] = diagnostics;
  if (first !== undefined) {
    throw new Error(`${first.file?.fileName}: ${ts.flattenDiagnosticMessageText(first.messageText, "\n")}`);
  }
  return files;
}

/** Rewrites imports of `./a.ts`. TypeScript itself rewrites those of scripts only. */
function withNames(context: ts.TransformationContext): ts.Transformer<ts.SourceFile | ts.Bundle> {
  return (file) => {
    const visit = (node: ts.Node): ts.Node =>
      ts.isStringLiteral(node) && isSpecifier(node)
        ? context.factory.createStringLiteral(node.text.replace(/\.ts$/, ".js"))
        : ts.visitEachChild(node, visit, context);
    return ts.visitNode(file, visit) as ts.SourceFile;
  };
}

function isSpecifier(node: ts.StringLiteral): boolean {
  return /^\.\.?\/.*\.ts$/.test(node.text);
}

/** Returns the imports of a declaration file; packages are not allowed. */
function listImports(path: string, text: string | undefined): string[] {
  if (text === undefined) throw new Error(`${path}: imported, but not written`);
  return ts.preProcessFile(text).importedFiles.map(({ fileName }) => {
    if (!/^\.\.?\/.*\.js$/.test(fileName)) {
      throw new Error(`${path} needs "${fileName}", which consumers may not have`);
    }
    return new URL(fileName, `file:///${path}`).pathname.slice(1).replace(/\.js$/, ".d.ts");
  });
}

/** Returns references to newer standard libraries. Rejects names that exist on one runtime only. */
function findLibraries(path: string, text: string): string {
  const code = text.replace(/\/\*[^]*?\*\//g, "");
  const global = code.match(/\bDeno\b|\bNodeJS\b|\bBuffer\b/);
  if (global !== null) throw new Error(`${path} names ${global[0]}, which consumers may not have`);
  const needed = libraries.filter(([names]) => names.test(code)).map(([, library]) => library);
  return needed.map((library) => `/// <reference lib="${library}" />\n`).join("");
}
