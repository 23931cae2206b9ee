/**
 * Generates `docs/api.md` from the source: the exports of each entry of the package, with signatures.
 * @module
 */
import { commentLines, type DocComment, type DocEntry, type DocSymbol, isInternal, readDoc } from "./api/doc.ts";
import { symbolLines } from "./api/symbols.ts";

const root = new URL("../../", import.meta.url);

/** The members of `deno.json` that describe the package. */
interface Manifest {
  readonly name: string;
  readonly exports: Readonly<Record<string, string>>;
}

const intro = `# API reference

The exports of each entry point of the package, with their signatures and comments, as editors show them. This page is generated
from the source (\`deno task reference\`). [library.md](library.md) introduces the most important symbols.
`;

/** Headings by what is declared, in the page's order. */
const headings: Readonly<Record<string, string>> = {
  function: "Functions",
  variable: "Constants",
  class: "Classes",
  interface: "Interfaces",
  typeAlias: "Type aliases",
};

/**
 * The page as the source requires it.
 *
 * @throws {Error} When the source cannot be read.
 */
export async function apiPage(): Promise<string> {
  const { name, exports } = JSON.parse(await Deno.readTextFile(new URL("deno.json", root))) as Manifest;
  const entries = await Promise.all(
    Object.entries(exports).map(async ([path, file]) => ({
      title: `${name}${path.slice(1)}`,
      doc: await readDoc(new URL(file, root)),
    })),
  );
  const documented = new Map<string, string>();
  const parts: string[] = [intro];
  for (const { title, doc } of entries) parts.push(entryText(title, doc, documented));
  return parts.join("\n");
}

/** The section of an entry. Symbols that an earlier entry exports, too, are only named. */
function entryText(title: string, { module_doc, symbols }: DocEntry, documented: Map<string, string>): string {
  const seen = symbols.filter(({ declarations }) => !declarations.some(({ jsDoc }) => isInternal(jsDoc)));
  const [again, own] = [seen.filter(isIn(documented)), seen.filter((symbol) => !isIn(documented)(symbol))];
  for (const symbol of own) documented.set(formatDeclaration(symbol), title);
  const lines = [`## \`${title}\``, "", ...toMarkdown(module_doc), ""];
  for (const heading of Object.values(headings)) {
    const group = own.filter((symbol) => formatHeading(symbol) === heading).toSorted(byName);
    if (group.length === 0) continue;
    lines.push(
      `### ${heading}`,
      "",
      "````ts", // comments have fences of their own
      group.map((each) => symbolLines(each).join("\n")).join("\n\n"),
      "````",
      "",
    );
  }
  for (const [other, group] of Map.groupBy(again, (symbol) => documented.get(formatDeclaration(symbol))!)) {
    const names = group.map(({ name }) => name).toSorted().map((name) => `\`${name}\``);
    lines.push(`### Also exported by \`${other}\``, "", `${names.join(", ")}.`, "");
  }
  return lines.join("\n");
}

/** The comment on an entry, as a text of the page. */
function toMarkdown(comment: DocComment | undefined): string[] {
  return commentLines(comment).map((line) => line.replace(/^@example *(.*)$/, "$1")).filter((line, index, all) =>
    line !== "" || all[index - 1] !== ""
  );
}

function isIn(documented: ReadonlyMap<string, string>): (symbol: DocSymbol) => boolean {
  return (symbol) => documented.has(formatDeclaration(symbol));
}

/** Identifies a symbol by its declaration, which several entries may export. */
function formatDeclaration({ name, declarations }: DocSymbol): string {
  const { filename, line } = declarations[0]!.location;
  return `${filename}:${line} ${name}`;
}

function formatHeading({ name, declarations }: DocSymbol): string {
  const { kind } = declarations[0]!;
  const heading = headings[kind];
  if (heading === undefined) throw new Error(`"${name}" is of the kind "${kind}", which has no heading`);
  return heading;
}

function byName(first: DocSymbol, second: DocSymbol): number {
  return first.name.localeCompare(second.name, "en");
}
