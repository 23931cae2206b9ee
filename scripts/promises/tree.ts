/**
 * A copy of this tree in which every import resolves as in a Node package: what knows neither import maps nor `npm:` can
 * check its types.
 * @module
 */
import { dirname } from "node:path";
import { fromFileUrl, root } from "../npm/files.ts";

/** Folders of what is built, and of data. */
const skipped: readonly string[] = ["npm", "coverage", "tests/fixtures"];

const nodeTypes = "npm:@types/node@26.6.6";

/** A specifier of a package with its version: the name, the version, and the path in it. */
const packageSpecifier = /"npm:\/?((?:@[^/"@]+\/)?[^/"@]+)@([\d.]+)(\/[^"]*)?"/g;

/** In the compiler's own declaration, the callback returns nothing; `finally` waits for a promise that it returns. */
const declarations = `interface Promise<T> {
  finally(onfinally?: (() => void | PromiseLike<void>) | null): Promise<T>;
}
`;

interface Manifest {
  readonly name: string;
  readonly exports: string | Readonly<Record<string, string>>;
  readonly imports?: Readonly<Record<string, string>>;
  readonly links?: readonly string[];
}

/** Yields the paths of all source files, relative to the root. */
export function* sourceFiles(folder = ""): Generator<string> {
  for (const { name, isDirectory } of Deno.readDirSync(new URL(folder, root))) {
    const path = folder + name;
    if (isDirectory && !name.startsWith(".") && !skipped.includes(path)) yield* sourceFiles(`${path}/`);
    else if (name.endsWith(".ts")) yield path;
  }
}

/**
 * Copies all sources, with the packages that they import.
 *
 * @param files The files to check, relative to the root or absolute.
 * @returns Their paths in the copy.
 * @throws {Error} When an import cannot be resolved: its promises would be of unknown type.
 */
export async function copyTree(files: readonly string[], folder: string): Promise<readonly string[]> {
  const versions = new Map<string, string>();
  const texts = new Map([...sourceFiles(), ...files].map((path) => [path, readSource(path, versions)]));
  const paths = [...readImportMap()].filter(([name]) => !versions.has(name)); // a module that re-exports a package
  const packages = await linkPackages(`${folder}/node_modules`, versions);
  requirePackages(texts.values(), new Set([...packages, ...paths.map(([name]) => name)]));
  for (const [path, text] of texts) {
    const target = `${folder}/${toTarget(path)}`;
    await Deno.mkdir(dirname(target), { recursive: true });
    await Deno.writeTextFile(target, text);
  }
  await Deno.writeTextFile(`${folder}/deno.d.ts`, await deno("types"));
  await Deno.writeTextFile(`${folder}/promise.d.ts`, declarations);
  const compilerOptions = {
    strict: true,
    noUncheckedIndexedAccess: true,
    noEmit: true,
    skipLibCheck: true,
    allowImportingTsExtensions: true,
    resolveJsonModule: true,
    target: "esnext",
    module: "esnext",
    moduleResolution: "bundler",
    lib: ["esnext", "dom", "dom.iterable", "dom.asynciterable"],
    types: ["node"],
    preserveSymlinks: true,
    paths: Object.fromEntries(paths.map(([name, path]) => [name, [`./${path}`]])),
  };
  const targets = files.map(toTarget);
  const program = { compilerOptions, files: ["deno.d.ts", "promise.d.ts", ...targets] };
  await Deno.writeTextFile(`${folder}/tsconfig.json`, JSON.stringify(program));
  return targets;
}

function toTarget(path: string): string {
  return path.startsWith("/") ? `checked${path}` : path;
}

/** Reads a source; packages are imported without their versions, which are collected, and no comment disables a rule. */
function readSource(path: string, versions: Map<string, string>): string {
  return Deno.readTextFileSync(new URL(path, root))
    .replaceAll(packageSpecifier, (_, name: string, version: string, rest = "") => {
      versions.set(name, version);
      return `"${name}${rest}"`;
    })
    .replaceAll(/\b(es|ox)lint-disable/g, "$1lint disable");
}

/** Reads the files for the names in `deno.json`: its own entries, its links, and the paths of its imports. */
function readImportMap(): ReadonlyMap<string, string> {
  const manifest = readManifest(".");
  const links = (manifest.links ?? []).map((path) => [path, readManifest(path)] as const);
  const names = [[".", manifest] as const, ...links].flatMap(([path, { name, exports }]) =>
    Object.entries(typeof exports === "string" ? { ".": exports } : exports).map(([entry, file]) =>
      [name + entry.slice(1), `${path}/${file}`] as const
    )
  );
  const imports = Object.entries(manifest.imports ?? {}).filter(([, path]) => path.startsWith("./"));
  return new Map([...names, ...imports].map(([name, path]) => [name, findDeclarations(path)]));
}

/** Finds the declarations beside a module, if there are any. */
function findDeclarations(path: string): string {
  const declarations = path.replace(/\.ts$/, ".d.ts");
  try {
    return Deno.statSync(new URL(declarations, root)).isFile ? declarations : path;
  } catch {
    return path;
  }
}

function readManifest(path: string): Manifest {
  return JSON.parse(Deno.readTextFileSync(new URL(`${path}/deno.json`, root)));
}

/**
 * Links the packages in Deno's cache, side by side, one version of each: the one that this tree names, else the last.
 *
 * @returns Their names.
 */
async function linkPackages(folder: string, versions: ReadonlyMap<string, string>): Promise<readonly string[]> {
  const specifiers = [...versions].map(([name, version]) => `npm:${name}@${version}`);
  await deno("cache", "--no-lock", "--no-config", ...specifiers, nodeTypes);
  const { npmCache } = JSON.parse(await deno("info", "--json")) as { npmCache: string };
  const cache = `${npmCache}/registry.npmjs.org`;
  const listFolders = (path: string) => [...Deno.readDirSync(path)].filter((entry) => entry.isDirectory);
  const names = listFolders(cache).flatMap(({ name }) =>
    name.startsWith("@") ? listFolders(`${cache}/${name}`).map((entry) => `${name}/${entry.name}`) : [name]
  );
  for (const name of names) {
    const cached = listFolders(`${cache}/${name}`).map((entry) => entry.name);
    const last = cached.sort((a, b) => a.localeCompare(b, "en", { numeric: true })).at(-1);
    const version = versions.get(name) ?? last;
    if (version === undefined) continue;
    await Deno.mkdir(dirname(`${folder}/${name}`), { recursive: true });
    await Deno.symlink(`${cache}/${name}/${version}`, `${folder}/${name}`);
  }
  return names;
}

/** Fails for a package that is not linked. `deno task check` finds files that are missing. */
function requirePackages(texts: Iterable<string>, names: ReadonlySet<string>): void {
  const imported = /^(?:import|export)\b[^;"'`]*?\bfrom "([^".][^":]*)";$/gm;
  const missing = [...texts].flatMap((text) => [...text.matchAll(imported)].map(([, name]) => name!))
    .filter((name) => !names.has(name) && !names.has(/^(?:@[^/]+\/)?[^/]+/.exec(name)![0]));
  if (missing.length > 0) throw new Error(`Unresolved imports: ${missing.join(", ")}`);
}

async function deno(...args: string[]): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), { args, cwd: fromFileUrl(root) })
    .output();
  if (success) return new TextDecoder().decode(stdout);
  throw new Error(`deno ${args[0]}: ${new TextDecoder().decode(stderr)}`);
}
