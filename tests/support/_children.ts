/**
 * Child processes of a process, on Linux.
 * @module
 */
import { readdirSync, readFileSync } from "node:fs";

/** Returns their process ids, ascending. */
export function listChildren(pid: number): number[] {
  return readdirSync("/proc").filter((name) => /^\d+$/.test(name)).filter((name) => {
    try {
      return Number(readFileSync(`/proc/${name}/stat`, "utf8").replace(/^.*\) /, "").split(" ")[1]) === pid;
    } catch {
      return false; // the process has exited
    }
  }).map(Number).sort((first, second) => first - second);
}
