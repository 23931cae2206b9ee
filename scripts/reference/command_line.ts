/**
 * Help texts of all commands, for `docs/cli.md`.
 * @module
 */
import type { CommandParts } from "../../src/cli/command.ts";
import { runCli } from "../../src/cli/main.ts";

const [begin, end] = ["<!-- commands -->", "<!-- /commands -->"];

/**
 * Returns `docs/cli.md` with the help of every command.
 *
 * @param text The page, with marker comments.
 * @throws {Error} When the markers are missing, or a command fails.
 */
export async function withCommands(text: string): Promise<string> {
  const [start, stop] = [text.indexOf(begin), text.indexOf(end)];
  if (start < 0 || stop < start) throw new Error(`There is no ${begin} … ${end}`);
  const overview = await readHelp("help");
  const names = [...overview.matchAll(/^ {2}([a-z]+) {2,}\S/gm)].map(([, name]) => name!);
  const sections = await Promise.all(
    names.map(async (name) =>
      `### \`modelmesh ${name}\`\n\n\`\`\`text\n${(await readHelp("help", name)).trimEnd()}\n\`\`\``
    ),
  );
  return `${text.slice(0, start)}${begin}\n${sections.join("\n\n")}\n${text.slice(stop)}`;
}

async function readHelp(...args: readonly string[]): Promise<string> {
  let out = "";
  const stdout = { isTerminal: false, write: (text: string) => (out += text, true) };
  const code = await runCli(args, { shell: { stdout, stderr: stdout } } as unknown as CommandParts);
  if (code !== 0) throw new Error(`modelmesh ${args.join(" ")}: ${out}`);
  return out;
}
