/** The cache for operations other than chat, in further dialects, and in the library. */
import { assertEquals, assertRejects } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { MeshError, RateLimitError, routingOf, UnsupportedRequestError } from "../../mod.ts";
import { clientOver, messages } from "../support/_library.ts";
import { type OperationStage, operationStage } from "../support/_operations.ts";
import { searchClients, startSearchStage } from "../support/_web_search.ts";
import {
  type Behaviour,
  completeResponse,
  cutAt,
  embeddings,
  json,
  respond,
  startUpstream,
  status,
} from "../support/upstream.ts";

const ttl = { headers: { "content-type": "application/json", "x-mesh-cache": "ttl=60" } };
const sound = new Uint8Array([73, 68, 51, 4, 0, 255, 128, 0]);

function readCache({ headers }: { readonly headers: Headers }): string {
  return (headers.get("x-mesh-cache") ?? "").slice(0, 4);
}

/** Requests with other ones that differ, and the response of their provider. */
const operations: readonly {
  readonly capability: string;
  readonly path: string;
  readonly body: object;
  readonly other: object;
  readonly behaviour: Behaviour;
  /** Whether it is repeated although its client does not ask for that. */
  readonly isDeterministic?: true;
}[] = [
  {
    capability: "text-embeddings",
    path: "embeddings",
    body: { input: "Hi" },
    other: { input: "Ho" },
    behaviour: embeddings(),
    isDeterministic: true,
  },
  {
    capability: "text-embeddings",
    path: "embeddings",
    body: { input: ["Hi"], encoding_format: "base64" },
    other: { input: ["Ho"], encoding_format: "base64" },
    behaviour: embeddings(),
    isDeterministic: true,
  },
  {
    capability: "reranking",
    path: "rerank",
    body: { query: "red", documents: ["rose"] },
    other: { query: "red", documents: ["leaf"] },
    behaviour: json({ results: [{ index: 0, relevance_score: 0.9 }] }),
    isDeterministic: true,
  },
  {
    capability: "content-moderation",
    path: "moderations",
    body: { input: "Hi" },
    other: { input: "Ho" },
    behaviour: json({ id: "m", model: "m", results: [{ flagged: false, categories: {}, category_scores: {} }] }),
    isDeterministic: true,
  },
  {
    capability: "text-to-image",
    path: "images/generations",
    body: { prompt: "A rose" },
    other: { prompt: "A leaf" },
    behaviour: json({ created: 1, data: [{ b64_json: "AAAA" }] }),
  },
  {
    capability: "text-to-speech",
    path: "audio/speech",
    body: { input: "Hi", voice: "alloy" },
    other: { input: "Hi", voice: "echo" },
    behaviour: completeResponse(200, sound, "audio/mpeg"),
  },
  {
    capability: "chat-completion",
    path: "completions",
    body: { prompt: "Hi" },
    other: { prompt: "Ho" },
    behaviour: respond(),
  },
];

describe("A response of another operation", () => {
  for (const { capability, path, body, other, behaviour, isDeterministic } of operations) {
    it(`is repeated in ${path}: ${JSON.stringify(body)}`, async () => {
      await using stage = await operationStage({ a: behaviour }, { capability, config: { cache: {} } });
      const first = await stage.post(path, body, ttl);
      const second = await stage.post(path, body, ttl);
      assertEquals([first.status, readCache(first), readCache(second)], [200, "MISS", "HIT;"], first.text);
      if (path === "embeddings") assertEquals(second.json.data, first.json.data); // put together from those of its inputs
      else assertEquals(second.bytes, first.bytes);
      assertEquals(second.headers.get("content-type"), first.headers.get("content-type"));
      assertEquals(readCache(await stage.post(path, other, ttl)), "MISS");
      assertEquals(stage.calls.a, 2);
      const plain = { headers: { "content-type": "application/json" } };
      assertEquals(readCache(await stage.post(path, body, plain)), isDeterministic ? "HIT;" : "");
    });
  }

  it("is that of the same file", async () => {
    await using stage = await operationStage({ a: json({ text: "Hello" }) }, {
      capability: "speech-to-text",
      config: { cache: {} },
    });
    const send = (bytes: Uint8Array<ArrayBuffer>, format: string) => transcribe(stage, bytes, format);
    assertEquals((await send(sound, "json")).cache, "MISS");
    assertEquals((await send(sound, "json")).cache, "HIT;");
    assertEquals((await send(sound.slice(1), "json")).cache, "MISS");
    assertEquals((await send(sound, "text")).cache, "MISS");
    assertEquals((await send(sound, "text")).text, "Hello");
  });

  it("is not kept if it is an error, or is cut", async () => {
    const cut = cutAt(completeResponse(200, new Uint8Array(1000), "audio/mpeg"), 500);
    await using stage = await operationStage({ a: [status(400), cut, completeResponse(200, sound, "audio/mpeg")] }, {
      capability: "text-to-speech",
      config: { cache: {} },
    });
    const request = { input: "Hi", voice: "alloy" };
    assertEquals((await stage.post("audio/speech", request, ttl)).status, 400);
    await stage.post("audio/speech", request, ttl).catch(() => {});
    assertEquals(readCache(await stage.post("audio/speech", request, ttl)), "MISS");
    assertEquals(readCache(await stage.post("audio/speech", request, ttl)), "HIT;");
  });
});

