/**
 * A proxy in a child process that can be killed.
 * @module
 */
import { spawn } from "node:child_process";
import type { Json } from "./_dialects.ts";
import { createLineReader } from "./_lines.ts";
import { programCommand } from "./_programs.ts";
import { responsesCaller } from "./_stored_responses.ts";
import { converse, type ThreeVendors } from "./_three_vendors.ts";

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

/** Holds the conversation at such a proxy, which is killed after each turn and started again. */
export async function converseOverKills(vendors: ThreeVendors, config: Json): Promise<void> {
  let kill = async () => {};
  await converse(vendors, async () => {
    await kill();
    const proxy = await spawnKillableProxy(config);
    kill = () => proxy.kill();
    return responsesCaller(proxy.url);
  });
  await kill();
}
