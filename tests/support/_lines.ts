/**
 * What a process writes, line by line.
 * @module
 */
import type { ChildProcess } from "node:child_process";

/** Reads what a child writes, line by line. */
export function linesOf(child: ChildProcess): () => Promise<string> {
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
