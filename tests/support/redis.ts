/**
 * A real Redis of a test's own: on a free port, keeping nothing. Without `redis-server` the tests that need it are left
 * out and say so loudly; where `CI` is set, they fail.
 * @module
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { connect, createServer } from "node:net";
import process from "node:process";

/** Whether there is a `redis-server`; `.ci/run` installs it. */
export const hasRedis: boolean = spawnSync("redis-server", ["--version"]).status === 0;

if (!hasRedis) {
  const line = "redis-server is missing (apt-get install redis-server): what needs a real Redis IS NOT TESTED";
  if (process.env.CI) throw new Error(line);
  console.error(`\n!!! ${line}\n`);
}

/** A Redis that runs. */
export class TestRedis implements AsyncDisposable {
  /** Its port; the same after a restart. */
  readonly port: number;
  #server: ChildProcess | undefined;

  private constructor(port: number) {
    this.port = port;
  }

  /** Starts one. */
  static async start(): Promise<TestRedis> {
    const redis = new TestRedis(await freePort());
    await redis.start();
    return redis;
  }

  /** As a storage's `url`. */
  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  /** Starts it anew, empty. */
  async start(): Promise<void> {
    const args = ["--port", String(this.port), "--save", "", "--appendonly", "no", "--bind", "127.0.0.1"];
    const server = spawn("redis-server", args, { stdio: ["ignore", "pipe", "ignore"], cwd: "/" });
    this.#server = server;
    await new Promise<void>((resolve, reject) => {
      let reported = "";
      server.stdout!.on("data", (data: Uint8Array) => {
        reported += new TextDecoder().decode(data);
        if (reported.includes("Ready to accept connections")) resolve();
      });
      server.on("exit", () => reject(new Error(`redis-server did not start: ${reported}`)));
    });
  }

  /** Ends it as a crash would: `kill -9`. */
  async kill(): Promise<void> {
    const server = this.#server;
    if (server === undefined) return;
    this.#server = undefined;
    const ended = new Promise<void>((resolve) => server.on("close", () => resolve()));
    process.kill(server.pid!, "SIGKILL");
    await ended;
  }

  /** Sends one command, and gives what Redis says to it as text. */
  async command(...parts: string[]): Promise<string> {
    const socket = connect(this.port, "127.0.0.1");
    const said = new Promise<string>((resolve, reject) => {
      let text = "";
      socket.on("data", (data: Uint8Array) => text += new TextDecoder().decode(data));
      socket.on("close", () => resolve(text));
      socket.on("error", reject);
    });
    socket.write(`${parts.join(" ")}\r\nQUIT\r\n`);
    return await said;
  }

  /** Stops it without ending it; connections stay open and hang. */
  freeze(): void {
    process.kill(this.#server!.pid!, "SIGSTOP");
  }

  /** Goes on after {@linkcode TestRedis.freeze}. */
  thaw(): void {
    process.kill(this.#server!.pid!, "SIGCONT");
  }

  /** Ends it. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}
