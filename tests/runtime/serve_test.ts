import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { spawn, spawnSync } from "node:child_process";
import { connect, type Socket } from "node:net";
import { platform } from "node:process";
import type { RequestHandler, RunningServer, ServeOptions } from "../../src/contracts/shell.ts";
import { MeshError } from "../../src/errors.ts";
import { listen } from "../../proxy.ts";
import { happens, patienceMs, until } from "../support/patience.ts";
import { onDeno, programCommand, shellCommand } from "../support/_programs.ts";

const host = "127.0.0.1";

/** A grace that is not what ends anything here. */
const longGraceMs = 10 * patienceMs;

type Serve = (handler: RequestHandler, options?: Partial<ServeOptions>) => Promise<RunningServer>;

/** The same promises hold for all servers there are. */
const servers = {
  "node": "node:http",
  ...(onDeno ? { "deno": "Deno.serve" } : {}),
} as const;

type Listener = NonNullable<ServeOptions["listener"]>;

function testServers(name: string, body: (serve: Serve, listener: Listener) => Promise<void>): void {
  for (const [listener, title] of Object.entries(servers) as [Listener, string][]) {
    const serve: Serve = (handler, options) => listen(handler, { port: 0, listener, ...options });
    describe(`A server, ${title},`, () => {
      it(name, () => body(serve, listener));
    });
  }
}

interface Signalled<Value> {
  readonly promise: Promise<Value>;
  resolve(value: Value): void;
}

/** `Promise.withResolvers`, which Node 20 lacks. */
function signalled<Value = void>(): Signalled<Value> {
  let resolve!: (value: Value) => void;
  const promise = new Promise<Value>((settle) => resolve = settle);
  return { promise, resolve };
}

/** A client that says nothing by itself. */
async function connected(port: number): Promise<Socket> {
  const socket = connect({ host, port });
  socket.on("error", () => {}); // how it ends is looked at below
  await new Promise<void>((resolve, reject) => socket.once("connect", resolve).once("error", reject));
  return socket;
}

function endless(onCancel: () => void = () => {}): Response {
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(new TextEncoder().encode("data: 1\n\n")),
    cancel: onCancel,
  });
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}

testServers("a target in absolute form keeps its query", async (serve) => {
  const server = await serve(({ url }: Request) => Promise.resolve(new Response(new URL(url).search)));
  const socket = await connected(server.port);
  socket.write("GET http://mesh.test/mesh/events?after=7 HTTP/1.1\r\nHost: mesh.test\r\nConnection: close\r\n\r\n");
  let text = "";
  for await (const chunk of socket) text += chunk;
  assert(text.includes("?after=7"), text);
  await server.stop(0);
});

testServers("serve() answers requests and tells its address", async (serve, listener) => {
  const addresses: unknown[] = [];
  const handler = async (request: Request) => new Response(`${request.method} ${await request.text()}`);
  const server = await serve(handler, { onListen: (address) => addresses.push(address) });
  const response = await fetch(`http://${host}:${server.port}/`, { method: "POST", body: "hello" });
  assertEquals(await response.text(), "POST hello");
  assertEquals(addresses, [{ host, port: server.port }]);
  assertEquals(server.listener, listener);
  await server.stop(0);
});

testServers("a response has a date and a length, and is sent as the handler made it", async (serve) => {
  const text = "data: x\n\n".repeat(100);
  const server = await serve(() => Promise.resolve(new Response(text, { headers: { "content-type": "text/plain" } })));
  const socket = await connected(server.port);
  socket.write(`GET / HTTP/1.1\r\nhost: ${host}\r\naccept-encoding: gzip, br\r\nconnection: close\r\n\r\n`);
  let received = "";
  for await (const chunk of socket) received += chunk;
  const [head = "", body] = received.split(/(?<=\r\n)\r\n/);
  assertMatch(head, /^date: \w{3}, \d\d \w{3} \d{4} /im);
  assertMatch(head, new RegExp(`^content-length: ${text.length}\r$`, "im"));
  assertEquals([/content-encoding/i.test(head), body], [false, text]);
  await server.stop(0);
});

