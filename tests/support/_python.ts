/**
 * The Python that clients in Python are tested with.
 * @module
 */

/**
 * The interpreter that `OPENAI_PYTHON` names, or the `python3` on PATH; undefined where it lacks a package.
 *
 * @param name The package.
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
