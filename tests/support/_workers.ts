/**
 * A proxy with several worker processes.
 * @module
 */
import { assertEquals } from "@std/assert";
import process from "node:process";
import { type ChildCommand, spawnCommand } from "../support/_cli.ts";
import { listChildren } from "../support/_children.ts";
import { makeFolder } from "../support/_library.ts";
import { happens, until } from "../support/patience.ts";
import { testConfig } from "../support/proxy.ts";
import { sendBytes } from "../support/_surface.ts";
import { tally } from "../support/_tuned.ts";
import { type Behaviour, ok, type Upstream } from "../support/upstream.ts";
import { raise } from "./raise.ts";

export const workerResponse: Behaviour = ok({
  text: "hello",
  usage: { prompt_tokens: 5, completion_tokens: 1, total_tokens: 6 },
});
export const token = "token-of-the-web-0123456789";
export const admin = "token-of-operations-0123456789";

interface Setup {
  readonly upstream: Upstream;
  readonly client?: Readonly<Record<string, unknown>>;
  readonly config?: Readonly<Record<string, unknown>>;
  readonly workers?: number;
  /** Additional arguments. */
  readonly args?: readonly string[];
}

/** A proxy with workers. */
export interface Workers {
  readonly child: ChildCommand;
  readonly port: number;
  /** Sends a chat request on a new connection, and returns status and error code; 0 if the connection was lost. */
  chat(as?: string): Promise<{ status: number; code: string | undefined }>;
  /** Sends an administrator's request on a new connection, and returns the body. */
  ask(line: string, body?: string, as?: string): Promise<string>;
  /** Returns the process ids of the workers. */
  pids(): number[];
}

/** Starts a proxy with workers, and stops it with SIGTERM. */
export async function withWorkers(
  { upstream, client, config, workers = 2, args = [] }: Setup,
  test: (workers: Workers) => Promise<void>,
): Promise<void> {
  await using folder = await makeFolder();
  const document = testConfig({
    upstreams: { a: upstream.url },
    config: {
      models: {
        a: { provider: "a", capabilities: ["chat-completion"], pricing: { input: 0, output: 0, per_request: 1 } },
      },
      proxy: { auth: { tokens: [{ token, name: "web", ...client }, admin] } },
      ...config,
    },
  });
  const path = await folder.write("mesh.json", JSON.stringify(document));
  await using child = spawnCommand(["proxy", "--port", "0", "--config", path, "--workers", String(workers), ...args]);
  await child.says(`workers: ${workers}`);
  const port = Number(new URL(await child.url()).port);
  const pids = () => listChildren(child.pid);
  let hasEnded = false;
  child.code.then(() => hasEnded = true).catch(raise);
  await test({
    child,
    port,
    pids,
    chat: (as = token) => chat(port, as),
    ask: async (line, body = "", as = admin) => (await request(port, { line, body, as })).split("\r\n\r\n")[1]!,
  });
  if (!hasEnded) child.kill("SIGTERM");
  assertEquals(await happens("it stops", child.code), 0, child.err);
}

async function chat(port: number, as: string) {
  const body = '{"model":"chat","messages":[{"role":"user","content":"Hi"}]}';
  const raw = await request(port, { line: "POST /v1/chat/completions", body, as });
  return { status: Number(raw.split(" ")[1] ?? 0), code: /"code":\s*"(\w+)"/.exec(raw)?.[1] };
}

function request(port: number, { line, body, as }: { line: string; body: string; as: string }): Promise<string> {
  const head = [`${line} HTTP/1.1`, "Host: 127.0.0.1", `Authorization: Bearer ${as}`];
  const more = ["Content-Type: application/json", `Content-Length: ${body.length}`, "Connection: close"];
  return sendBytes(port, `${[...head, ...more].join("\r\n")}\r\n\r\n${body}`);
}

/** Sends requests concurrently, and counts responses by code or status. */
export const atOnce = (
  count: number,
  ask: () => Promise<{ status: number; code: string | undefined }>,
): Promise<Record<string, number>> =>
  Promise.all(Array.from({ length: count }, ask)).then((all) => tally(all.map(({ status, code }) => code ?? status)));

/** Kills a worker with SIGKILL, and waits until its replacement listens. */
export async function killOne({ pids, child }: Workers): Promise<void> {
  const [victim] = pids();
  const times = child.err.split("is listening again").length;
  process.kill(victim!, "SIGKILL");
  await until(() => child.err.split("is listening again").length > times, () => `another worker listens: ${child.err}`);
}

/** Whether `/proc` exists. */
export const isLinux: boolean = process.platform === "linux";
