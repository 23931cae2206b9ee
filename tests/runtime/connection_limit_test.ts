/** The number of clients that are connected to a server over `node:http` or `node:https`. */
import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { connect, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import type { RequestHandler, RunningServer } from "../../src/contracts/shell.ts";
import { connectionsWithin, parseDescriptorLimit } from "../../src/runtime/_descriptors.ts";
import { listen } from "../../proxy.ts";
import { happens, until } from "../support/patience.ts";
import { keyPair } from "../support/_tls.ts";

interface Client {
  readonly closed: Promise<void>;
  isClosed: boolean;
  text: string;
  send(text: string): void;
  /** Sends a request, and resolves with its non-streaming response. */
  get(path?: string): Promise<string>;
  close(): void;
}

async function connectTo({ port }: RunningServer, isTls: boolean): Promise<Client> {
  const socket: Socket = isTls
    ? connectTls({ port, host: "127.0.0.1", rejectUnauthorized: false })
    : connect({ port, host: "127.0.0.1" });
  const closed = new Promise<void>((resolve) => socket.on("close", () => resolve(void (client.isClosed = true))));
  const client: Client = {
    closed,
    isClosed: false,
    text: "",
    send: (text) => void socket.write(text),
    async get(path = "/") {
      client.text = "";
      socket.write(`GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`);
      await until(() => client.text.includes("ok") || client.isClosed, "a response, or the end");
      return client.text.slice(9, 12);
    },
    close: () => void socket.destroy(),
  };
  socket.on("error", () => {});
  socket.on("data", (data: Uint8Array) => client.text += new TextDecoder().decode(data));
  const ready = new Promise<void>((resolve) => socket.once(isTls ? "secureConnect" : "connect", () => resolve()));
  await happens("the connection, or its end", Promise.race([ready, closed]));
  return client;
}

/** Runs a test on a server that takes three connections; `open` ends requests of `/wait`. */
async function withServer(
  isTls: boolean,
  test: (server: RunningServer, open: () => void, waiting: () => number) => Promise<void>,
): Promise<void> {
  let open = () => {};
  let waiting = 0;
  const gate = new Promise<void>((resolve) => open = resolve);
  const handler: RequestHandler = async ({ url }) => {
    if (url.endsWith("/wait")) {
      waiting++;
      await gate;
    }
    return new Response("ok");
  };
  const tls = isTls ? { tls: keyPair("server.pem", "server.key") } : {};
  const server = await listen(handler, { port: 0, listener: "node", maxConnections: 3, ...tls });
  await test(server, open, () => waiting);
  open();
  await server.stop(0);
}

for (const isTls of [false, true]) {
  describe(`A server over ${isTls ? "node:https" : "node:http"} with a limit of three connections`, () => {
    it("closes the one that has been idle for longest, also one without a request", async () => {
      await withServer(isTls, async (server) => {
        const [first, halfOpen, third] = [
          await connectTo(server, isTls),
          await connectTo(server, isTls),
          await connectTo(server, isTls),
        ];
        assertEquals([await first.get(), await third.get()], ["200", "200"]);
        halfOpen.send("GET / HTTP/1.1\r\nhost:");
        const fourth = await connectTo(server, isTls);
        await happens("the half-open connection ends", halfOpen.closed);
        assertEquals(await fourth.get(), "200");
        assertEquals(await first.get(), "200", "it is now the one that was used last");
        const fifth = await connectTo(server, isTls);
        await happens("the oldest idle connection ends", third.closed);
        assertEquals([first.isClosed, fourth.isClosed, await fifth.get()], [false, false, "200"]);
        for (const client of [first, fourth, fifth]) client.close();
      });
    });

    it("never closes one with a request: the new one is refused", async () => {
      await withServer(isTls, async (server, open, waiting) => {
        const clients = [1, 2, 3].map(() => connectTo(server, isTls));
        const asked = (await Promise.all(clients)).map((client) => client.get("/wait"));
        await until(() => waiting() === 3, "three requests wait");
        const refused = await connectTo(server, isTls);
        await happens("the new connection ends", refused.closed);
        assertEquals(refused.text.slice(0, 12), isTls ? "" : "HTTP/1.1 503");
        open();
        assertEquals(await Promise.all(asked), ["200", "200", "200"]);
        const next = await connectTo(server, isTls);
        assertEquals(await next.get(), "200");
        for (const client of [...await Promise.all(clients), next]) client.close();
      });
    });

    it("holds for many at once", async () => {
      await withServer(isTls, async (server) => {
        const clients = await Promise.all(Array.from({ length: 40 }, () => connectTo(server, isTls)));
        await until(() => clients.filter(({ isClosed }) => !isClosed).length === 3, "three are left");
        const left = clients.filter(({ isClosed }) => !isClosed);
        assertEquals(await Promise.all(left.map((client) => client.get())), ["200", "200", "200"]);
        for (const client of left) client.close();
      });
    });
  });
}

describe("The limit of connections under a limit of descriptors", () => {
  const limits = (soft: string) =>
    `Limit                     Soft Limit           Hard Limit           Units     \n` +
    `Max open files            ${soft.padEnd(21)}1048576              files     \n`;

  it("leaves one for a provider's connection, and some for files", () => {
    const table = [["64", 12], ["1024", 492], ["unlimited", Infinity], ["8", 1]] as const;
    for (const [soft, expected] of table) {
      assertEquals(connectionsWithin(parseDescriptorLimit(limits(soft))), expected, soft);
    }
    assertEquals(connectionsWithin(parseDescriptorLimit("")), Infinity);
  });
});
