/**
 * The Python interpreter for tests of Python clients.
 * @module
 */

/**
 * Returns the interpreter named by `OPENAI_PYTHON`, else `python3`; undefined if it lacks a package.
 *
 * @param name Name of the package.
 */
export function findPython(name: string): string | undefined {
  const python = Deno.env.get("OPENAI_PYTHON") ?? "python3";
  try {
    return new Deno.Command(python, { args: ["-c", `import ${name}`], stdout: "null", stderr: "null" }).outputSync()
        .success
      ? python
      : undefined;
  } catch {
    return undefined;
  }
}
