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
  const emit = createEmitter();
  const files = new Map<string, PackageFile>();
  const queue = entries.map((entry) => `types/${entry}.d.ts`);
  for (let path = queue.pop(); path !== undefined; path = queue.pop()) {
    if (files.has(path)) continue;
    const text = emit(path);
    queue.push(...listImports(path, text));
    files.set(path, { path, text: findLibraries(path, text) + moduleComment(path, text) + text });
  }
  return [...files.values()].sort((one, other) => one.path < other.path ? -1 : 1);
}

/** Returns the module's comment, which the compiler drops with the import that follows it. */
function moduleComment(path: string, text: string): string {
  return text.includes("@module") ? "" : /^\/\*\*[^]*?\*\/\n/.exec(Deno.readTextFileSync(toSource(path)))?.[0] ?? "";
}

/** Returns the source of a declaration file. */
function toSource(path: string): string {
  return fromFileUrl(new URL(path.replace(/^types\/(.*)\.d\.ts$/, "$1.ts"), root));
}

/** Returns what emits a declaration file, by its path. */
function createEmitter(): (path: string) => string {
  const program = ts.createProgram(entries.map((entry) => toSource(`types/${entry}.d.ts`)), {
    declaration: true,
    emitDeclarationOnly: true,
    isolatedDeclarations: true,
    strict: true,
    allowImportingTsExtensions: true,
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    lib: ["lib.esnext.d.ts"],
    types: [],
    rootDir: fromFileUrl(root),
    outDir: "types",
  });
  return (path) => {
    let written = "";
    const write = (_: string, text: string) => void (written = text);
    // only errors that prevent emitting matter here; `deno task check` knows the types of Deno and @std
    const { diagnostics } = program.emit(program.getSourceFile(toSource(path)), write, undefined, true, {
      afterDeclarations: [withNames],
    });
    const [first] = diagnostics;
    if (first === undefined) return written;
    throw new Error(`${first.file?.fileName}: ${ts.flattenDiagnosticMessageText(first.messageText, "\n")}`);
  };
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
function listImports(path: string, text: string): string[] {
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
