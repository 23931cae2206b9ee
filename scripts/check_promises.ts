/**
 * Checks that no promise floats: each is awaited, returned, or has a handler of its rejection. `void` in front of a
 * promise is no handler, and an async function is no callback of a caller that ignores what it returns.
 * @module
 */
import { fromFileUrl, root } from "./npm/files.ts";
import type ts from "./npm/typescript.ts";
import { Linter, parser, rules } from "./promises/eslint.ts";
import { createProgram } from "./promises/program.ts";

/**
 * Returns the floating promises of a program.
 *
 * @param program The program.
 * @param files Absolute paths of the files to check.
 * @returns A line for each: path, line, column, reason.
 */
export function checkPromises(program: ts.Program, files: readonly string[]): string[] {
  const linter = new Linter({ configType: "flat", cwd: "/" });
  const config = [{
    files: ["**/*.ts"],
    plugins: { promises: rules },
    languageOptions: { parser, parserOptions: { programs: [program] } },
    linterOptions: { noInlineConfig: true },
    rules: {
      "promises/no-floating-promises": ["error", { ignoreVoid: false, checkThenables: true }],
      "promises/no-misused-promises": "error",
    },
  }] as unknown as Linter.Config[];
  return files.flatMap((filename) => {
    const { text } = program.getSourceFile(filename)!;
    return linter.verify(text, config, { filename }).map(({ line, column, message }) =>
      `${filename.replace(fromFileUrl(root), "")}:${line}:${column} ${message}`
    );
  });
}

/** Folders of what is built, and of data. */
const skipped: readonly string[] = ["npm", "jsr", "coverage", "tests/fixtures"];

/** Yields the paths of all source files, relative to the root. */
function* sourceFiles(folder = ""): Generator<string> {
  for (const { name, isDirectory } of Deno.readDirSync(new URL(folder, root))) {
    const path = folder + name;
    if (isDirectory && !name.startsWith(".") && !skipped.includes(path)) yield* sourceFiles(`${path}/`);
    else if (/(?<!\.d)\.ts$/.test(name)) yield path;
  }
}

if (import.meta.main) {
  const files = [...sourceFiles()].sort().map((path) => fromFileUrl(new URL(path, root)));
  const floating = checkPromises(await createProgram(files), files);
  for (const line of floating) console.error(line);
  console.log(`${files.length} files, ${floating.length} floating promises`);
  if (floating.length > 0) Deno.exit(1);
}
