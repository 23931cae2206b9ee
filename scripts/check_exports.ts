/**
 * Checks exports: an export of `src` or `connectors` must be imported by another file, and by one outside of tests
 * unless its own file uses it. The entries export what is public.
 * @module
 */

/** A file and its text. */
export interface SourceText {
  /** Path in this repository. */
  readonly path: string;
  /** Text, formatted by `deno fmt`. */
  readonly text: string;
}

/** Files for tests, exempt from the check. */
const forTests: readonly string[] = ["src/runtime/test.ts"];
const declared = /^export (?:declare |abstract |async )*(?:function\*?|class|interface|type|const|let|enum) (\w+)/gm;
const named = /^(?:import|export)(?: type)? (?:\w+, )?\{([^}]*)\} from "([^"]+)";/gm;
const namespaceImport = /^(?:import|export)(?: type)? \* (?:as \w+ )?from "([^"]+)";|\bimport\("([^"]+)"\)(?!\.\w)/gm;
const ofType = /\bimport\("([^"]+)"\)\.(\w+)/g;

/**
 * Returns the unused exports.
 *
 * @param files All files of the repository, including tests and scripts.
 * @returns A line for each.
 */
export function checkExports(files: readonly SourceText[]): string[] {
  const importers = new Map<string, string[]>();
  const addImport = (from: string, to: string, name: string) => {
    if (!to.startsWith(".")) return;
    const key = `${new URL(to, `file:///${from}`).pathname.slice(1)} ${name}`;
    importers.set(key, [...importers.get(key) ?? [], from]);
  };
  for (const { path, text } of files) {
    for (const [, names = "", to = ""] of text.matchAll(named)) {
      for (const name of names.split(",")) addImport(path, to, name.trim().replace(/^type /, "").split(" as ")[0]!);
    }
    for (const [, first, second] of text.matchAll(namespaceImport)) addImport(path, first ?? second ?? "", "*");
    for (const [, to = "", name = ""] of text.matchAll(ofType)) addImport(path, to, name);
  }
  return files.filter(({ path }) => /^(src|connectors)\//.test(path) && !forTests.includes(path)).flatMap((file) =>
    [...file.text.matchAll(declared)].flatMap(([, name = ""]) => {
      const users = [name, "*"].flatMap((imported) => importers.get(`${file.path} ${imported}`) ?? []);
      const problem = findExportProblem(users, usesIn(file.text, name));
      return problem === undefined ? [] : [`${file.path} exports ${name}: ${problem}`];
    })
  ).sort();
}

function findExportProblem(users: readonly string[], ownUses: number): string | undefined {
  if (users.length === 0) return "no file imports it; leave out `export`, or remove it";
  if (ownUses > 0 || users.some((user) => !user.startsWith("tests/"))) return undefined;
  return "only tests use it; remove it";
}

/** Returns how often a file uses one of its names, not counting the declaration and comments. */
function usesIn(text: string, name: string): number {
  const code = text.replace(/\/\*[^]*?\*\//g, "");
  return [...code.matchAll(new RegExp(`\\b${name}\\b`, "g"))].length - 1;
}

async function* sourceFiles(folder: string): AsyncGenerator<string> {
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    const path = folder === "." ? name : `${folder}/${name}`;
    if (isDirectory && folder !== ".") yield* sourceFiles(path);
    else if (isDirectory && ["browser", "src", "connectors", "tests", "scripts"].includes(name)) {
      yield* sourceFiles(path);
    } else if (name.endsWith(".ts")) yield path;
  }
}

if (import.meta.main) {
  Deno.chdir(new URL("../", import.meta.url));
  const files: SourceText[] = [];
  for await (const path of sourceFiles(".")) files.push({ path, text: await Deno.readTextFile(path) });
  const wrong = checkExports(files);
  for (const line of wrong) console.error(line);
  console.log(`${files.length} files, ${wrong.length} exports without a use`);
  if (wrong.length > 0) Deno.exit(1);
}
