/** A proxy in a process with few file descriptors. */
import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { spawn } from "node:child_process";
import process from "node:process";
import { createLineReader } from "../support/_lines.ts";
import { onDeno, programCommand } from "../support/_programs.ts";
import { sendRaw } from "../support/_surface.ts";
import { testConfig } from "../support/proxy.ts";
import { tally } from "../support/_tuned.ts";
import { Gate, respond, startUpstream, type Upstream } from "../support/upstream.ts";
import { behind } from "../support/_failover.ts";
import { until } from "../support/patience.ts";

const program = `
  import { stdin, stdout } from "node:process";
  import { serve } from PROXY;
  const proxy = await serve({ config: CONFIG, port: 0 });
  stdout.write(proxy.url + "\\n");
  stdin.on("end", () => void proxy.stop()).resume();`;

/** Starts a proxy in a process with this limit of file descriptors. */
async function startLimited(descriptors: number, upstream: Upstream) {
  const config = testConfig({
    upstreams: { one: upstream.url },
    pool: { deactivation: { retry_limit: 1 } },
    config: { proxy: { listener: onDeno ? "deno" : "node" } },
  });
  const command = programCommand(program.replace("CONFIG", JSON.stringify(config)));
  const child = spawn("sh", ["-c", `ulimit -n ${descriptors}; exec "$@"`, "--", ...command], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const ended = new Promise<void>((resolve) => child.on("close", () => resolve()));
  return {
    url: await createLineReader(child)(),
    async [Symbol.asyncDispose]() {
      child.stdin!.end();
      await ended;
    },
  };
}

const body = JSON.stringify({ model: "chat", messages: [{ role: "user", content: "Hi" }] });
const head = ["POST /v1/chat/completions HTTP/1.1", "host: 127.0.0.1", "content-type: application/json"];

/** Sends a request over a connection of its own. A proxy at its limit may close it without a response. */
async function ask(url: string): Promise<string> {
  const text = `${head.join("\r\n")}\r\nconnection: close\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
  const answer = await sendRaw(url, text).catch(() => undefined);
  if (answer === undefined || answer.body === "") return "closed";
  return answer.status === 200 ? "200" : `${answer.status} ${JSON.parse(answer.body).error.code}`;
}

const isUnix = process.platform !== "win32";

(isUnix ? describe : describe.skip)("a proxy with 64 file descriptors", () => {
  it("refuses what it cannot send, blames no provider for it, and serves on", async () => {
    const gate = new Gate();
    await using upstream = await startUpstream(behind(gate, respond()));
    await using proxy = await startLimited(64, upstream);
    let answered = 0;
    const asked = Array.from({ length: 80 }, () => ask(proxy.url).finally(() => answered++));
    // its clients may have taken every descriptor before it could connect
    await until(() => upstream.calls > 0 || answered === asked.length, "a request reaches the provider, or none can");
    gate.openAll();
    const counts = tally(await Promise.all(asked));
    const others = Object.keys(counts).filter((key) => !["200", "503 overloaded", "closed"].includes(key));
    assertEquals(others, [], JSON.stringify(counts));
    await until(async () => await ask(proxy.url) === "200", "it accepts connections again");
    const status = await (await fetch(`${proxy.url}/mesh/status`)).json();
    assertEquals(status.pools.chat.models.map((model: { status: string }) => model.status), ["active"]);
  });
});
