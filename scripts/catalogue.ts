/**
 * Compares the built-in catalogue with public price lists, and updates it where they agree. Run manually: `deno task
 * catalogue --help`.
 * @module
 */
import { parseArgs } from "@std/cli/parse-args";
import { applied } from "./catalogue/apply.ts";
import { compare, type Comparison, type Found } from "./catalogue/compare.ts";
import { withEntries } from "./catalogue/data_file.ts";
import { genaiPrices } from "./catalogue/genai_prices.ts";
import { liteLlm } from "./catalogue/litellm.ts";
import { modelsDev } from "./catalogue/models_dev.ts";
import { report } from "./catalogue/report.ts";
import type { Source, SourceModels } from "./catalogue/source.ts";
import { type VendorList, vendorLists } from "./catalogue/vendors.ts";

/** Sources by flag. */
const sources: Readonly<Record<string, Source>> = {
  "models-dev": modelsDev,
  "genai-prices": genaiPrices,
  litellm: liteLlm,
};

const help = `Usage: deno task catalogue [options]

Compares the built-in catalogue with public price lists, and prints what differs: new models, changed facts, models
that no list has any more. Facts that were read after the lists are not compared.

Options:
  --models-dev=<path or URL>    The list of models.dev (${modelsDev.url}), or "none"
  --genai-prices=<path or URL>  The list of genai-prices (${genaiPrices.url}), or "none"
  --litellm=<path or URL>       The list of LiteLLM (${liteLlm.url}), or "none"
  --date=<YYYY-MM-DD>           The day on which the lists were read; today unless given
  --provider=<file or vendor>   One list alone, by its file's or its vendor's name; may be repeated
  --write                       Take what all lists that know a fact agree on into the catalogue
  --json                        Print the comparison as JSON
  --help                        Show this help
`;

/** Options of {@linkcode refresh}. */
export interface RefreshOptions {
  /** Location of each source by flag: a path or a URL; "none" skips it. */
  readonly locations?: Readonly<Record<string, string>>;
  /** ISO date on which the sources were read. */
  readonly date: string;
  /** Files or vendors of the lists to compare; all if empty. */
  readonly files?: readonly string[];
  /** Whether to write what the sources agree on. */
  readonly write?: boolean;
  /** Folder of the lists. */
  readonly folder?: URL;
}

/**
 * Compares the lists of the catalogue, and optionally updates them.
 *
 * @param options Sources, date and lists.
 * @throws {Error} When a source cannot be read; the message names it.
 */
export async function refresh(
  { locations = {}, date, files = [], write, folder }: RefreshOptions,
): Promise<Comparison[]> {
  const all = await vendorLists(folder);
  const lists = all.filter(({ file, vendor }) => files.length === 0 || files.includes(file) || files.includes(vendor));
  const wanted = Object.entries(sources).filter(([flag]) => locations[flag] !== "none");
  const found: Found = new Map(
    await Promise.all(wanted.map(async ([flag, source]) => {
      return [source.name, await load(source, locations[flag] ?? source.url, date)] as const;
    })),
  );
  const comparisons = lists.map((list) => {
    const others = all.filter(({ vendor }) => vendor === list.vendor);
    return compare(list, found, { date, others });
  });
  if (write) { for (const [index, list] of lists.entries()) await update(list, comparisons[index]!, date); }
  return comparisons;
}

async function load(source: Source, location: string, date: string): Promise<SourceModels> {
  try {
    return source.read(JSON.parse(await textAt(location)), date);
  } catch (error) {
    throw new Error(`Cannot read ${source.name} at ${location}: ${(error as Error).message}`, { cause: error });
  }
}

async function textAt(location: string): Promise<string> {
  if (!/^https?:/.test(location)) return await Deno.readTextFile(location);
  const response = await fetch(location);
  if (response.ok) return await response.text();
  await response.body?.cancel();
  throw new Error(`status ${response.status}`);
}

async function update(list: VendorList, comparison: Comparison, date: string): Promise<void> {
  const entries = applied(list, comparison, date);
  const text = await Deno.readTextFile(list.url);
  if (entries.some((entry, index) => entry !== list.entries[index])) {
    await Deno.writeTextFile(list.url, withEntries(text, { name: list.name, entries }));
  }
}

async function main(): Promise<void> {
  const flags: Readonly<Record<string, unknown>> = parseArgs(Deno.args, {
    string: [...Object.keys(sources), "date", "provider"],
    boolean: ["write", "json", "help"],
    collect: ["provider"],
    unknown: (name: string) => {
      throw new Error(`Unknown argument "${name}"; see --help`);
    },
  });
  if (flags.help) return console.log(help);
  const date = String(flags.date ?? new Date().toISOString().slice(0, 10));
  if (!/^\d{4}-\d{2}-\d{2}$/.test(date)) throw new Error(`"${date}" is not a date such as 2026-11-22`);
  const locations = Object.fromEntries(
    Object.keys(sources).flatMap((flag) => {
      const location = flags[flag];
      return typeof location === "string" ? [[flag, location]] : [];
    }),
  );
  const comparisons = await refresh({
    locations,
    date,
    files: flags.provider as string[],
    write: flags.write === true,
  });
  console.log(flags.json ? JSON.stringify(comparisons) : report(comparisons));
}

if (import.meta.main) await main();
