/** The command lines of pages: their commands, options and tasks exist. */
import { assert, assertEquals } from "@std/assert";
import { codeBlocks } from "../support/_page_code.ts";

const root = new URL("../../", import.meta.url);
const read = (path: string) => Deno.readTextFile(new URL(path, root));

/** How the command line is started; what comes behind it is its own. */
const starts = /(?:\bmodelmesh|\bcli\.ts|@modelmesh\/core(?:\/cli)?)\s+([a-z].*)$/;

Deno.test("every command line of a page has a command and options that there are", async () => {
  const help = new Map(
    (await read("docs/cli.md")).split(/^### `modelmesh /m).slice(1).map((section) =>
      [section.slice(0, section.indexOf("`")), section] as const
    ),
  );
  const lines = (await codeBlocks("sh")).flatMap(({ where, text }) =>
    text.replaceAll("\\\n", " ").split("\n").map((line) => ({ where, line: line.replace(/\s#.*| > .*|\)$/g, "") }))
  );
  const wrong: string[] = [];
  let count = 0;
  for (const { where, line } of lines) {
    const [, rest] = starts.exec(line) ?? [];
    if (rest === undefined || /\b(?:install|add|docker)\b/.test(line)) continue;
    count++;
    const [command = "", ...args] = rest.split(/\s+/);
    const section = help.get(command);
    const unknown = args.filter((arg) => /^--[a-z]/.test(arg) && !section?.includes(arg.replace(/=.*/, "")));
    if (section === undefined || unknown.length > 0) wrong.push(`${where}: ${command} ${unknown.join(" ")}`);
  }
  assertEquals(wrong, []);
  assert(count > 10, `only ${count} were found`);
});

Deno.test("every task that a page names is one of deno.json", async () => {
  const { tasks } = JSON.parse(await read("deno.json")) as { tasks: Readonly<Record<string, unknown>> };
  const texts = await Promise.all(["README.md", "CONTRIBUTING.md", "examples/README.md"].map(read));
  const named = texts.join("\n").matchAll(/\bdeno(?:@[\d.]+)? task ([\w:]+)/g);
  assertEquals([...named].map(([, name]) => name!).filter((name) => !(name in tasks)), []);
});
