/**
 * A proxy in a child process, to measure its memory.
 * @module
 */
import { spawn } from "node:child_process";
import { createLineReader } from "./_lines.ts";
import { programCommand } from "./_programs.ts";

/** A proxy in a child process. */
export interface ProxyProcess extends AsyncDisposable {
  /** URL without path. */
  readonly url: string;
  /** Returns its resident memory, bytes. */
  memory(): Promise<number>;
}

/**
 * Starts a proxy in a child process.
 *
 * @param heapMb Maximum heap size, MB; by default, that of the runtime.
 */
export async function spawnProxy(config: Readonly<Record<string, unknown>>, heapMb?: number): Promise<ProxyProcess> {
  const [command, ...args] = programCommand(program.replace("CONFIG", JSON.stringify(config)), heapMb);
  const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
  const ended = new Promise<void>((resolve) => child.on("close", () => resolve()));
  const lines = createLineReader(child);
  return {
    url: await lines(),
    async memory() {
      child.stdin!.write("memory\n");
      return Number(await lines());
    },
    async [Symbol.asyncDispose]() {
      child.stdin!.end();
      await ended;
    },
  };
}

/** The child's program: prints its URL, then its memory on request, until standard input ends. */
const program = `
  import { memoryUsage, stdin, stdout } from "node:process";
  import { serve } from PROXY;
  const proxy = await serve({ config: CONFIG, port: 0 });
  stdout.write(proxy.url + "\\n");
  stdin.on("data", () => void stdout.write(memoryUsage().rss + "\\n"));
  stdin.on("end", () => void proxy.stop());`;
