/** Streams and the cache: what late and slow readers get, and responses that are repeated in the other form. */
import { assert, assertEquals, assertMatch, assertNotMatch } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { settle } from "../../src/runtime/test.ts";
import { cacheableBodies, held, openCacheStage as open } from "../support/_cache_stage.ts";
import type { Json } from "../support/_dialects.ts";
import { becomes, until } from "../support/patience.ts";
import { Gate, json, ok, respond, type StreamOptions } from "../support/upstream.ts";

const dialects = Object.keys(cacheableBodies);
const streamBody = { ...cacheableBodies.chat, stream: true };

/** Opens a stream of chat, to be read piece by piece. */
async function openStream(url: string, body: Json = {}) {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ ...streamBody, ...body }),
  });
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  const readTo = async (part?: string) => {
    while (part === undefined || !text.includes(part)) {
      const { done, value } = await reader.read();
      if (done) break;
      text += value;
    }
    return text;
  };
  return {
    cache: response.headers.get("x-mesh-cache"),
    /** Reads until the text has arrived. */
    readTo,
    readAll: () => readTo(),
    cancel: () => reader.cancel(),
  };
}

describe("a stream that is shared", () => {
  it("is given to those who come later from its beginning", async () => {
    const gate = new Gate();
    const behaviour = respond({ pieces: ["one", "two", "three"], gate });
    await using stage = await open({ providers: { a: behaviour } });
    const opening = openStream(stage.url);
    gate.open(3); // the role, and two pieces
    const first = await opening;
    await first.readTo("two");
    const late = await openStream(stage.url);
    const counted = await openStream(stage.url, { stream_options: { include_usage: true } });
    assertMatch(late.cache!, /^HIT; age=0/);
    const soFar = await late.readTo("two");
    assertMatch(soFar, /one[^]*two/);
    assertNotMatch(soFar, /three/);
    gate.openAll();
    assertEquals(await late.readAll(), await first.readAll());
    assertNotMatch(await late.readAll(), /prompt_tokens/);
    assertMatch(await counted.readAll(), /three[^]*prompt_tokens[^]*DONE/);
    assertEquals(stage.calls(), 1);
  });

  it("goes on at the pace of each reader", async () => {
    const gate = new Gate();
    await using stage = await open({ providers: { a: respond({ pieces: ["one", "two", "three"], gate }) } });
    const both = [openStream(stage.url), openStream(stage.url)];
    await stage.joined(2);
    gate.open(2);
    const [slow, fast] = await Promise.all(both);
    gate.openAll();
    assertMatch(await fast!.readAll(), /three/); // although the other has not read anything
    assertMatch(await slow!.readAll(), /one[^]*two[^]*three/);
    assertEquals(stage.calls(), 1);
  });

  it("is left by a reader in the middle, also by the first, and goes on for the others", async () => {
    for (const leaving of [0, 1]) {
      const gate = new Gate();
      await using stage = await open({ providers: { a: respond({ pieces: ["one", "two", "three"], gate }) } });
      const all = [];
      for (const count of [1, 2]) {
        all.push(openStream(stage.url));
        await stage.joined(count);
      }
      gate.open(2);
      const streams = await Promise.all(all);
      await Promise.all(streams.map((stream) => stream.readTo("one")));
      await streams[leaving]!.cancel();
      if (leaving === 1) await becomes(() => stage.records.length, 1);
      gate.openAll();
      assertMatch(await streams[1 - leaving]!.readAll(), /three[^]*DONE/);
      assertEquals(stage.calls(), 1);
      await becomes(() => stage.records.length, 2);
      assertEquals(stage.records.map(({ status }) => status).toSorted(), [200, 499]);
      assertMatch((await stage.ask({ stream: true })).cache!, /^HIT/);
    }
  });

  it("ends when its last reader leaves, and is not kept", async () => {
    const gate = new Gate();
    await using stage = await open({ providers: { a: respond({ pieces: ["one", "two"], gate }) } });
    const all = [openStream(stage.url), openStream(stage.url)];
    await stage.joined(2);
    gate.open(2);
    const streams = await Promise.all(all);
    for (const stream of streams) await stream.readTo("one");
    for (const stream of streams) await stream.cancel();
    await becomes(() => stage.records.length, 2);
    await becomes(() => stage.upstreams.a!.open, 0);
    assertEquals(stage.records.map(({ status }) => status), [499, 499]);
    assertEquals(stage.kept.size, 0);
  });

  it("that breaks in the middle breaks for all, and is not kept", async () => {
    const gate = new Gate();
    const cut = { after: 1, how: "reset" } as const;
    await using stage = await open({ providers: { a: held(respond({ pieces: ["one", "two"], cut }), gate) } });
    const streams = [openStream(stage.url), openStream(stage.url)];
    await stage.joined(2);
    const complete = stage.ask();
    await stage.joined(3);
    gate.openAll();
    for (const stream of await Promise.all(streams)) {
      assertMatch(await stream.readAll(), /one[^]*stream_interrupted/);
    }
    const { status, body } = await complete;
    assertEquals([status, JSON.parse(body).error.code], [502, "stream_interrupted"]);
    await becomes(() => stage.records.length, 3);
    for (const { status, code } of stage.records) assertEquals([status, code], [502, "stream_interrupted"]);
    assertEquals(stage.kept.size, 0);
  });

  it("takes no more readers when it is longer than an entry may be", async () => {
    const gate = new Gate();
    const pieces = ["x".repeat(3_000), "y".repeat(3_000), "the end"];
    await using stage = await open({
      providers: { a: respond({ pieces, gate }) },
      cache: { max_entry: "5KB" },
    });
    const opening = openStream(stage.url);
    gate.open(3);
    const first = await opening;
    await first.readTo("yyy");
    const openingAgain = openStream(stage.url);
    await until(() => stage.calls() === 2);
    gate.openAll();
    const second = await openingAgain;
    assertEquals(second.cache, "MISS");
    for (const stream of [first, second]) assertMatch(await stream.readAll(), /xxx[^]*yyy[^]*the end/);
    assertEquals([stage.calls(), stage.kept.size], [2, 0]);
  });
});

