/** What one request costs, counted in work: what is slow stays out of the way of every request. */
import { assert, assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { ModelMesh } from "../../mod.ts";
import { createHandler } from "../../proxy.ts";
import { completion } from "../support/upstream.ts";

const requests = 64;
/** As much of a `Response` as is looked at: what runtimes do to make one is not ours to count. */
const answer = new TextEncoder().encode(JSON.stringify(completion({ model: "m" })));
const given = {
  type: "default",
  status: 200,
  headers: new Headers({ "content-type": "application/json", "content-length": String(answer.length) }),
  body: null,
  arrayBuffer: () => Promise.resolve(answer.slice().buffer),
};

/** How often each of these was called while a task ran. */
async function counted(task: () => Promise<unknown>): Promise<Record<string, number>> {
  const places: [name: string, holder: object, key: string][] = [
    ["parse", JSON, "parse"],
    ["stringify", JSON, "stringify"],
    ["timers", globalThis, "setTimeout"],
    ["times", performance, "now"],
    ["dates", Date.prototype, "toISOString"],
    ["urls", globalThis, "URL"],
    ["encoded", TextEncoder.prototype, "encode"],
    ["streams", globalThis, "ReadableStream"],
  ];
  const counts: Record<string, number> = {};
  const originals = places.map(([name, holder, key]) => {
    const original = Reflect.get(holder, key);
    counts[name] = 0;
    const count = () => counts[name]!++;
    Reflect.set(
      holder,
      key,
      new Proxy(original, {
        apply(target, self, args) {
          count();
          return Reflect.apply(target, self, args);
        },
        construct(target, args, self) {
          count();
          return Reflect.construct(target, args, self === undefined ? target : target);
        },
      }),
    );
    return () => Reflect.set(holder, key, original);
  });
  try {
    await task();
  } finally {
    for (const restore of originals) restore();
  }
  return counts;
}

/** Guards that find nothing. */
const guarded = { guards: { pii: { connector: "mesh.guard.pii.v1" } }, proxy: { guards: ["pii"] } };

/** What they do, their configuration, and the readings of the clock and the parsing that a guard adds. */
const kinds = [["A request", {}, 0, 0], ["A request past a guard", guarded, 2, 1]] as const;

for (const [what, sections, reads, parses] of kinds) {
  describe(`${what} through the proxy`, () => {
    it("costs no more work than it has to", async () => {
      const mesh = new ModelMesh({
        fetch: () => Promise.resolve(given as unknown as Response),
      });
      await mesh.initialize({
        providers: {
          a: { connector: "openai.compatible.v1", base_url: "http://127.0.0.1:9/v1", api_key: "key-123456" },
        },
        models: { m: { provider: "a", capabilities: ["chat-completion"] } },
        pools: { chat: { models: ["m"] } },
        ...sections,
      });
      const handler = createHandler(mesh);
      const body = JSON.stringify({ model: "chat", messages: [{ role: "user", content: "Hello" }] });
      const bytes = new TextEncoder().encode(body);
      const ask = () =>
        handler.plain({
          method: "POST",
          url: "http://127.0.0.1/v1/chat/completions",
          headers: new Headers({ "content-type": "application/json", "content-length": String(bytes.length) }),
          signal: new AbortController().signal,
          body: null,
          bytes: () => Promise.resolve(bytes),
        });
      const askAll = () => Promise.all(Array.from({ length: requests }, ask));
      const [first] = await askAll();
      assertEquals(first!.status, 200);
      const counts = await counted(askAll);
      await mesh.close();
      const most: Record<string, number> = {
        parse: 2 + parses, // the request and the response; past a guard also the text that is sent on
        stringify: 1, // the model's name, spliced in
        times: 13 + reads, // one of them for the pace of its body
        dates: 1,
        urls: 1, // of the Host, which these requests do not have
        encoded: 0,
        streams: 0,
      };
      for (const [work, limit] of Object.entries(most)) {
        assert(counts[work]! <= limit * requests, `${work}: ${counts[work]! / requests} per request, at most ${limit}`);
      }
      assert(counts.timers! <= 16, `${counts.timers} timers for ${requests} requests at once`);
    });
  });
}