describe("A response of several calls", () => {
  for (const isStreamed of [false, true]) {
    it(`after a search of the proxy repeats the calls that it can, ${isStreamed ? "streamed" : "complete"}`, async () => {
      await using stage = await startSearchStage({ cache: {} });
      const client = searchClients.messages;
      const ask = async () => {
        const response = await fetch(stage.proxy.url + client.path(isStreamed), {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify({ ...client.body(), temperature: 0, ...(isStreamed && { stream: true }) }),
        });
        return { status: response.status, cache: readCache(response), text: await response.text() };
      };
      const [first, second] = [await ask(), await ask()];
      const expected = isStreamed ? "MISS" : "";
      assertEquals([first.status, first.cache], [200, expected], first.text);
      assertEquals([second.status, second.cache], [200, expected], "the call of the search was not repeated");
      assertEquals([/quats/.test(first.text), /quats/.test(second.text)], [true, true]);
      assertEquals([stage.model.requests.length, stage.engine.requests.length], [3, 2]);
    });
  }

  it("to several prompts says that it is repeated if all of it is", async () => {
    await using stage = await operationStage({ a: respond() }, {
      capability: "chat-completion",
      config: { cache: {} },
    });
    const ask = async (prompt: readonly string[], more = {}) =>
      readCache(await stage.post("completions", { prompt, temperature: 0, ...more }));
    for (const more of [{}, { stream: true, top_p: 0.5 }]) {
      assertEquals(await ask(["a", "b"], more), "MISS");
      assertEquals(await ask(["a", "b"], more), "HIT;");
      assertEquals(await ask(["b", "c"], more), "MISS");
    }
  });
});

async function transcribe(stage: OperationStage, bytes: Uint8Array<ArrayBuffer>, format: string) {
  const form = new FormData();
  form.set("model", "pool");
  form.set("response_format", format);
  form.set("file", new File([bytes], "a.wav", { type: "audio/wav" }));
  const headers = { "x-mesh-cache": "ttl=60" };
  const response = await fetch(`${stage.proxy.url}/v1/audio/transcriptions`, { method: "POST", headers, body: form });
  return { cache: readCache(response), text: await response.text() };
}

describe("In the library, a response", () => {
  const options = { temperature: 0, messages, model: "chat" };

  it("is repeated, complete and streamed", async () => {
    await using upstream = await startUpstream(respond());
    await using scene = clientOver({ upstreams: { a: upstream.url }, config: { cache: {} } });
    const { completions } = scene.client.chat;
    const first = await completions.create(options);
    const second = await completions.create(options);
    assertEquals(second, first);
    assertEquals([routingOf(first)?.cached, routingOf(second)?.cached], [undefined, true]);
    let text = "";
    for await (const { choices } of await completions.create({ ...options, stream: true })) {
      text += choices[0]?.delta.content ?? "";
    }
    assertEquals([text, upstream.requests.length > 2], ["Hello world", false]);
  });

  it("is one that its program wants", async () => {
    await using upstream = await startUpstream(respond());
    await using scene = clientOver({ upstreams: { a: upstream.url }, config: { cache: {} } });
    const ask = (cache: "no-store" | "only" | { ttl: string | number }) =>
      scene.client.chat.completions.create({ model: "chat", messages, mesh: { cache } });
    const error = await assertRejects(() => ask("only"), MeshError);
    assertEquals(error.code, "cache_miss");
    await ask({ ttl: "1m" });
    await ask("only");
    await ask("no-store");
    assertEquals(upstream.requests.length, 2);
    const invalid = await assertRejects(() => ask({ ttl: "never" }), UnsupportedRequestError);
    assertEquals(invalid.param, "mesh.cache");
    const { length } = upstream.requests;
    const headers = { "x-mesh-cache": "only" };
    await scene.client.chat.completions.create({ model: "chat", messages }, { headers });
    assertEquals(upstream.requests.length, length);
  });

  it("does not come to a program that has left its stream", async () => {
    await using upstream = await startUpstream(respond());
    await using scene = clientOver({ upstreams: { a: upstream.url }, config: { cache: {} } });
    const { completions } = scene.client.chat;
    for await (const _ of await completions.create({ ...options, stream: true })) continue;
    const controller = new AbortController();
    const stream = await completions.create({ ...options, stream: true }, { signal: controller.signal });
    await assertRejects(async () => {
      for await (const _ of stream) controller.abort(new Error("enough"));
    }, "enough");
    const last = scene.records.filter((record) => record.type === "routing").at(-1);
    assertEquals([last?.cached, last?.status], [true, 499]);
  });

  it("is in flight until it has been read", async () => {
    await using upstream = await startUpstream(respond());
    const config = { cache: {}, tags: { t: { concurrent: 1 } } };
    await using scene = clientOver({ upstreams: { a: upstream.url }, config });
    const { completions } = scene.client.chat;
    const ask = () => completions.create({ ...options, stream: true, mesh: { tags: ["t"] } });
    for (let sent = 0; sent < 3; sent++) {
      const stream = await ask();
      await assertRejects(ask, RateLimitError);
      for await (const _ of stream) continue;
    }
    assertEquals(upstream.requests.length, 1);
  });

  it("may not be repeated by a mesh without a cache", async () => {
    await using upstream = await startUpstream(respond());
    await using scene = clientOver({ upstreams: { a: upstream.url } });
    const ask = (cache: "only" | { ttl: number }) =>
      scene.client.chat.completions.create({ model: "chat", messages, mesh: { cache } });
    await assertRejects(() => ask("only"), MeshError);
    await ask({ ttl: 60 });
    await ask({ ttl: 60 });
    assertEquals(upstream.requests.length, 2);
  });
});
