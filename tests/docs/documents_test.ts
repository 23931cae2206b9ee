/** What people read: links lead somewhere, tables come from the source, configurations hold. */
import { assertEquals } from "@std/assert";
import { parse } from "@std/yaml";
import { referencePages, withReference } from "../../scripts/reference.ts";
import { withCommands } from "../../scripts/reference/command_line.ts";
import { apiPage } from "../../scripts/reference/api.ts";
import { ConfigError, create } from "../../mod.ts";
import { copied } from "../../scripts/npm/files.ts";

const root = new URL("../../", import.meta.url);
const pages: readonly string[] = await markdownFiles();

Deno.test("the tables of pages are those of the source (if not: deno task reference)", async () => {
  for (const page of referencePages) {
    const text = await read(page);
    assertEquals(await withReference(page, text), text);
  }
});

Deno.test("docs/api.md lists what the source exports (if not: deno task reference)", async () => {
  assertEquals(await read("docs/api.md"), await apiPage());
});

Deno.test("docs/cli.md has every command and option (if not: deno task reference)", async () => {
  const text = await read("docs/cli.md");
  assertEquals(await withCommands(text), text);
  const [own = "", options = ""] = text.split("<!-- commands -->");
  const ofDeno = ["--unstable-lazy-dynamic-imports", "--no-memory-reducer", "--no-lazy"];
  const flags = new Set([...options.match(/--[a-z][a-z-]*/g) ?? [], ...ofDeno]);
  assertEquals((own.match(/--[a-z][a-z-]*/g) ?? []).filter((flag) => !flags.has(flag)), []);
  const commands = [...options.matchAll(/^### `modelmesh (\w+)`$/gm)].map(([, name]) => name!);
  assertEquals(commands.filter((name) => !own.includes(`\`${name}`)), []);
});

Deno.test("every link of a page leads to a file that is there, and to a heading that it has", async () => {
  const broken: string[] = [];
  for (const page of pages) {
    for (const target of listLinks(await read(page))) {
      const url = new URL(target, new URL(page, root));
      const linked = await Deno.readTextFile(new URL(url.pathname, root)).catch(async () =>
        await Deno.stat(url).then(() => "", () => undefined)
      );
      if (linked === undefined) broken.push(`${page}: ${target}`);
      else if (url.hash !== "" && !listAnchors(linked).includes(url.hash.slice(1))) broken.push(`${page}: ${target}`);
    }
  }
  assertEquals(broken, []);
});

Deno.test("docs/README.md has every page of docs", async () => {
  const index = listLinks(await read("docs/README.md"));
  const own = pages.filter((page) => /^docs\/[^/]+\.md$/.test(page) && page !== "docs/README.md");
  assertEquals(own.filter((page) => !index.includes(page.slice("docs/".length))), []);
});

Deno.test("what a page of the packages links to is in them, too", async () => {
  const isPublished = (path: string) => copied.some((one) => path === one || path.startsWith(`${one}/`));
  const broken: string[] = [];
  for (const page of pages.filter(isPublished)) {
    for (const target of listLinks(await read(page))) {
      const path = new URL(target, new URL(page, root)).href.slice(root.href.length).replace(/#.*/, "");
      if (!isPublished(path)) broken.push(`${page}: ${target}`);
    }
  }
  assertEquals(broken, []);
});

Deno.test("every configuration of a page is one that the product accepts", async (test) => {
  for (const page of pages) {
    for (const { text, line } of listConfigurations(await read(page))) {
      await test.step(`${page}:${line}`, async () => assertEquals(await validateBlock(text), []));
    }
  }
});

/** Where a page's links lead, but for those to other sites. */
function listLinks(text: string): string[] {
  const targets = [...withoutCode(text).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = ""]) => target);
  return targets.filter((target) => !/^(https?:|mailto:)/.test(target));
}

/** Fenced YAML, but what says that it is not checked, and why. */
function listConfigurations(text: string): { text: string; line: number }[] {
  return [...text.matchAll(/(<!-- not checked: [^>]+ -->\n)?^```yaml\n(.*?)^```/gms)].flatMap((match) => {
    const [, unchecked, block = ""] = match;
    return unchecked === undefined ? [{ text: block, line: text.slice(0, match.index).split("\n").length }] : [];
  });
}

/** What is wrong with a configuration. Nothing is opened or written: it is only read, with every secret it names. */
async function validateBlock(text: string): Promise<readonly string[]> {
  const env = (name: string) =>
    /_(BASE_URL|HOST|ENDPOINT)$|ENDPOINT_URL/.test(name) ? undefined : `value-of-${name}-0123456789`;
  try {
    const client = create({ config: parse(text) as Record<string, unknown>, env });
    await client.close();
    return [];
  } catch (error) {
    if (!ConfigError.isInstance(error)) throw error;
    return error.problems.map(({ path, message }) => `${path}: ${message}`);
  }
}

async function markdownFiles(): Promise<string[]> {
  const paths = [
    "README.md",
    "CONTRIBUTING.md",
    "ARCHITECTURE.md",
    "SECURITY.md",
    "CHANGELOG.md",
    "examples/README.md",
  ];
  for (const folder of ["docs", "docs/decisions"]) {
    for await (const { name } of Deno.readDir(new URL(`${folder}/`, root))) {
      if (name.endsWith(".md")) paths.push(`${folder}/${name}`);
    }
  }
  return paths;
}

function read(path: string): Promise<string> {
  return Deno.readTextFile(new URL(path, root));
}

function withoutCode(text: string): string {
  return text.replace(/^```.*?^```/gms, "").replace(/`[^`]*`/g, (code) => code.replaceAll("](", "] ("));
}

/** As the usual renderers make them of headings. */
function listAnchors(text: string): string[] {
  return [...withoutCode(text).matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) =>
    heading.toLowerCase().replace(/[^\p{L}\p{N} _-]/gu, "").replaceAll(" ", "-")
  );
}
