/**
 * Generates `docs/api.md`, the options in `docs/cli.md`, and tables of other pages from the source: capabilities and
 * error codes in `README.md`, records, events and reasons in `docs/observability.md`. A test fails while they are stale.
 * @module
 */
import { apiPage } from "./reference/api.ts";
import { withCommands } from "./reference/command_line.ts";
import { capabilityTable } from "./reference/capabilities.ts";
import { programErrors, requestErrors } from "./reference/errors.ts";
import { eventKinds, rotationReasons, standbyReasons } from "./reference/events.ts";
import { recordTables } from "./reference/records.ts";

/** Tables by page, and by the name in the comments around them. */
const tables: Readonly<Record<string, Readonly<Record<string, () => string | Promise<string>>>>> = {
  "README.md": {
    capabilities: capabilityTable,
    errors: () => table(["Code", "Status", "Cause", "What to do"], lines(requestErrors)),
    "program-errors": () =>
      table(["Code", "Cause", "What to do"], lines(programErrors).map((cells) => cells.toSpliced(1, 1))),
  },
  "docs/observability.md": {
    events: () => table(["`event`", "When", "`from`, `to`", "`reason`"], lines(eventKinds)),
    records: recordTables,
    rotations: () => table(["Reason", "Another model is used because"], lines(rotationReasons)),
    reasons: () => table(["Reason", "The model is in standby because", "Setting"], lines(standbyReasons)),
  },
};

/** The pages with such tables. */
export const referencePages: readonly string[] = Object.keys(tables);

/**
 * A page with its tables regenerated.
 *
 * @param text Its text, with a comment before and after each table: `<!-- errors -->` and `<!-- /errors -->`.
 */
export async function withReference(page: string, text: string): Promise<string> {
  let all = text;
  for (const [name, write] of Object.entries(tables[page]!)) {
    const [begin, end] = [`<!-- ${name} -->`, `<!-- /${name} -->`];
    const [start, stop] = [all.indexOf(begin), all.indexOf(end)];
    if (start < 0 || stop < start) throw new Error(`There is no ${begin} … ${end}`);
    all = `${all.slice(0, start)}${begin}\n${await write()}\n${all.slice(stop)}`;
  }
  return all;
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
    await Deno.writeTextFile(url, await withReference(page, await Deno.readTextFile(url)));
  }
  await Deno.writeTextFile(new URL("../docs/api.md", import.meta.url), await apiPage());
  const commandLine = new URL("../docs/cli.md", import.meta.url);
  await Deno.writeTextFile(commandLine, await withCommands(await Deno.readTextFile(commandLine)));
}
