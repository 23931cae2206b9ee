/**
 * The Python interpreter for tests of Python clients.
 * @module
 */

/**
 * Returns the interpreter named by `OPENAI_PYTHON`, else `python3`; undefined if there is none, or it lacks a package.
 *
 * @param name Name of the package.
 * @param env The environment. With `CI`, an interpreter that `OPENAI_PYTHON` names has all packages: `.ci/run` removes
 * it where no package can be had.
 * @throws {Error} If it lacks one.
 */
export function findPython(
  name: string,
  env: Readonly<Record<string, string | undefined>> = Deno.env.toObject(),
): string | undefined {
  const { OPENAI_PYTHON: own, CI } = env;
  const python = own ?? "python3";
  const command = new Deno.Command(python, { args: ["-c", `import ${name}`], stdout: "null", stderr: "null" });
  try {
    if (command.outputSync().success) return python;
  } catch {
    return undefined; // no such program
  }
  if (CI !== undefined && own !== undefined) {
    throw new Error(`${python} has no package "${name}", and CI runs every test`);
  }
  return undefined;
}
