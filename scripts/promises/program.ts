/**
 * This tree as one program of the TypeScript compiler, with the types of Deno, Node and web pages, and of packages.
 * @module
 */
import { fromFileUrl, root } from "../npm/files.ts";
import ts from "../npm/typescript.ts";
import { CachedPackages, createHost, packagesFrom, readImportMap } from "./packages.ts";

const nodeTypes = "npm:@types/node@26.6.6";

/** Where the types of Deno appear to the compiler. */
const denoTypes = "/packages/deno.d.ts";

const options: ts.CompilerOptions = {
  strict: true,
  noUncheckedIndexedAccess: true,
  noEmit: true,
  skipLibCheck: true,
  allowImportingTsExtensions: true,
  resolveJsonModule: true,
  target: ts.ScriptTarget.ESNext,
  module: ts.ModuleKind.ESNext,
  moduleResolution: ts.ModuleResolutionKind.Bundler,
  lib: ["lib.esnext.d.ts", "lib.dom.d.ts", "lib.dom.iterable.d.ts", "lib.dom.asynciterable.d.ts"],
  types: [],
};

/** Folders of what is built, and of data. */
const skipped: readonly string[] = ["npm", "coverage", "tests/fixtures"];

/** Yields the paths of all source files, relative to the root. */
export function* sourceFiles(folder = ""): Generator<string> {
  for (const { name, isDirectory } of Deno.readDirSync(new URL(folder, root))) {
    const path = folder + name;
    if (isDirectory && !name.startsWith(".") && !skipped.includes(path)) yield* sourceFiles(`${path}/`);
    else if (/(?<!\.d)\.ts$/.test(name)) yield path;
  }
}

/**
 * Creates the program of some files and what they import.
 *
 * @param files Absolute paths.
 * @throws {Error} When an import cannot be resolved: its promises would be of unknown type.
 */
export async function createProgram(files: readonly string[]): Promise<ts.Program> {
  const specifiers = [...readSpecifiers(), nodeTypes];
  await deno("cache", "--no-lock", "--no-config", ...specifiers);
  const { npmCache } = JSON.parse(await deno("info", "--json")) as { npmCache: string };
  const packages = new CachedPackages(`${npmCache}/registry.npmjs.org`, specifiers);
  const host = createHost(options, packages, new Map([[denoTypes, await deno("types")]]));
  const unresolved = new Set<string>();
  const importMap = readImportMap();
  host.resolveModuleNameLiterals = (literals, from) =>
    literals.map(({ text: name }) => {
      const mapped = importMap.get(name);
      if (mapped !== undefined) return { resolvedModule: { resolvedFileName: mapped, extension: ts.Extension.Ts } };
      const found = name.startsWith("npm:")
        ? ts.resolveModuleName(CachedPackages.toBareName(name), packagesFrom, options, host)
        : ts.resolveModuleName(name, from, options, host);
      const isOurs = !from.startsWith("/packages/");
      if (found.resolvedModule === undefined && isOurs && !name.startsWith("node:")) unresolved.add(`${from}: ${name}`);
      return found;
    });
  const roots = [...files, denoTypes, "/packages/node_modules/@types/node/index.d.ts"];
  const program = ts.createProgram(roots, options, host);
  if (unresolved.size > 0) throw new Error(`Unresolved imports:\n${[...unresolved].join("\n")}`);
  return program;
}

/** Returns the packages that this tree imports: their own imports of each other are without versions. */
function readSpecifiers(): string[] {
  const imported = /\b(?:from|import)\s*\(?\s*"(npm:[^"]+)"/g;
  const texts = [...sourceFiles()].map((path) => Deno.readTextFileSync(new URL(path, root)));
  return [...new Set(texts.flatMap((text) => [...text.matchAll(imported)].map(([, name]) => name!)))];
}

async function deno(...args: string[]): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), { args, cwd: fromFileUrl(root) })
    .output();
  if (success) return new TextDecoder().decode(stdout);
  throw new Error(`deno ${args[0]}: ${new TextDecoder().decode(stderr)}`);
}
