/**
 * A Redis server per test, on a free port, without persistence. Without `redis-server`, tests that need it are skipped
 * with a message; with `CI` set, they fail.
 * @module
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { connect } from "node:net";
import process from "node:process";
import { portForRestarts } from "./ports.ts";

/** Whether `redis-server` is installed; `.ci/run` installs it. */
export const hasRedis: boolean = spawnSync("redis-server", ["--version"]).status === 0;

if (!hasRedis) {
  const line = "redis-server is missing (apt-get install redis-server): what needs a real Redis IS NOT TESTED";
  if (process.env.CI) throw new Error(line);
  console.error(`\n!!! ${line}\n`);
}

/** A running Redis. */
export class TestRedis implements AsyncDisposable {
  /** Its port, which a restart keeps. */
  readonly port: number;
  readonly #args: readonly string[];
  readonly #program: string;
  #server: ChildProcess | undefined;

  private constructor(port: number, args: readonly string[], program: string) {
    this.port = port;
    this.#args = args;
    this.#program = program;
  }

  /**
   * Starts a Redis.
   *
   * @param args Further options, or a configuration file and options.
   * @param program The program: another one, such as that of Valkey, has the same options.
   */
  static async start(args: readonly string[] = [], program = "redis-server"): Promise<TestRedis> {
    const redis = new TestRedis(await portForRestarts(), args, program);
    await redis.start();
    return redis;
  }

  /** URL for a storage. */
  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  /** Restarts it, empty. */
  async start(): Promise<void> {
    const args = ["--port", String(this.port), "--save", "", "--appendonly", "no", "--bind", "127.0.0.1"];
    // replicas write no file, which every later server would load
    args.push("--repl-diskless-sync", "yes", "--repl-diskless-sync-delay", "0", "--repl-diskless-load", "on-empty-db");
    const server = spawn(this.#program, [...this.#args, ...args], { stdio: ["ignore", "pipe", "ignore"], cwd: "/" });
    this.#server = server;
    await new Promise<void>((resolve, reject) => {
      let reported = "";
      server.stdout!.on("data", (data: Uint8Array) => {
        reported += new TextDecoder().decode(data);
        if (/Ready to accept connections|\+monitor/.test(reported)) resolve();
      });
      server.on("exit", () => reject(new Error(`redis-server did not start: ${reported}`)));
    });
  }

  /** Kills it with SIGKILL, like a crash. */
  async kill(): Promise<void> {
    const server = this.#server;
    if (server === undefined) return;
    this.#server = undefined;
    const ended = new Promise<void>((resolve) => server.on("close", () => resolve()));
    process.kill(server.pid!, "SIGKILL");
    await ended;
  }

  /** Sends a command, and returns the reply as text. */
  async command(...parts: string[]): Promise<string> {
    const socket = connect(this.port, "127.0.0.1");
    const said = new Promise<string>((resolve, reject) => {
      let text = "";
      socket.on("data", (data: Uint8Array) => text += new TextDecoder().decode(data));
      socket.on("close", () => resolve(text));
      socket.on("error", reject);
    });
    socket.end(`${parts.join(" ")}\r\nQUIT\r\n`); // sentinels have no QUIT
    return await said;
  }

  /** Suspends it (SIGSTOP). Connections stay open and hang. */
  freeze(): void {
    process.kill(this.#server!.pid!, "SIGSTOP");
  }

  /** Resumes it after {@linkcode TestRedis.freeze}. */
  thaw(): void {
    process.kill(this.#server!.pid!, "SIGCONT");
  }

  /** Stops it. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
  }
}
