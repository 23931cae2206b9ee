/**
 * Checks that no promise floats: each is awaited, returned, or has a handler of its rejection. `void` in front of a
 * promise is not a handler, and an async function is not a callback of a caller that ignores what it returns. Arguments are
 * files; by default, those of the whole tree.
 * @module
 */
import { fromFileUrl, root } from "./npm/files.ts";
import type ts from "./npm/typescript.ts";
import { type Eslint, loadEslint } from "./promises/eslint.ts";
import { createProgram, sourceFiles } from "./promises/program.ts";

const rules = {
  "promises/no-floating-promises": ["error", { ignoreVoid: false, checkThenables: true }],
  "promises/no-misused-promises": "error",
};

/** Returns the floating promises of a program's files, a line for each: path, line, column, reason. */
function checkPromises(program: ts.Program, files: readonly string[], { Linter, parser, plugin }: Eslint): string[] {
  const linter = new Linter({ configType: "flat", cwd: "/" });
  const config = [{
    files: ["**/*.ts"],
    plugins: { promises: plugin },
    languageOptions: { parser, parserOptions: { programs: [program] } },
    linterOptions: { noInlineConfig: true },
    rules,
  }];
  return files.flatMap((filename) => {
    const { text } = program.getSourceFile(filename)!;
    return linter.verify(text, config, { filename }).map(({ line, column, message }) =>
      `${filename.replace(fromFileUrl(root), "")}:${line}:${column} ${message}`
    );
  });
}

const paths = Deno.args.length > 0 ? Deno.args : [...sourceFiles()].sort();
const files = paths.map((path) => fromFileUrl(new URL(path, root)));
const floating = checkPromises(await createProgram(files), files, await loadEslint());
for (const line of floating) console.error(line);
console.log(`${files.length} files, ${floating.length} floating promises`);
if (floating.length > 0) Deno.exit(1);
