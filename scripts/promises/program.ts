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

/**
 * Creates the program.
 *
 * @param files Absolute paths.
 * @throws {Error} When an import cannot be resolved: its promises would be of unknown type.
 */
export async function createProgram(files: readonly string[]): Promise<ts.Program> {
  const specifiers = [...readSpecifiers(files), nodeTypes];
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

function readSpecifiers(files: readonly string[]): string[] {
  const imported = /\b(?:from|import)\s*\(?\s*"(npm:[^"]+)"/g;
  return [
    ...new Set(files.flatMap((file) => [...Deno.readTextFileSync(file).matchAll(imported)].map(([, name]) => name!))),
  ];
}

async function deno(...args: string[]): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), { args, cwd: fromFileUrl(root) })
    .output();
  if (success) return new TextDecoder().decode(stdout);
  throw new Error(`deno ${args[0]}: ${new TextDecoder().decode(stderr)}`);
}