testServers("a client that expects 100 Continue is asked for its body when the handler reads it", async (serve) => {
  const server = await serve(async (request) => new Response(await request.text()));
  const socket = await connected(server.port);
  let received = "";
  socket.on("data", (chunk: Uint8Array) => received += new TextDecoder().decode(chunk));
  socket.write(`POST / HTTP/1.1\r\nhost: ${host}\r\nexpect: 100-continue\r\ncontent-length: 5\r\n\r\n`);
  await until(() => received.startsWith("HTTP/1.1 100 Continue\r\n\r\n"), "it is asked for");
  socket.write("hello");
  await until(() => received.endsWith("hello"), "it is answered");
  assertMatch(received, /HTTP\/1\.1 200 OK/);
  socket.destroy();
  await server.stop(0);
});

testServers("a body that the handler does not read is never the next request", async (serve) => {
  const paths: string[] = [];
  const server = await serve(({ url }) => {
    paths.push(new URL(url).pathname);
    return Promise.resolve(new Response("ok"));
  });
  for (const size of [1, 10_000]) {
    const socket = await connected(server.port);
    const closed = new Promise<void>((resolve) => socket.on("close", () => resolve()).resume());
    const hidden = `GET /hidden HTTP/1.1\r\nhost: ${host}\r\n\r\n`.repeat(size);
    socket.write(`POST /seen HTTP/1.1\r\nhost: ${host}\r\ncontent-length: ${hidden.length}\r\n\r\n${hidden}`);
    socket.write(`GET /last HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n\r\n`);
    await happens("the connection closes", closed);
  }
  assertEquals(paths.filter((path) => path === "/seen").length, 2);
  assertEquals(paths.filter((path) => path === "/hidden"), []);
  await server.stop(0);
});

testServers("serve() keeps a connection longer than load balancers do", async (serve, listener) => {
  const server = await serve(() => Promise.resolve(new Response("ok")));
  const socket = await connected(server.port);
  const answer = signalled<string>();
  socket.once("data", (bytes) => answer.resolve(String(bytes).toLowerCase()));
  socket.write(`GET / HTTP/1.1\r\nhost: ${host}\r\n\r\n`);
  const [, seconds] = /^keep-alive: timeout=(\d+)\r$/m.exec(await answer.promise) ?? [];
  assertEquals(seconds, listener === "deno" ? undefined : "75"); // Deno.serve says nothing of it
  socket.destroy();
  await server.stop(0);
});

testServers("serve() goes on after connections that were reset before it accepted them", async (serve) => {
  const server = await serve(() => Promise.resolve(new Response("ok")));
  const code = `import { connect } from "node:net";
    let left = 20;
    for (let one = 0; one < 20; one++) {
      const socket = connect(${server.port}, "${host}", () => {
        socket.resetAndDestroy();
        if (--left === 0) setTimeout(() => process.exit(0), 20);
      });
      socket.on("error", () => {});
    }`;
  const [command, ...args] = programCommand(code);
  assertEquals(spawnSync(command, args).status, 0, "they are reset while this process accepts nothing");
  const { setTimeout } = globalThis;
  const pauses: unknown[] = [];
  globalThis.setTimeout = ((task: () => void, ms?: number) => {
    if (ms! > 50 && ms! <= 100) pauses.push(ms);
    return setTimeout(task, ms);
  }) as typeof setTimeout;
  try {
    await (await fetch(`http://${host}:${server.port}/`)).text();
  } finally {
    globalThis.setTimeout = setTimeout;
  }
  assertEquals(pauses, [], "a pause after each would stop the server");
  await server.stop(0);
});

