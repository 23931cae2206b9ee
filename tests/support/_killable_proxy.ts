/**
 * A proxy in a child process that can be killed.
 * @module
 */
import { spawn } from "node:child_process";
import { createLineReader } from "./_lines.ts";
import { programCommand } from "./_programs.ts";

/** A proxy in a child process. */
export interface KillableProxy {
  /** URL without path. */
  readonly url: string;
  /** Kills it (SIGKILL). */
  kill(): Promise<void>;
}

const program = `
  import { stdin, stdout } from "node:process";
  import { serve } from PROXY;
  const proxy = await serve({ config: CONFIG, port: 0 });
  stdout.write(proxy.url + "\\n");
  stdin.resume();`;

/** Starts a proxy in a child process. */
export async function spawnKillableProxy(config: Readonly<Record<string, unknown>>): Promise<KillableProxy> {
  const [command, ...args] = programCommand(program.replace("CONFIG", JSON.stringify(config)));
  const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
  const ended = new Promise<void>((resolve) => child.on("close", () => resolve()));
  const lines = createLineReader(child);
  return {
    url: await lines(),
    async kill() {
      child.kill("SIGKILL");
      await ended;
    },
  };
}
