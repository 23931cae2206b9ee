/** Those that wait do not exhaust the memory of a process: a heap of 512 MB. */
import { assert, assertEquals, assertGreater } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { connect, type Socket } from "node:net";
import { onDeno } from "../support/_programs.ts";
import { type ProxyProcess, spawnProxy } from "../support/_proxy_process.ts";
import { happens, until } from "../support/patience.ts";
import { testConfig } from "../support/proxy.ts";
import { hang, respond, startUpstream, type Upstream } from "../support/upstream.ts";
import { tally } from "../support/_tuned.ts";

const heapMb = 512;

function start(upstream: Upstream, listener: string): Promise<ProxyProcess> {
  const observability = { logging: { connector: "mesh.null.v1", level: "full" } };
  const config = { proxy: { listener }, observability };
  return spawnProxy(testConfig({ upstreams: { a: upstream.url }, config }), heapMb);
}

function chat({ url }: ProxyProcess, content: string, signal?: AbortSignal): Promise<Response> {
  return fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "chat", messages: [{ role: "user", content }] }),
    ...(signal && { signal }),
  });
}

/** Reads records without reading from the connection. */
function idleReader({ url }: ProxyProcess): Socket {
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  socket.pause();
  socket.on("error", () => {}); // refused
  socket.write("GET /mesh/events HTTP/1.1\r\nhost: 127.0.0.1\r\nlast-event-id: 0\r\n\r\n");
  return socket;
}

for (const listener of onDeno ? ["node", "deno"] : ["node"]) {
  describe(`a proxy with a heap of ${heapMb} MB, through ${listener}`, () => {
    it("survives sixty chats of 10 MB whose provider does not answer", async () => {
      await using upstream = await startUpstream(hang());
      await using proxy = await start(upstream, listener);
      const content = "word ".repeat(2_000_000);
      const controllers = Array.from({ length: 60 }, () => new AbortController());
      const refused: number[] = [];
      const sent = controllers.map(async ({ signal }) => {
        const response = await chat(proxy, content, signal).catch(() => undefined);
        if (response === undefined) return; // aborted, or closed while its body was being sent
        refused.push(response.status);
        await response.body?.cancel();
      });
      await until(() => upstream.calls > 0 && refused.length > 0, "some wait, and others are refused");
      await happens("all that are refused", Promise.race([Promise.all(sent), until(() => refused.length >= 45)]));
      assertEquals(Object.keys(tally(refused)), ["503"]);
      assertGreater(upstream.calls, 0);
      for (const controller of controllers) controller.abort();
      await Promise.all(sent);
      upstream.follow(respond());
      await until(async () => {
        const response = await chat(proxy, content);
        await response.body?.cancel();
        return response.status === 200;
      }, "there is room again");
    });

    it("keeps little for readers of records that do not read", async () => {
      await using upstream = await startUpstream(respond());
      await using proxy = await start(upstream, listener);
      const content = "word ".repeat(1_000);
      for (let round = 0; round < 20; round++) {
        const asked = Array.from({ length: 25 }, () => chat(proxy, content));
        for (const response of await Promise.all(asked)) await response.body?.cancel();
      }
      const before = await proxy.memory();
      const readers = Array.from({ length: 300 }, () => idleReader(proxy));
      await until(async () => (await fetch(`${proxy.url}/mesh/events`, { method: "HEAD" })).status === 503, "all read");
      for (let round = 0; round < 4; round++) await (await chat(proxy, content)).body?.cancel();
      const grown = (await proxy.memory() - before) / 1e6;
      assert(grown < 150, `${Math.round(grown)} MB`);
      for (const reader of readers) reader.destroy();
    });
  });
}
