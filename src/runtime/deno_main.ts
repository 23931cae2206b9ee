/**
 * A main module that is a program with `deno run`, and a server with `deno serve`.
 * @module
 */
import type { Cancel } from "../contracts/runtime.ts";
import type { Shell } from "../contracts/shell.ts";
import { requirePermission } from "./_deno_permissions.ts";
import { isDeno } from "./server.ts";
import { callAfter } from "./_timers.ts";

/** Time after which a process that is still alive serves requests, ms. */
const aliveMs = 1_000;

/**
 * Calls `task` once nothing keeps the process alive any more; the process ends after what it has begun. Only on Deno.
 */
export function beforeEnd(task: () => Promise<void>): Cancel {
  const listen = (event: Pick<Event, "preventDefault">) => {
    event.preventDefault();
    task().catch(reportError);
  };
  globalThis.addEventListener?.("beforeunload", listen, { once: true });
  return () => globalThis.removeEventListener?.("beforeunload", listen);
}

/**
 * Runs a program as the main module, unless `deno serve` serves the module's default export. Both evaluate the module
 * alike; but `deno serve` passes no arguments, and with `deno run` nothing keeps the process alive after that. Where
 * only that distinguishes them, `deno run` warns of the default export (2.9.6).
 *
 * @param program Never resolves: it ends the process.
 */
export async function runUnlessServed(program: () => Promise<void>, { shell, isServed }: {
  readonly shell: Pick<Shell, "args">;
  /** Whether its default export has been called. */
  readonly isServed: () => boolean;
}): Promise<void> {
  if (!isDeno() || shell.args.length > 0 || isDenoRun()) return await program();
  const cancel = beforeEnd(async () => {
    if (!isServed()) await program();
  });
  callAfter(aliveMs, cancel, (timer) => Deno.unrefTimer(timer));
}

/** Whether the command line of the process is certainly that of `deno run`, which only Linux reveals. */
function isDenoRun(): boolean {
  const path = "/proc/self/cmdline";
  try {
    requirePermission({ name: "read", path });
    return Deno.readTextFileSync(path).split("\0")[1] === "run";
  } catch {
    return false; // another system, or no permission
  }
}
