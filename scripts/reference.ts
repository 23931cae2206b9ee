/**
 * Writes `api.md`, the options in `docs/cli.md`, and the tables of other pages that come from the source: capabilities and
 * error codes of `README.md`, kinds of events and reasons of `docs/observability.md`. A test fails while they are stale.
 * @module
 */
import { apiPage } from "./reference/api.ts";
import { withCommands } from "./reference/command_line.ts";
import { capabilityTable } from "./reference/capabilities.ts";
import { programErrors, requestErrors } from "./reference/errors.ts";
import { eventKinds, standbyReasons } from "./reference/events.ts";

/** Tables by page, and by the name in the comments around them. */
const tables: Readonly<Record<string, Readonly<Record<string, () => string>>>> = {
  "README.md": {
    capabilities: capabilityTable,
    errors: () => table(["Code", "Status", "Cause", "What to do"], lines(requestErrors)),
    "program-errors": () =>
      table(["Code", "Cause", "What to do"], lines(programErrors).map((cells) => cells.toSpliced(1, 1))),
  },
  "docs/observability.md": {
    events: () => table(["`event`", "When", "`from`, `to`", "`reason`"], lines(eventKinds)),
    reasons: () => table(["Reason", "The model is in standby because", "Setting"], lines(standbyReasons)),
  },
};

/** The pages with such tables. */
export const referencePages: readonly string[] = Object.keys(tables);

/**
 * A text with its tables as they have to be.
 *
 * @param page Its path.
 * @param text Has a comment before and after each table: `<!-- errors -->` and `<!-- /errors -->`.
 */
export function withReference(page: string, text: string): string {
  return Object.entries(tables[page]!).reduce((all, [name, write]) => {
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
  for (const page of referencePages) {
    const url = new URL(`../${page}`, import.meta.url);
    await Deno.writeTextFile(url, withReference(page, await Deno.readTextFile(url)));
  }
  await Deno.writeTextFile(new URL("../api.md", import.meta.url), await apiPage());
  const commandLine = new URL("../docs/cli.md", import.meta.url);
  await Deno.writeTextFile(commandLine, await withCommands(await Deno.readTextFile(commandLine)));
}
