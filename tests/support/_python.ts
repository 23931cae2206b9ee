/**
 * The Python interpreter for tests of Python clients.
 * @module
 */

/** Ends with 1 unless there is a package, which is not loaded: large ones take seconds. */
const finder = "import importlib.util, sys; sys.exit(importlib.util.find_spec(sys.argv[1]) is None)";

/** Runs one program after the other, so that what they import is loaded once. */
const runner = `import contextlib, io, json, sys, traceback
for line in sys.stdin:
    program, sys.argv = json.loads(line)
    out, error = io.StringIO(), None
    try:
        with contextlib.redirect_stdout(out):
            exec(program, {'__name__': '__main__'})
    except BaseException:
        error = traceback.format_exc()
    print(json.dumps([out.getvalue(), error]), flush=True)
`;

/** An interpreter that stays. */
export class PythonProcess implements AsyncDisposable {
  readonly #child: Deno.ChildProcess;
  readonly #input: WritableStreamDefaultWriter<Uint8Array>;
  readonly #output: ReadableStreamDefaultReader<string>;

  constructor(python: string, env: Readonly<Record<string, string>> = {}) {
    const args = ["-c", runner];
    this.#child = new Deno.Command(python, { args, env, stdin: "piped", stdout: "piped", stderr: "inherit" }).spawn();
    this.#input = this.#child.stdin.getWriter();
    this.#output = this.#child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  }

  /**
   * Runs a program, and returns what it prints.
   *
   * @throws {Error} If it fails.
   */
  async run(program: string, args: readonly string[] = []): Promise<string> {
    await this.#input.write(new TextEncoder().encode(`${JSON.stringify([program, ["-c", ...args]])}\n`));
    let line = "";
    while (!line.endsWith("\n")) {
      const { value, done } = await this.#output.read();
      if (done) throw new Error("The interpreter has ended");
      line += value;
    }
    const [printed, error] = JSON.parse(line) as [string, string | null];
    if (error !== null) throw new Error(error);
    return printed;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#input.close();
    await this.#output.cancel();
    await this.#child.status;
  }
}

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
  const command = new Deno.Command(python, { args: ["-c", finder, name], stdout: "null", stderr: "null" });
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
