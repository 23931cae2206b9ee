/** Who shares calls and entries of the cache, and whose limits a shared call counts against. */
import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { routingOf } from "../../mod.ts";
import { settle } from "../../src/runtime/test.ts";
import { type Ask, type CacheStage, held, openCacheStage as open } from "../support/_cache_stage.ts";
import { clientOver } from "../support/_library.ts";
import { becomes, until } from "../support/patience.ts";
import { Gate, respond, startUpstream } from "../support/upstream.ts";

const names = ["ann", "bob", "cyd"] as const;
type Name = typeof names[number];

const toToken = (name: Name) => `token-of-${name}-0123456789`;
const toHeaders = (name: Name) => ({ authorization: `Bearer ${toToken(name)}` });

interface Options {
  readonly cache?: Readonly<Record<string, unknown>>;
  readonly client?: Partial<Readonly<Record<Name, object>>>;
  readonly config?: Readonly<Record<string, unknown>>;
  readonly lookups?: Gate;
}

/** A proxy with three clients, of whom two are of one team, and a model that costs a dollar. */
async function openFor({ cache = {}, client = {}, config = {}, lookups }: Options = {}) {
  const gate = new Gate();
  const stage = await open({
    providers: { a: held(respond(), gate) },
    cache,
    ...(lookups && { lookups }),
    config: {
      models: {
        a: { provider: "a", capabilities: ["chat-completion"], pricing: { input: 0, output: 0, per_request: 1 } },
      },
      teams: { red: {} },
      proxy: {
        auth: {
          tokens: names.map((name) => ({
            token: toToken(name),
            name,
            ...(name !== "cyd" && { team: "red" }),
            ...client[name],
          })),
        },
      },
      ...config,
    },
  });
  const ask = (name: Name, options: Ask = {}) => stage.ask({ ...options, headers: toHeaders(name) });
  return { stage, gate, as: ask };
}

async function askTogether(stage: CacheStage, gate: Gate, all: readonly ReturnType<CacheStage["ask"]>[]) {
  await stage.joined(all.length);
  gate.openAll();
  return await Promise.all(all);
}

describe("the scope of the cache", () => {
  const calls = { client: 3, team: 2, all: 1 };
  for (const [scope, count] of Object.entries(calls)) {
    it(`"${scope}" is that of shared calls, and of entries`, async () => {
      const { stage, gate, as } = await openFor({ cache: { scope } });
      await using _ = stage;
      const all = names.flatMap((name) => [as(name), as(name, { stream: true })]);
      const responses = await askTogether(stage, gate, all);
      assertEquals(stage.calls(), count);
      assertEquals(responses.filter(({ cache }) => cache === "MISS").length, count);
      await until(() => stage.kept.size === count);
      for (const name of names) assertEquals((await as(name)).cache?.slice(0, 3), "HIT");
      assertEquals(stage.calls(), count);
    });
  }

  it("does not depend on the user, the metadata or the session of a request", async () => {
    const { stage, gate, as } = await openFor();
    await using _ = stage;
    const bodies = [{}, { user: "eve" }, { metadata: { a: "b" } }, { prompt_cache_key: "k" }, {
      mesh: { tags: ["t"] },
    }];
    await askTogether(stage, gate, bodies.map((body) => as("ann", { body })));
    assertEquals(stage.calls(), 1);
  });
});

