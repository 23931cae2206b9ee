/**
 * Checks that no promise floats: each is awaited, returned, or has a handler of its rejection. `void` in front of a
 * promise is not a handler, and an async function is not a callback of a caller that ignores what it returns. Arguments are
 * files; by default, those of the whole tree. oxlint checks them by their types, in a copy of the tree that resolves as
 * Node's packages do.
 * @module
 */
import { start } from "./npm/process.ts";
import { copyTree, sourceFiles } from "./promises/tree.ts";

const versions = ["oxlint@1.94.0", "oxlint-tsgolint@7.0.2008"];

const config = {
  plugins: ["typescript"],
  categories: { correctness: "off" },
  rules: {
    "typescript/no-floating-promises": ["error", { ignoreVoid: false, checkThenables: true }],
    "typescript/no-misused-promises": "error",
  },
};

/** A finding of oxlint. */
interface Finding {
  readonly message: string;
  readonly filename: string;
  readonly labels: readonly { readonly span: { readonly line: number; readonly column: number } }[];
}

/**
 * Returns the floating promises of files in a folder, a line for each: path, line, column, reason.
 *
 * @throws {Error} If they cannot be checked.
 */
async function findFloating(files: readonly string[], folder: string): Promise<string[]> {
  await Deno.writeTextFile(`${folder}/.oxlintrc.json`, JSON.stringify(config));
  const packages = versions.flatMap((version) => ["-p", version]);
  const options = ["--type-aware", "--format=json", "--ignore-pattern=node_modules"];
  const command = ["npx", "--yes", ...packages, "oxlint", ...options, ...files];
  const { code, out, err } = await start(command, { folder, limitSeconds: 600 }).ended;
  if (code !== 0 && code !== 1) throw new Error(`oxlint ended with ${code}:\n${out}\n${err}`);
  const { diagnostics } = JSON.parse(out) as { diagnostics: readonly Finding[] };
  return diagnostics.map(({ message, filename, labels: [label] }) => {
    const { line, column } = label!.span;
    return `${filename}:${line}:${column} ${message}`;
  });
}

const files = Deno.args.length > 0 ? Deno.args : [...sourceFiles()].sort();
const folder = await Deno.makeTempDir({ prefix: "modelmesh-promises-" });
try {
  const floating = await findFloating(await copyTree(files, folder), folder);
  for (const line of floating) console.error(line);
  console.log(`${files.length} files, ${floating.length} floating promises`);
  if (floating.length > 0) Deno.exitCode = 1;
} finally {
  await Deno.remove(folder, { recursive: true });
}