const replies: Readonly<Record<string, StreamOptions>> = {
  text: { text: "Good day" },
  reasoning: { text: "4", reasoning: "Two and two" },
};

describe("a response in the cache", () => {
  for (const [what, reply] of Object.entries(replies)) {
    for (const stored of ["complete", "streamed"]) {
      it(`that was ${stored} is repeated in the other form in each dialect: ${what}`, async () => {
        await using stage = await open({ providers: { a: respond(reply) } });
        const stream = stored === "complete";
        await stage.ask({ stream: !stream });
        for (const dialect of dialects.filter((name) => name !== "messages")) {
          const { status, cache, text, body } = await stage.ask({ dialect, stream });
          assertEquals([status, text], [200, reply.text], body);
          assertMatch(cache!, /^HIT; age=0/);
          // Gemini's clients ask for thoughts
          if (reply.reasoning !== undefined && dialect !== "gemini") assertMatch(body, /Two and two/);
        }
        await stage.ask({ dialect: "messages", stream: !stream });
        const { cache, text, body } = await stage.ask({ dialect: "messages", stream });
        assertEquals([cache?.slice(0, 3), text], ["HIT", reply.text], body);
        if (reply.reasoning !== undefined) assertMatch(body, /Two and two/);
        assertEquals(stage.calls(), 2);
      });
    }
  }

  for (const stored of ["complete", "streamed"]) {
    it(`that was ${stored} has its usage in a stream only if that was requested`, async () => {
      await using stage = await open();
      await stage.ask({ stream: stored === "streamed" });
      const plain = await stage.ask({ stream: true });
      const counted = await stage.ask({ stream: true, body: { stream_options: { include_usage: true } } });
      assertEquals([plain.cache?.slice(0, 3), counted.cache?.slice(0, 3)], ["HIT", "HIT"]);
      assertNotMatch(plain.body, /prompt_tokens/);
      assertEquals(counted.body.match(/prompt_tokens"/g)?.length, 1);
      assertMatch(counted.body, /"usage":\{"prompt_tokens":10[^]*\[DONE\]/);
      assertEquals(JSON.parse((await stage.ask()).body).usage.total_tokens, 15);
      assertEquals(stage.calls(), 1);
    });
  }

  it("has its refusal, its log probabilities and all of its choices", async () => {
    const logprobs = { content: [{ token: "a", logprob: -0.5, bytes: null, top_logprobs: [] }], refusal: null };
    const choices = [
      { message: { role: "assistant", content: "a", refusal: null }, logprobs },
      { message: { role: "assistant", content: null, refusal: "I cannot" }, logprobs: null },
    ].map((choice, index) => ({ index, ...choice, finish_reason: "stop" }));
    const usage = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 };
    const completion = { id: "1", object: "chat.completion", created: 1, model: "a", choices, usage };
    await using stage = await open({ providers: { a: json(completion) } });
    const body = { n: 2, logprobs: true };
    await stage.ask({ body });
    const { body: events, cache } = await stage.ask({ body, stream: true });
    assertMatch(cache!, /^HIT/);
    const streamed = events.split("\n").filter((line) => line.startsWith("data: {"))
      .flatMap((line) => JSON.parse(line.slice(6)).choices);
    assertEquals(streamed.find((choice) => choice.delta.content)?.logprobs, logprobs);
    assertEquals(streamed.find((choice) => choice.delta.refusal)?.index, 1);
    assertEquals(streamed.filter((choice) => choice.finish_reason).map(({ index }) => index), [0, 1]);
  });

  it("has no calls of tools, which equal requests at once do share", async () => {
    const tools = [{ type: "function", function: { name: "read_file", parameters: { type: "object" } } }];
    const toolCalls = [{ name: "read_file", arguments: '{"path":"a"}' }];
    const forms = [[false, true, false], [true, false, true]];
    for (const [kind, streams] of [[respond, forms[0]!], [respond, forms[1]!], [ok, forms[1]!]] as const) {
      const gate = new Gate();
      await using stage = await open({ providers: { a: held(kind({ toolCalls }), gate) } });
      const all = [];
      for (const stream of streams) {
        all.push(stage.ask({ body: { tools }, stream }));
        await stage.joined(all.length);
      }
      gate.openAll();
      for (const { calls } of await Promise.all(all)) assertEquals(calls.map(({ input }) => input), [{ path: "a" }]);
      assertEquals(stage.calls(), 1);
      await settle();
      assertEquals(stage.kept.size, 0);
      assertEquals((await stage.ask({ body: { tools } })).cache, "MISS");
    }
  });
});

describe("guards over a shared call", () => {
  const guards = { guards: { pii: { connector: "mesh.guard.pii.v1", action: "restore" } } };

  for (const form of ["complete", "streamed", "mixed"]) {
    it(`put back what each caller has sent: ${form}`, async () => {
      const gate = new Gate();
      const behaviour = held(
        respond({ pieces: ["Dear [EMA", "IL_1], hel", "lo"], text: "Dear [EMAIL_1], hello" }),
        gate,
      );
      await using stage = await open({ providers: { a: behaviour }, pool: { guards: ["pii"] }, config: guards });
      const names = ["ada@example.com", "bob@example.org", "cyd@example.net"];
      const all = names.map((name, index) => {
        const body = { messages: [{ role: "user", content: `Write to ${name}` }] };
        return stage.ask({ body, stream: form === "streamed" || form === "mixed" && index === 1 });
      });
      await stage.joined(3);
      gate.openAll();
      const texts = (await Promise.all(all)).map(({ text }) => text);
      assertEquals(texts, names.map((name) => `Dear ${name}, hello`));
      assertEquals(stage.calls(), 1);
      await until(() => stage.kept.size === 1);
      const late = { messages: [{ role: "user", content: "Write to dee@example.com" }] };
      for (const stream of [false, true]) {
        const { text, cache } = await stage.ask({ body: late, stream });
        assertEquals([text, cache?.slice(0, 3)], ["Dear dee@example.com, hello", "HIT"]);
      }
      const [entry] = stage.kept.values();
      assertNotMatch(new TextDecoder().decode(entry), /example/);
    });
  }

  it("block it for all, and nothing is kept", async () => {
    const gate = new Gate();
    const behaviour = held(respond({ text: "The secret is out" }), gate);
    const words = {
      guards: { words: { connector: "mesh.guard.regex.v1", patterns: { word: "secret" }, action: "block" } },
    };
    await using stage = await open({ providers: { a: behaviour }, pool: { guards: ["words"] }, config: words });
    const all = [stage.ask(), stage.ask({ stream: true }), stage.ask()];
    await stage.joined(3);
    gate.openAll();
    for (const { status, body } of await Promise.all(all)) {
      assertEquals([status, JSON.parse(body).error.code], [400, "content_blocked"]);
    }
    await becomes(() => stage.records.length, 3);
    for (const { status, code } of stage.records) assertEquals([status, code], [400, "content_blocked"]);
    assert(stage.records.some(({ attempts }) => attempts === 1));
    assertEquals(stage.kept.size, 0);
    assertEquals((await stage.ask()).status, 400);
    assertEquals(stage.calls(), 2);
  });
});
