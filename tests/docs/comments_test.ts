/** Doc comments: what they link to is there, and their examples are code. `deno task check` compiles these. */
import { assert, assertEquals } from "@std/assert";

const root = new URL("../../", import.meta.url);

async function* sources(folder: string): AsyncGenerator<string> {
  for await (const { name, isDirectory } of Deno.readDir(new URL(folder, root))) {
    if (isDirectory) yield* sources(`${folder}${name}/`);
    else if (name.endsWith(".ts")) yield `${folder}${name}`;
  }
}

/** The links of a module that name nothing which it declares or imports. */
function findDeadLinks(source: string): string[] {
  const code = source.replace(/\/\*[^]*?\*\//g, "");
  const links = [...source.matchAll(/\{@link(?:code)? ([\w.]+)[^}]*\}/g)].map(([, name = ""]) => name);
  return links.filter((link) => link.split(".").some((name) => !new RegExp(`\\b${name}\\b`).test(code)));
}

/** The languages of the code blocks in a module's doc comments, with their attributes. */
function findFences(source: string): string[] {
  return [...source.matchAll(/^\s*\* ```(\w.*)$/gm)].map(([, fence = ""]) => fence.trim());
}

async function modules(): Promise<string[]> {
  const entries = ["mod.ts", "connector_kit.ts", "browser.ts", "proxy.ts", "ai_sdk.ts", "cli.ts"];
  const folders = ["src/", "connectors/", "browser/", "scripts/", "ui/", "tests/"];
  return [...entries, ...(await Promise.all(folders.map((folder) => Array.fromAsync(sources(folder))))).flat()];
}

Deno.test("every example of a doc comment is compiled: no block of code is exempt from the check", async () => {
  const fences: Record<string, string[]> = {};
  for (const path of await modules()) {
    for (const fence of findFences(await Deno.readTextFile(new URL(path, root)))) (fences[fence] ??= []).push(path);
  }
  assert(fences.ts !== undefined && fences.ts.length > 100);
  assertEquals(Object.keys(fences), ["ts"]);
});

Deno.test("every {@linkcode} names what its module declares or imports", async () => {
  const dead: string[] = [];
  let count = 0;
  for (const path of await modules()) {
    const source = await Deno.readTextFile(new URL(path, root));
    count += source.match(/\{@linkcode /g)?.length ?? 0;
    dead.push(...findDeadLinks(source).map((name) => `${path}: ${name}`));
  }
  assert(count > 100, `only ${count} were found`);
  assertEquals(dead, []);
});
