/**
 * Writes `api.md`, and the tables of `README.md` that come from the source: capabilities, error codes. A test fails while
 * they are stale.
 * @module
 */
import { apiPage } from "./reference/api.ts";
import { capabilityTable } from "./reference/capabilities.ts";
import { programErrors, requestErrors } from "./reference/errors.ts";

const readme = new URL("../README.md", import.meta.url);

/**
 * A text with its tables as they have to be.
 *
 * @param text Has a comment before and after each table: `<!-- errors -->` and `<!-- /errors -->`.
 */
export function withReference(text: string): string {
  const tables: Readonly<Record<string, () => string>> = {
    capabilities: capabilityTable,
    errors: () => table(["Code", "Status", "Cause", "What to do"], lines(requestErrors)),
    "program-errors": () =>
      table(["Code", "Cause", "What to do"], lines(programErrors).map((cells) => cells.toSpliced(1, 1))),
  };
  return Object.entries(tables).reduce((all, [name, write]) => {
    const [begin, end] = [`<!-- ${name} -->`, `<!-- /${name} -->`];
    const [start, stop] = [all.indexOf(begin), all.indexOf(end)];
    if (start < 0 || stop < start) throw new Error(`There is no ${begin} … ${end}`);
    return `${all.slice(0, start)}${begin}\n${write()}\n${all.slice(stop)}`;
  }, text);
}

function lines(errors: Readonly<Record<string, readonly string[]>>): string[][] {
  return Object.entries(errors).map(([code, line]) => [`\`${code}\``, ...line]);
}

function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  return [header, header.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

if (import.meta.main) {
  await Deno.writeTextFile(readme, withReference(await Deno.readTextFile(readme)));
  await Deno.writeTextFile(new URL("../api.md", import.meta.url), await apiPage());
}
