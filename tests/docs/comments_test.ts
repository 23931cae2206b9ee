/** Doc comments: what they link to is there. */
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

Deno.test("every {@linkcode} names what its module declares or imports", async () => {
  const entries = ["mod.ts", "browser.ts", "proxy.ts", "ai_sdk.ts", "cli.ts"];
  const folders = ["src/", "connectors/", "browser/", "scripts/", "ui/", "tests/"];
  const inFolders = await Promise.all(folders.map((folder) => Array.fromAsync(sources(folder))));
  const dead: string[] = [];
  let count = 0;
  for (const path of [...entries, ...inFolders.flat()]) {
    const source = await Deno.readTextFile(new URL(path, root));
    count += source.match(/\{@linkcode /g)?.length ?? 0;
    dead.push(...findDeadLinks(source).map((name) => `${path}: ${name}`));
  }
  assert(count > 100, `only ${count} were found`);
  assertEquals(dead, []);
});
