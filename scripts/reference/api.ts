/**
 * Writes `api.md`: what each entry of the package exports, with signatures, from the source.
 * @module
 */
import { type DocEntry, docOf, type DocSymbol, firstSentence, isInternal } from "./api/doc.ts";
import { symbolLines } from "./api/symbols.ts";

const root = new URL("../../", import.meta.url);

/** What `deno.json` says of the package. */
interface Manifest {
  readonly name: string;
  readonly exports: Readonly<Record<string, string>>;
}

const intro = `# Public API

What each entry of the package exports. This page is written from the source (\`deno task reference\`); editors show the whole
comments. [docs/library.md](docs/library.md) explains the parts that programs use most.
`;

/**
 * The page as it has to be.
 *
 * @throws {Error} When the source cannot be read.
 */
export async function apiPage(): Promise<string> {
  const { name, exports } = JSON.parse(await Deno.readTextFile(new URL("deno.json", root))) as Manifest;
  const entries = await Promise.all(
    Object.entries(exports).map(async ([path, file]) => ({
      title: `${name}${path.slice(1)}`,
      doc: await docOf(new URL(file, root)),
    })),
  );
  const known = new Map<string, string>();
  const parts: string[] = [intro];
  for (const { title, doc } of entries) parts.push(await entryText(title, doc, known));
  return parts.join("\n");
}

/** An entry's part; what an earlier entry has, too, is named alone. */
async function entryText(
  title: string,
  { module_doc, symbols }: DocEntry,
  known: Map<string, string>,
): Promise<string> {
  const seen = symbols.filter(({ declarations }) => !declarations.some(({ jsDoc }) => isInternal(jsDoc)));
  const [again, own] = [seen.filter(isIn(known)), seen.filter((symbol) => !isIn(known)(symbol))];
  for (const symbol of own) known.set(placeOf(symbol), title);
  const lines = [`## \`${title}\``, "", firstSentence(module_doc), ""];
  for (const [file, group] of Map.groupBy(own, fileOf)) {
    const caption = await captionOf(file);
    if (own.length > group.length) lines.push(`### ${file}`, "", ...(caption === "" ? [] : [caption, ""]));
    lines.push("```ts", group.map((symbol) => symbolLines(symbol).join("\n")).join("\n\n"), "```", "");
  }
  for (const [other, group] of Map.groupBy(again, (symbol) => known.get(placeOf(symbol))!)) {
    const names = group.map(({ name }) => name).toSorted().map((name) => `\`${name}\``);
    lines.push(`### As in \`${other}\``, "", `${names.join(", ")}.`, "");
  }
  return lines.join("\n");
}

function isIn(known: ReadonlyMap<string, string>): (symbol: DocSymbol) => boolean {
  return (symbol) => known.has(placeOf(symbol));
}

/** What is the same in two entries is declared in one place. */
function placeOf({ name, declarations }: DocSymbol): string {
  const { filename, line } = declarations[0]!.location;
  return `${filename}:${line} ${name}`;
}

function fileOf({ declarations }: DocSymbol): string {
  return declarations[0]!.location.filename.slice(root.href.length);
}

/** The first sentence of the comment on a file; the entries' own stands under their headings already. */
async function captionOf(file: string): Promise<string> {
  if (!file.includes("/")) return "";
  const [, doc = ""] = /^\/\*\*(.*?)\*\//s.exec(await Deno.readTextFile(new URL(file, root))) ?? [];
  return doc.includes("@module") ? firstSentence({ doc: doc.replaceAll(/^\s*\*/gm, "").split("@")[0]!.trim() }) : "";
}
