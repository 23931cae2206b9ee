/**
 * Reads lines from a terminal.
 * @module
 */
import { builtin, nodeProcess } from "./_node_builtin.ts";

/** Lines that have been read, the latest first: the keys for up and down repeat them. */
let history: string[] = [];

/**
 * Reads a line of standard input, which is a terminal. Between two calls, the terminal handles Ctrl-C itself, by a signal.
 *
 * @param prompt Printed to standard error before the line.
 * @returns Undefined at the end of the input (Ctrl-D) and after Ctrl-C.
 */
export function readLine(prompt: string): Promise<string | undefined> {
  const { stdin: input, stderr: output } = nodeProcess()!;
  const lines = builtin("node:readline").createInterface({
    input: input as NodeJS.ReadStream,
    output: output as NodeJS.WriteStream,
    terminal: true,
    history,
  });
  return new Promise((resolve) => {
    let line: string | undefined;
    lines.on("history", (entries: string[]) => history = entries);
    lines.on("SIGINT", () => lines.close());
    lines.on("close", () => {
      if (line === undefined) output.write("\n");
      resolve(line);
    });
    lines.question(prompt, (text: string) => {
      line = text;
      lines.close();
    });
  });
}