testServers("serve() says why it cannot listen", async (serve) => {
  const server = await serve(() => Promise.resolve(new Response()));
  const unknownCaller = () => Promise.resolve(new Response());
  const busy = await assertRejects(() => serve(unknownCaller, { port: server.port }), MeshError);
  assertEquals([busy.code, busy.message], [
    "port_in_use",
    `Cannot listen on ${host}:${server.port}: the port is in use`,
  ]);
  const lost = await assertRejects(() => serve(unknownCaller, { host: "no-such-host.invalid" }), MeshError);
  assertEquals(lost.code, "cannot_listen");
  await server.stop(0);
});

testServers("serve() answers a handler's failure with a bare 500", async (serve) => {
  const server = await serve(() => Promise.reject(new Error("sk-canary")));
  const response = await fetch(`http://${host}:${server.port}/`);
  assertEquals([response.status, await response.text()], [500, ""]);
  await server.stop(0);
});

testServers(
  "serve() passes a client's leaving on: to the signal while it waits, to the stream after that",
  async (serve, listener) => {
    const aborted = signalled();
    const cancelled = signalled();
    const arrived = signalled();
    const server = await serve(async (request) => {
      await request.text();
      if (request.url.endsWith("/stream")) return endless(cancelled.resolve);
      request.signal.addEventListener("abort", () => aborted.resolve());
      arrived.resolve();
      await aborted.promise;
      return new Response();
    });
    const controller = new AbortController();
    const { signal } = controller;
    // Deno.serve stops listening to a client once it has read a body, and notices its leaving with the first byte written
    const init = listener !== "deno" ? { method: "POST", body: "x".repeat(20_000), signal } : { signal };
    const waiting = assertRejects(() => fetch(`http://${host}:${server.port}/`, init));
    await arrived.promise;
    controller.abort();
    await waiting;
    await happens("the signal aborts", aborted.promise);
    const response = await fetch(`http://${host}:${server.port}/stream`);
    await response.body!.cancel();
    await happens("the stream is cancelled", cancelled.promise);
    await server.stop(0);
  },
);

testServers("serve() does not abort the signal of a request that was answered", async (serve) => {
  let aborted = 0;
  const server = await serve((request) => {
    request.signal.addEventListener("abort", () => aborted++);
    return Promise.resolve(new Response("whole"));
  });
  for (let call = 0; call < 3; call++) await (await fetch(`http://${host}:${server.port}/`)).text();
  await server.stop(1_000);
  assertEquals(aborted, 0);
});

testServers(
  "stop() refuses new connections and closes idle ones at once, and lets open answers finish",
  async (serve) => {
    const finish = signalled();
    const arrived = signalled();
    const server = await serve(async () => {
      arrived.resolve();
      await finish.promise;
      return new Response("in time");
    });
    const idle = await connected(server.port);
    const idleClosed = new Promise<void>((resolve) => idle.on("close", () => resolve()).resume());
    const pending = fetch(`http://${host}:${server.port}/`);
    await arrived.promise;
    const stopped = server.stop(longGraceMs);
    await happens("the idle connection closes", idleClosed);
    await assertRejects(() => connected(server.port), Error, "ECONNREFUSED");
    finish.resolve();
    assertEquals(await (await pending).text(), "in time");
    await happens("it stops with its last answer", stopped);
  },
);

testServers("stop() ends what is still open after the grace time", async (serve) => {
  const arrived = signalled();
  let [aborted, cancelled] = [0, 0];
  const server = await serve((request) => {
    if (request.url.endsWith("/stream")) return Promise.resolve(endless(() => cancelled++));
    arrived.resolve();
    return new Promise(() => request.signal.addEventListener("abort", () => aborted++));
  });
  const pending = fetch(`http://${host}:${server.port}/`);
  const response = await fetch(`http://${host}:${server.port}/stream`);
  await arrived.promise;
  let isDue = false;
  setTimeout(() => isDue = true, 50);
  const stopped = server.stop(100);
  const answer = await happens("who waits is answered", pending);
  assert(isDue, "half of the grace time has not passed");
  assertEquals([answer.status, await answer.text()], [503, ""]);
  await assertRejects(() => response.text(), TypeError);
  await happens("it stops", stopped);
  assertEquals([aborted, cancelled], [1, 1]);
});

