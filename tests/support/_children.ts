/**
 * Processes that a process has started, on Linux.
 * @module
 */
import { readdirSync, readFileSync } from "node:fs";

/** Their ids, ascending. */
export function childrenOf(pid: number): number[] {
  return readdirSync("/proc").filter((name) => /^\d+$/.test(name)).filter((name) => {
    try {
      return Number(readFileSync(`/proc/${name}/stat`, "utf8").replace(/^.*\) /, "").split(" ")[1]) === pid;
    } catch {
      return false; // it has ended meanwhile
    }
  }).map(Number).sort((one, other) => one - other);
}
