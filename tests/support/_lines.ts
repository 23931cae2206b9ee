/**
 * Output of a child process by lines.
 * @module
 */
import type { ChildProcess } from "node:child_process";

/** Returns a function that reads the next line of a child's output. */
export function createLineReader(child: ChildProcess): () => Promise<string> {
  const lines: string[] = [];
  const waiting: ((line: string) => void)[] = [];
  let rest = "";
  child.stdout!.on("data", (data: Uint8Array) => {
    const parts = (rest + new TextDecoder().decode(data)).split("\n");
    rest = parts.pop()!;
    for (const line of parts) {
      const resolve = waiting.shift();
      if (resolve === undefined) lines.push(line);
      else resolve(line);
    }
  });
  return () => {
    const line = lines.shift();
    return line === undefined ? new Promise((resolve) => waiting.push(resolve)) : Promise.resolve(line);
  };
}
