/** Clients that mean harm: whatever they do, the requests of others are answered meanwhile. */
import { assert, assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { Buffer } from "node:buffer";
import { connect, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { good } from "../support/_malformed_http.ts";
import { happens, until } from "../support/patience.ts";
import { onDeno } from "../support/_programs.ts";
import { testConfig } from "../support/proxy.ts";
import { spawnProxy } from "../support/_proxy_process.ts";
import { sendBytes } from "../support/_surface.ts";
import { tlsFile } from "../support/_tls.ts";
import { respond, startUpstream, type Upstream } from "../support/upstream.ts";

const servers: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  ...(onDeno ? { "Deno.serve": { listener: "deno" as const } } : {}),
  "node:http": { listener: "node" },
  "node:https": { tls: { cert: tlsFile("server.pem"), key: tlsFile("server.key") } },
};

const head = "POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n";

/** A proxy that is attacked. */
interface Target {
  /** Connects; how the connection ends is of no interest. */
  connect(): Promise<HostileClient>;
  /** Others' requests, one after the other; each has to be answered. */
  othersGoOn(count: number): Promise<void>;
  readonly upstream: Upstream;
  /** Whether its server gives up heads that take too long. */
  readonly hasTimeout: boolean;
}

interface HostileClient {
  readonly socket: Socket;
  /** What it was sent. */
  readonly text: string;
  readonly isClosed: boolean;
  readonly closed: Promise<void>;
}

async function connected(port: number, isTls: boolean): Promise<HostileClient> {
  const where = { port, host: "127.0.0.1" };
  const socket = isTls ? connectTls({ ...where, rejectUnauthorized: false }) : connect(where);
  let [text, isClosed] = ["", false];
  socket.on("data", (data: Uint8Array) => text += Buffer.from(data).toString("latin1"));
  const closed = new Promise<void>((resolve) =>
    socket.on("close", () => {
      isClosed = true;
      resolve();
    })
  );
  await new Promise<void>((resolve, reject) => {
    socket.once("error", reject);
    socket.once(isTls ? "secureConnect" : "connect", () => resolve());
  });
  socket.on("error", () => {});
  return {
    socket,
    closed,
    get text() {
      return text;
    },
    get isClosed() {
      return isClosed;
    },
  };
}

/** Connects many times, 50 at once. */
async function crowd(target: Target, count: number): Promise<HostileClient[]> {
  const clients: HostileClient[] = [];
  while (clients.length < count) {
    const size = Math.min(50, count - clients.length);
    clients.push(...await Promise.all(Array.from({ length: size }, () => target.connect())));
  }
  return clients;
}

function leave(clients: readonly HostileClient[]): Promise<unknown> {
  for (const { socket } of clients) socket.destroy();
  return Promise.all(clients.map(({ closed }) => closed));
}

const attacks: Readonly<Record<string, (target: Target) => Promise<void>>> = {
  "300 heads that come byte by byte": async (target) => {
    const clients = await crowd(target, 300);
    for (const byte of head) {
      for (const { socket } of clients) socket.write(byte);
      if (byte === "/") await target.othersGoOn(2);
    }
    await target.othersGoOn(10);
    assertEquals(clients.filter(({ text }) => text.includes(" 200 ")).length, 0);
    if (target.hasTimeout) {
      await happens("each is cut off, for it takes too long", Promise.all(clients.map(({ closed }) => closed)));
      await target.othersGoOn(2);
    }
    await leave(clients);
  },
  "300 bodies that come byte by byte, and answers that nobody reads": async (target) => {
    const before = target.upstream.calls;
    const clients = await crowd(target, 300);
    const [goodHead = "", body = ""] = good.replace("Connection: close", "Connection: keep-alive").split("\r\n\r\n");
    for (const { socket } of clients) socket.pause().write(`${goodHead}\r\n\r\n`);
    for (const byte of body.slice(0, -1)) for (const { socket } of clients) socket.write(byte);
    await target.othersGoOn(20);
    assertEquals(target.upstream.calls - before, 20, "none of them is a request before its end");
    for (const { socket } of clients) socket.write(body.slice(-1));
    await target.othersGoOn(20);
    await until(() => target.upstream.calls - before === 340, "each is answered in the end");
    await leave(clients);
  },
  "10,000 connections without a word": async (target) => {
    const clients = await crowd(target, 10_000);
    await target.othersGoOn(20);
    await leave(clients);
  },
  "100 floods of headers": async (target) => {
    const clients = await crowd(target, 100);
    const lines = Array.from({ length: 1_000 }, (_, index) => `X-Flood-${index}: ${"x".repeat(1_000)}\r\n`).join("");
    for (const { socket } of clients) socket.write(head + lines);
    await target.othersGoOn(20);
    await happens("each flood is cut off", Promise.all(clients.map(({ closed }) => closed)));
  },
  "50 bodies over the limit, declared and in chunks": async (target) => {
    const clients = await crowd(target, 50);
    const piece = `10000\r\n${" ".repeat(65_536)}\r\n`;
    clients.forEach((client, index) => {
      const { socket } = client;
      if (index % 2 === 0) return socket.write(`${head}Content-Length: 99999999999\r\n\r\n${piece}`);
      socket.write(`${head}Transfer-Encoding: chunked\r\n\r\n`);
      const more = () => client.text === "" && !client.isClosed && socket.write(piece, () => setTimeout(more));
      more();
    });
    await target.othersGoOn(20);
    await until(
      () => clients.every(({ text, isClosed }) => isClosed || text.includes(" 413 ")),
      "each is refused, or cut off",
    );
    await leave(clients);
  },
  "100 requests with garbage behind them": async (target) => {
    const before = target.upstream.calls;
    const clients = await crowd(target, 100);
    const kept = good.replace("Connection: close", "Connection: keep-alive");
    const garbage = [
      "\0\x01\x02\r\n\r\n",
      "GARBAGE\r\n\r\n",
      `${head.replace("POST", "P ST")}\r\n`,
      "\r\n\r\n: x\r\n\r\n",
    ];
    clients.forEach(({ socket }, index) => socket.write(Buffer.from(kept + garbage[index % garbage.length], "latin1")));
    await target.othersGoOn(10);
    await happens("each is closed", Promise.all(clients.map(({ closed }) => closed)));
    const answered = clients.filter(({ text }) => text.startsWith("HTTP/1.1 200 ")).length;
    const twice = clients.filter(({ text }) => text.split("HTTP/1.1 200 ").length > 2).length;
    assertEquals(twice, 0, "no garbage is a request");
    assert(target.upstream.calls - before <= 110, `${target.upstream.calls - before} calls`);
    assert(answered === 100 || answered === 0, `${answered} were answered, the others not`);
  },
};

for (const [name, options] of Object.entries(servers)) {
  for (const [what, attack] of Object.entries(attacks)) {
    describe(`A proxy on ${name}, beside ${what},`, () => {
      it("answers others", async () => {
        await using upstream = await startUpstream(respond());
        const config = { proxy: { body_limit: "1MiB", ...options } };
        await using proxy = await spawnProxy(testConfig({ upstreams: { a: upstream.url }, config }));
        const port = Number(new URL(proxy.url).port);
        const isTls = "tls" in options;
        await attack({
          upstream,
          hasTimeout: name !== "Deno.serve",
          connect: () => connected(port, isTls),
          async othersGoOn(count) {
            for (let done = 0; done < count; done++) {
              const status = (await sendBytes(port, good, { isTls })).split(" ")[1];
              assertEquals(status, "200");
            }
          },
        });
      });
    });
  }
}
