import { assert, assertEquals } from "@std/assert";

const root = new URL("../", import.meta.url);

/** Paths of the repository in a page: in backticks, or the target of a link. */
function pathsIn(markdown: string): string[] {
  const quoted = [...markdown.matchAll(/`([\w./-]+)`/g)].map(([, text = ""]) => text);
  const linked = [...markdown.matchAll(/\]\(([\w./-]+)\)/g)].map(([, text = ""]) => text);
  const isPath = (text: string) => /^(src|connectors|docs|tests|scripts)\/|^\w+\.(ts|md)$/.test(text);
  return [...new Set([...quoted, ...linked].filter(isPath))];
}

async function exists(path: string): Promise<boolean> {
  return await Deno.stat(new URL(path, root)).then(() => true, () => false);
}

async function missing(page: string): Promise<string[]> {
  const paths = pathsIn(await Deno.readTextFile(new URL(page, root)));
  const found = await Promise.all(paths.map(exists));
  return paths.filter((_, index) => !found[index]).map((path) => `${page} names ${path}`);
}

Deno.test("every path that ARCHITECTURE.md, README.md and the decision records name exists", async () => {
  const pages = ["ARCHITECTURE.md", "README.md"];
  for await (const { name } of Deno.readDir(new URL("docs/decisions/", root))) pages.push(`docs/decisions/${name}`);
  assertEquals((await Promise.all(pages.map(missing))).flat(), []);
});

Deno.test("ARCHITECTURE.md names every room", async () => {
  const page = await Deno.readTextFile(new URL("ARCHITECTURE.md", root));
  for await (const { name, isDirectory } of Deno.readDir(new URL("src/", root))) {
    if (isDirectory) assert(page.includes(`\n| \`src/${name}\` |`), `no row for src/${name}`);
  }
});
