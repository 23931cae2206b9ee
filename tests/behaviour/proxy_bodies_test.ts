/** Bodies that come slowly, in part or in masses: they keep no others out. The clock stands still unless advanced. */
import { assertEquals, assertMatch } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { createHandler } from "../../proxy.ts";
import { fakeClock } from "../../src/runtime/test.ts";
import { ModelMesh, type TraceEntry } from "../../mod.ts";
import { beginChat, type Beginning, type Sender } from "../support/_sending.ts";
import { assertRefused, goodBody, listeners } from "../support/_surface.ts";
import { becomes, until } from "../support/patience.ts";
import { startTestProxy, testConfig, type TestProxyOptions } from "../support/proxy.ts";
import { respond, startUpstream } from "../support/upstream.ts";

const overloaded = { status: 503, type: "server_error", code: "overloaded", headers: { "retry-after": "1" } };

/** Room for four bodies of the largest size; no client has room for two. */
const tight = { body_memory: "256KiB" };
const largest = 64 * 1024;

/** A short body, a long one, and one in chunks, each with its first byte. */
const beginnings: readonly Beginning[] = [
  { declared: 100, part: "{" },
  { declared: 10 * largest, part: "{" },
  { part: "1\r\n{\r\n" },
];

async function startSite(options: Partial<TestProxyOptions>) {
  const upstream = await startUpstream(respond());
  const clock = fakeClock();
  const proxy = await startTestProxy({ upstreams: { a: upstream.url }, clock, ...options });
  const quiet = clock.pending;
  return {
    proxy,
    clock,
    upstream,
    /** Begins requests, and waits until the proxy reads their bodies. */
    async begin(count: number, beginning: Beginning) {
      const before = clock.pending;
      const senders = Array.from({ length: count }, () => beginChat(proxy.url, beginning));
      await becomes(() => clock.pending, before + count);
      return senders;
    },
    /** Waits until the proxy reads no body any more. */
    idle: () => becomes(() => clock.pending, quiet),
    async [Symbol.asyncDispose]() {
      await proxy[Symbol.asyncDispose]();
      await upstream[Symbol.asyncDispose]();
    },
  };
}

for (const listener of listeners) {
  const by = listener === undefined ? {} : { listener };
  describe(`Bodies that come slowly, through ${listener ?? "the runtime's own server"}`, () => {
    it("take no slot until they are there", async () => {
      await using site = await startSite({ ...by, config: { proxy: { max_concurrent: 2 } } });
      const senders = await site.begin(20, { declared: 100, part: "{" });
      const served = await Promise.all([site.proxy.chat(), site.proxy.chat()]);
      for (const response of served) assertEquals((await response.json()).object, "chat.completion");
      for (const sender of senders) sender.leave("FIN");
      await site.idle();
    });

    it("are given up after 30 s, declared or in chunks", async () => {
      await using site = await startSite(by);
      const senders: Sender[] = [];
      for (const beginning of beginnings) senders.push(...await site.begin(1, beginning));
      await site.clock.advance(29_999);
      assertEquals(await readStatus(site.proxy.chat()), 200);
      assertEquals(senders.map(({ seen }) => seen), ["", "", ""]);
      await site.clock.advance(1);
      for (const sender of senders) {
        await until(() => sender.seen.endsWith("}}"), "the answer is there");
        assertMatch(sender.seen, /^HTTP\/1\.1 504 /);
        assertMatch(sender.seen, /"message":"The request's body came too slowly: it has 30 s, [^]*"code":"timeout"/);
        if (listener === "node") await sender.closed(); // Deno's own server leaves it to the client
        else sender.leave("FIN");
      }
    });

    it("share proxy.body_memory, and give it back", async () => {
      await using site = await startSite({ ...by, config: { proxy: tight } });
      const senders = await site.begin(4, { declared: largest, part: "{" });
      await assertRefused(await site.proxy.chat(), overloaded);
      senders[0]!.leave("RST");
      await until(async () => (await readStatus(site.proxy.chat())) === 200, "its room is given back");
      for (const sender of senders) sender.leave("FIN");
      await site.idle();
    });

    it("of one token get a quarter of that", async () => {
      const tokens = ["token-of-the-one-0123456789", "token-of-the-other-0123456789"];
      await using site = await startSite({ ...by, tokens, config: { proxy: tight } });
      const [token, other] = tokens as [string, string];
      const [sender] = await site.begin(1, { declared: largest, part: "{", token });
      const ask = (as: string) =>
        site.proxy.chat({}, { headers: { authorization: `Bearer ${as}`, "content-type": "application/json" } });
      await assertRefused(await ask(token), overloaded);
      assertEquals(await readStatus(ask(other)), 200);
      sender!.leave("FIN");
      await until(async () => (await readStatus(ask(token))) === 200, "its room is given back");
    });

    it("whose clients leave are not errors of ours", async () => {
      await using site = await startSite(by);
      const traces: TraceEntry[] = [];
      const trace = (entry: TraceEntry) => void traces.push(entry);
      site.proxy.mesh.addSink({ emit: () => {}, trace, flush: () => Promise.resolve() });
      for (const beginning of beginnings) {
        for (const way of ["FIN", "RST"] as const) {
          const [sender] = await site.begin(1, beginning);
          sender!.leave(way);
          await site.idle();
        }
      }
      assertEquals(await readStatus(site.proxy.chat()), 200);
      assertEquals(traces, []);
    });
  });
}

describe("Bodies of one address", () => {
  it("get a quarter of proxy.body_memory, those of the own machine all of it", async () => {
    await using upstream = await startUpstream(respond());
    const mesh = new ModelMesh({ clock: fakeClock() });
    await mesh.initialize(testConfig({ upstreams: { a: upstream.url }, config: { proxy: tight } }));
    const handler = createHandler(mesh);
    const post = (address: string | undefined, init: RequestInit) => {
      const headers = { "content-type": "application/json", ...init.headers };
      const request = new Request("http://localhost/v1/chat/completions", { method: "POST", ...init, headers });
      return handler.plain(request, () => address);
    };
    const endless: ReadableStreamDefaultController<Uint8Array>[] = [];
    const begin = (address: string | undefined) => {
      const body = new ReadableStream<Uint8Array>({ start: (controller) => void endless.push(controller) });
      return post(address, { headers: { "content-length": String(largest) }, body, duplex: "half" } as RequestInit);
    };
    const ask = async (address: string | undefined) => {
      const { status } = await post(address, { body: JSON.stringify(goodBody) });
      return status;
    };
    const open = [begin("192.0.2.1")];
    assertEquals(await Promise.all(["192.0.2.1", "192.0.2.2", "::ffff:192.0.2.1"].map(ask)), [503, 200, 503]);
    const own = ["127.0.0.1", "::1", "::ffff:127.0.0.1", undefined];
    open.push(begin(own[0]), begin(own[1]));
    assertEquals(await Promise.all(own.map(ask)), [200, 200, 200, 200]);
    open.push(begin(own[2]));
    assertEquals(await Promise.all(own.map(ask)), [503, 503, 503, 503], "full for all");
    for (const controller of endless) controller.error(new Error("left"));
    assertEquals((await Promise.all(open)).map(({ status }) => status), [499, 499, 499, 499]);
    assertEquals(await ask("192.0.2.1"), 200);
    await mesh.close();
  });
});

async function readStatus(pending: Promise<Response>): Promise<number> {
  const response = await pending;
  await response.body?.cancel();
  return response.status;
}