testServers("stop() leaves the last word to the handler, where it has one", async (serve) => {
  const arrived = signalled();
  const server = await serve((request) => {
    arrived.resolve();
    const { signal } = request;
    return new Promise((resolve) => {
      signal.addEventListener("abort", () => resolve(new Response(`${signal.reason.code}`, { status: 503 })));
    });
  });
  const pending = fetch(`http://${host}:${server.port}/`);
  await arrived.promise;
  await Promise.all([server.stop(0), pending]);
  assertEquals(await (await pending).text(), "shutting_down");
});

testServers("stop() a second time hurries up the first", async (serve) => {
  const server = await serve(() => Promise.resolve(endless()));
  const response = await fetch(`http://${host}:${server.port}/`);
  const patient = server.stop(longGraceMs);
  const brokenOff = assertRejects(() => response.text(), TypeError);
  await happens("both stops are over", Promise.all([patient, server.stop(0), brokenOff]));
});

testServers("stop() is not held up by a client that reads nothing", async (serve) => {
  const piece = new Uint8Array(1 << 16);
  const headers = { "content-type": "text/event-stream" };
  const server = await serve(() => {
    const body = new ReadableStream({ pull: (controller) => controller.enqueue(piece) });
    return Promise.resolve(new Response(body, { headers }));
  });
  const connection = await connected(server.port);
  const begun = new Promise<void>((resolve) => {
    connection.once("data", () => {
      connection.pause();
      resolve();
    });
  });
  connection.write("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
  await begun;
  await happens("it stops", server.stop(0));
  connection.destroy();
});

/** What a program came to that has the machine as `shell`. */
async function run(code: string, { input = "", closesOutput = false } = {}): Promise<Ended> {
  const [command, ...args] = shellCommand(`const shell = SHELL; ${code}`);
  const child = spawn(command, [...args, "one", "--two"], { stdio: ["pipe", "pipe", "pipe"] });
  const written = { stdout: "", stderr: "" };
  const ended = new Promise<number | null>((resolve) => child.on("close", (code: number | null) => resolve(code)));
  if (closesOutput) child.stdout.destroy();
  else child.stdout.setEncoding("utf8").on("data", (text: string) => written.stdout += text);
  child.stderr.setEncoding("utf8").on("data", (text: string) => written.stderr += text);
  child.stdin.end(input);
  return { code: await ended, ...written };
}

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

describe("The machine as shells see it", () => {
  it("has arguments and input, writes to both streams and exits", async () => {
    const seen = await run(
      `shell.stdout.write(JSON.stringify([shell.args, shell.stdout.isTerminal, await shell.readInput()]));
       shell.stderr.write("é".repeat(70_000)); shell.exit(3);`,
      { input: "typed in" },
    );
    assertEquals(seen.stdout, '[["one","--two"],false,"typed in"]');
    assertEquals([seen.code, seen.stderr.length], [3, 70_000]);
  });

  it("reports when its output is not read any more", async () => {
    const code = `const { stdout, stderr } = shell;
      for (let line = 0; line < 1e6; line++) if (!stdout.write("line\\n")) { stderr.write("gone"); break; }`;
    const ended = await run(code, { closesOutput: true });
    assertEquals([ended.code, ended.stderr], [0, "gone"]);
  });

  it("hands signals on until cancelled", async () => {
    if (platform === "win32") return;
    const { stdout, code } = await run(`
      const cancel = shell.onSignal(["SIGINT", "SIGTERM"], (signal) => {
        shell.stdout.write(signal + "\\n");
        if (signal === "SIGTERM") { cancel(); clearTimeout(timer); }
        else process.kill(process.pid, "SIGTERM");
      });
      const timer = setTimeout(() => shell.exit(9), 20_000);
      process.kill(process.pid, "SIGINT");`);
    assertEquals([stdout, code], ["SIGINT\nSIGTERM\n", 0]);
  });
});