describe("the limits of a shared call", () => {
  it("of requests are those of each caller", async () => {
    const { stage, gate, as } = await openFor({ client: { ann: { rpm: 3 } } });
    await using _ = stage;
    const all = Array.from({ length: 5 }, () => as("ann"));
    await stage.joined(5);
    gate.openAll();
    const statuses = (await Promise.all(all)).map(({ status }) => status).toSorted();
    assertEquals(statuses, [200, 200, 200, 429, 429]);
    assertEquals(stage.calls(), 1);
    assertEquals((await as("ann")).status, 429);
  });

  it("of cost are those of the caller that has begun it, once", async () => {
    const { stage, gate, as } = await openFor({
      cache: { scope: "all" },
      client: Object.fromEntries(names.map((name) => [name, { budget: { daily_limit: 2 } }])),
    });
    await using _ = stage;
    const first = as("ann");
    await stage.joined(1);
    const others = names.flatMap((name) => Array.from({ length: 4 }, () => as(name)));
    await stage.joined(13);
    gate.openAll();
    for (const { status } of await Promise.all([first, ...others])) assertEquals(status, 200);
    const spent = await Promise.all(names.map(async (name) => {
      const statuses = [];
      for (const text of ["1", "2", "3"]) {
        statuses.push((await as(name, { body: { messages: [{ role: "user", content: name + text }] } })).status);
      }
      return statuses;
    }));
    assertEquals(spent, [[200, 429, 429], [200, 200, 429], [200, 200, 429]]);
  });

  for (const stream of [false, true]) {
    it(`of its first caller do not end it for the others: ${stream ? "streamed" : "complete"}`, async () => {
      const lookups = new Gate();
      const { stage, gate, as } = await openFor({
        cache: { scope: "all" },
        client: { ann: { budget: { daily_limit: 0.5 } } },
        lookups,
      });
      await using _ = stage;
      gate.openAll();
      const all = [as("ann", { stream })];
      await stage.joined(1);
      for (const name of ["bob", "cyd", "bob", "cyd"] as const) all.push(as(name, { stream }));
      await stage.joined(5);
      lookups.openAll(); // in the order of their arrival
      const responses = await Promise.all(all);
      assertEquals(responses.map(({ status }) => status), [429, 200, 200, 200, 200]);
      assertEquals(stage.calls(), 1);
      await becomes(() => stage.records.length, 5);
    });
  }
});

describe("equal calls of a program", () => {
  it("are one upstream call, and its responses belong to their callers", async () => {
    await using upstream = await startUpstream(respond());
    await using stage = clientOver({ upstreams: { a: upstream.url }, config: { cache: {} } });
    const { completions } = stage.client.chat;
    const request = { model: "chat", messages: [{ role: "user" as const, content: "Hi" }], temperature: 0 };
    const responses = await Promise.all(Array.from({ length: 50 }, () => completions.create(request)));
    assertEquals(upstream.calls, 1);
    assertEquals(responses.filter((response) => routingOf(response)?.cached === true).length, 49);
    for (const response of responses) {
      assertEquals(response.choices[0]!.message.content, "Hello world");
      response.choices[0]!.message.content = "changed";
    }
    const streams = await Promise.all(
      Array.from({ length: 5 }, () => completions.create({ ...request, stream: true })),
    );
    for (const stream of streams) {
      let text = "";
      for await (const chunk of stream) {
        text += chunk.choices[0]?.delta.content ?? "";
        chunk.choices.length = 0;
      }
      assertEquals(text, "Hello world");
    }
    assertEquals(upstream.calls, 1);
  });

  it("are left by a signal with any reason, which its caller gets", async () => {
    const gate = new Gate();
    await using upstream = await startUpstream(held(respond(), gate));
    await using stage = clientOver({ upstreams: { a: upstream.url }, config: { cache: {} } });
    const { completions } = stage.client.chat;
    const request = { model: "chat", messages: [{ role: "user" as const, content: "Hi" }], temperature: 0 };
    const reason = { why: "no longer needed" };
    const controllers = [new AbortController(), new AbortController(), new AbortController()];
    const calls = controllers.map(({ signal }) => completions.create(request, { signal }).catch((error) => error));
    await upstream.received(1);
    await settle();
    controllers[0]!.abort(reason);
    assertEquals(await calls[0], reason);
    gate.openAll();
    const texts = (await Promise.all(calls.slice(1))).map((response) => response.choices[0].message.content);
    assertEquals(texts, ["Hello world", "Hello world"]);
    const routing = stage.records.filter((record) => record.type === "routing");
    assertEquals(routing.map(({ status }) => status).toSorted(), [200, 200, 499]);
  });
});
