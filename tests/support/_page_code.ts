/**
 * Code blocks in documentation. Hidden comments before a block give its context, or the reason why it is not checked or
 * not run.
 * @module
 */
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = new URL("../../", import.meta.url);

/** A code block. */
export interface CodeBlock {
  /** Page and line, such as `docs/clients.md:26`. */
  readonly where: string;
  /** Language, such as `ts`, `js`, `py`. */
  readonly language: string;
  /** Code, with the context of `<!-- given: … -->`. */
  readonly text: string;
  /** Why it is not checked: `<!-- not checked: … -->`. */
  readonly unchecked?: string;
  /** Why it is not run: `<!-- not run: … -->`. */
  readonly notRun?: string;
}

/** Made of the source, whose examples it has. */
const generated = "docs/api.md";

/** Returns the pages whose code is tested. */
export async function codePages(): Promise<string[]> {
  const names = (await Array.fromAsync(Deno.readDir(new URL("docs/", root)))).map(({ name }) => `docs/${name}`);
  return ["README.md", ...names.filter((name) => name.endsWith(".md") && name !== generated).toSorted()];
}

/** Returns every code block of these pages. */
export async function allCodeBlocks(): Promise<CodeBlock[]> {
  const block = /((?:<!-- (?:given|not checked|not run): .*? -->\n)*)^```(\w+)\n(.*?)^```$/gms;
  const blocks = await Promise.all((await codePages()).map(async (page) => {
    const text = await Deno.readTextFile(new URL(page, root));
    return [...text.matchAll(block)].map((match): CodeBlock => {
      const [, comments = "", language = "", code = ""] = match;
      const { given: context, "not checked": unchecked, "not run": notRun } = parseWords(comments);
      const where = `${page}:${text.slice(0, match.index).split("\n").length}`;
      return {
        ...{ where, language, text: context === undefined ? code : `${context}\n${code}` },
        ...(unchecked === undefined ? {} : { unchecked }),
        ...(notRun === undefined ? {} : { notRun }),
      };
    });
  }));
  return blocks.flat();
}

function parseWords(comments: string): Readonly<Record<string, string | undefined>> {
  return Object.fromEntries(
    [...comments.matchAll(/<!-- (\w+(?: \w+)?): (.*?) -->/gs)].map(([, kind, words]) => [kind, words]),
  );
}

/**
 * Returns the blocks of some languages, except those that are not checked.
 *
 * @param languages Languages as fences name them.
 */
export async function codeBlocks(...languages: readonly string[]): Promise<CodeBlock[]> {
  const blocks = await allCodeBlocks();
  return blocks.filter(({ language, unchecked }) => languages.includes(language) && unchecked === undefined);
}

/** npm packages that blocks import, in the versions that other tests pin. */
const packages: Readonly<Record<string, string>> = {
  "@ai-sdk/openai-compatible": "npm:@ai-sdk/openai-compatible@3.0.92",
  "@anthropic-ai/sdk": "npm:@anthropic-ai/sdk@1.12.0",
  "@google/genai": "npm:@google/genai@3.1.0",
  "ai": "npm:ai@7.0.173",
  "openai": "npm:openai@7.55.0",
};

/** The names and URLs of a linked package of `@std`, since an import map replaces the links. */
async function linked(folder: string): Promise<[name: string, url: string][]> {
  const base = new URL(`${folder}/`, root);
  const { name, exports } = JSON.parse(await Deno.readTextFile(new URL("deno.json", base)));
  const paths: Readonly<Record<string, string>> = typeof exports === "string" ? { ".": exports } : exports;
  return Object.entries(paths).map(([path, file]) => [`${name}${path.slice(1)}`, new URL(file, base).href]);
}

/**
 * Writes blocks as modules that Deno can check and run.
 *
 * @param folder Output folder.
 * @param blocks TypeScript or JavaScript blocks.
 * @returns Deno flags for their imports, and the paths of the modules.
 */
export async function writeModules(
  folder: string,
  blocks: readonly CodeBlock[],
): Promise<[flags: string[], paths: string[]]> {
  const manifest = JSON.parse(await Deno.readTextFile(new URL("deno.json", root)));
  const absolute = (paths: Readonly<Record<string, string>>) =>
    Object.entries(paths).map(([name, path]) =>
      [name, path.startsWith("./") ? new URL(path, root).href : path] as const
    );
  const own = absolute(manifest.exports).map(([name, url]) => [`${manifest.name}${name.slice(1)}`, url] as const);
  const imports = {
    ...Object.fromEntries([
      ...absolute(manifest.imports),
      ...(await Promise.all(manifest.links.map(linked))).flat(),
      ...own,
    ]),
    ...packages,
  };
  const map = join(folder, "imports.json");
  await Deno.writeTextFile(map, JSON.stringify({ imports }));
  const paths = await Promise.all(blocks.map(async ({ where, language, text }) => {
    const path = join(folder, `${where.replaceAll(/[^\w]+/g, "_")}.${language}`);
    const here = text.replaceAll('"./mod.ts"', '"@modelmesh/core"'); // a file in the root of the checkout
    await Deno.writeTextFile(path, `${here}\nexport {};\n`);
    return path;
  }));
  const lock = join(folder, "deno.lock"); // a copy, since another import map changes its workspace section
  await Deno.copyFile(new URL("../deno.lock", import.meta.url), lock);
  return [[`--import-map=${map}`, `--lock=${lock}`], paths];
}

/** Path of the repository. */
export const checkout: string = fileURLToPath(root);
