/** Prompt-cache affinity: a conversation stays with the model and the API key that served its beginning. */
import { assert, assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { memoryStorage, stateIn } from "../../mod.ts";
import { behind, soon, type Stage, stage, type StageOptions } from "../support/_failover.ts";
import { fakeClock } from "../../src/runtime/test.ts";
import { byKey, keyIn, keys, limited } from "../support/_keys.ts";
import { tally } from "../support/_tuned.ts";
import { Gate, ok, type ReceivedRequest, respond, type Script, status } from "../support/upstream.ts";

const [a, b, c] = ["a", "b", "c"].map((name) => ok({ text: name })) as [Script, Script, Script];
const cached = { input: 2, cached_input: 0.5, output: 8 };
const json = { "content-type": "application/json" };

/** Models of which each is cheaper from its cache, under a strategy that spreads requests. */
function spread(names: readonly string[], { pool, pricing = cached, ...rest }: StageOptions & {
  readonly pricing?: object | null;
} = {}): StageOptions {
  const models = Object.fromEntries(
    names.map((name) => [
      name,
      { provider: name, capabilities: ["chat-completion"], ...(pricing === null ? {} : { pricing }) },
    ]),
  );
  return {
    ...rest,
    pool: {
      strategy: "round-robin",
      model_priority: undefined,
      affinity: { by: "prompt", ttl: "10m" },
      retry: { max_attempts: 0 },
      ...pool,
    },
    config: { models, ...rest.config },
  };
}

/** A turn of a conversation: its beginning, and what has been said since. */
function turn(conversation: string, number: number): { messages: unknown[] } {
  const said = Array.from({ length: number }, (_, index) => [
    { role: "assistant", content: `Answer ${index}` },
    { role: "user", content: `Question ${index}` },
  ]).flat();
  return {
    messages: [{ role: "system", content: "Be kind" }, { role: "user", content: `I am ${conversation}` }, ...said],
  };
}

const conversations = Array.from({ length: 10 }, (_, index) => `conversation ${index}`);

/** Which models served each conversation, one after the other, without repetitions. */
async function follow(scene: Stage, turns: readonly number[]): Promise<Record<string, string[]>> {
  const served: Record<string, string[]> = {};
  for (const number of turns) {
    for (const name of conversations) {
      const { text, status } = await scene.ask(turn(name, number));
      assertEquals(status, 200);
      const path = served[name] ??= [];
      if (path.at(-1) !== text) path.push(text!);
    }
  }
  return served;
}

describe("the turns of a conversation", () => {
  it("stay with one model, while conversations are spread over all", async () => {
    await using scene = await stage({ a, b }, spread(["a", "b"]));
    const served = await follow(scene, [0, 1, 2, 3, 4]);
    assertEquals(tally(Object.values(served).map((path) => path.join(" "))), { a: 5, b: 5 });
    assertEquals(scene.calls, { a: 25, b: 25 });
    assertEquals(scene.events, []);
  });

  it("stay with one model as streams, too", async () => {
    await using scene = await stage({ a: respond({ text: "a" }), b: respond({ text: "b" }) }, spread(["a", "b"]));
    const texts = [];
    for (const number of [0, 1, 2]) {
      for (const name of ["x", "y"]) texts.push((await scene.askStream(turn(name, number))).text);
    }
    assertEquals(texts, ["a", "b", "a", "b", "a", "b"]);
    assertEquals(scene.routing.chosen_by, "affinity");
    const again = [];
    for (const name of ["y", "x"]) again.push((await scene.askStream(turn(name, 3))).text);
    assertEquals(again, ["b", "a"]);
  });

  it("return to their model after a hedged request that another one has answered", async () => {
    const gate = new Gate();
    const options = spread(["a", "b"], { pool: { hedge: { after: "2s", max_share: 1 } } });
    await using scene = await stage({ a, b }, { ...options, clock: fakeClock() });
    assertEquals((await scene.ask(turn("x", 0))).text, "a");
    scene.upstreams.a!.follow(behind(gate, ok({ text: "a" })));
    const hedged = scene.ask(turn("x", 1));
    await soon(gate.reached(1));
    await scene.clock.advance(2_000);
    assertEquals((await soon(hedged)).text, "b");
    assertEquals([scene.routing.model, scene.routing.chosen_by], ["b", undefined]);
    gate.openAll();
    scene.upstreams.a!.follow(a);
    assertEquals((await scene.ask(turn("x", 2))).text, "a");
  });

  it("move once if their model fails, and stay at the new one after its recovery", async () => {
    await using scene = await stage({ a, b }, spread(["a", "b"], { pool: { deactivation: { retry_limit: 1 } } }));
    const before = await follow(scene, [0, 1]);
    scene.upstreams.a!.follow(status(500));
    const during = await follow(scene, [2, 3]);
    scene.upstreams.a!.follow(a);
    await scene.clock.advance(120_000);
    const after = await follow(scene, [4, 5]);
    assertEquals([...new Set(Object.values(before).flat())].sort(), ["a", "b"]);
    for (const path of [...Object.values(during), ...Object.values(after)]) assertEquals(path, ["b"]);
  });

  it("move once if their model refuses a single request", async () => {
    await using scene = await stage({ a, b }, spread(["a", "b"]));
    const first = await scene.ask(turn("x", 0));
    scene.upstreams[first.text!]!.follow([status(500), first.text === "a" ? a : b] as Script);
    const texts = [];
    for (let number = 1; number < 6; number++) texts.push((await scene.ask(turn("x", number))).text);
    assertEquals([...new Set(texts)], [first.text === "a" ? "b" : "a"]);
  });

  it("go to one model if the first ones are sent at once", async () => {
    const gate = new Gate();
    const names = ["a", "b", "c"];
    const held = Object.fromEntries(names.map((name) => [name, behind(gate, ok({ text: name }))]));
    await using scene = await stage(held, spread(names));
    const answers = Array.from({ length: 9 }, (_, index) => scene.ask(turn("x", index)));
    await soon(gate.reached(9));
    gate.openAll();
    assertEquals(Object.keys(tally((await Promise.all(answers)).map(({ text }) => text!))).length, 1);
  });

  it("move to one model if concurrent ones fail", async () => {
    await using scene = await stage({ a, b, c }, spread(["a", "b", "c"]));
    const first = (await scene.ask(turn("x", 0))).text!;
    scene.upstreams[first]!.follow(status(500));
    const texts = (await Promise.all([1, 2, 3, 4, 5, 6].map((number) => scene.ask(turn("x", number))))).map(
      ({ text }) => text!,
    );
    assertEquals(Object.keys(tally(texts)).length, 1);
    assert(texts[0] !== first);
  });

  it("stay where they are if a request is invalid", async () => {
    await using scene = await stage({ a, b, c }, spread(["a", "b", "c"]));
    const { text } = await scene.ask(turn("x", 0));
    for (const upstream of Object.values(scene.upstreams)) upstream.follow([status(400)]);
    assertEquals((await scene.ask(turn("x", 1))).status, 400);
    for (const [name, upstream] of Object.entries(scene.upstreams)) upstream.follow(ok({ text: name }));
    assertEquals((await scene.ask(turn("x", 2))).text, text);
  });

  it("stay where they are if the client leaves before a response", async () => {
    await using scene = await stage({ a, b, c }, spread(["a", "b", "c"]));
    const { text } = await scene.ask(turn("x", 0));
    const gate = new Gate();
    const { [text!]: upstream } = scene.upstreams;
    upstream!.follow({ play: async () => await gate.pass() });
    const leaving = new AbortController();
    const left = scene.ask(turn("x", 1), { signal: leaving.signal }).catch(() => "left");
    await soon(gate.reached(1));
    leaving.abort();
    assertEquals(await left, "left");
    upstream!.follow(ok({ text: text! }));
    gate.openAll();
    assertEquals((await scene.ask(turn("x", 2))).text, text);
  });

  it("go where routing constraints send one of them, and stay there", async () => {
    await using scene = await stage({ a, b }, spread(["a", "b"]));
    const { text } = await scene.ask(turn("x", 0));
    const other = text === "a" ? "b" : "a";
    assertEquals((await scene.ask({ ...turn("x", 1), mesh: { ignore: [text] } })).text, other);
    assertEquals((await scene.ask(turn("x", 2))).text, other);
    assertEquals((await scene.ask(turn("x", 3))).text, other);
  });

  it("are forgotten after `ttl` without a request, and each request begins it anew", async () => {
    await using scene = await stage({ a, b, c }, spread(["a", "b", "c"], { pool: { affinity: { ttl: "1m" } } }));
    const texts: (string | null | undefined)[] = [];
    for (const ms of [0, 59_000, 59_000, 61_000]) {
      await scene.clock.advance(ms);
      texts.push((await scene.ask(turn("x", texts.length))).text);
    }
    assertEquals(texts, ["a", "a", "a", "b"]);
  });

  it("stay with one of several entries of a vendor, in pools on demand, too", async () => {
    const models = Object.fromEntries(
      ["a", "b"].map((name) => [name, {
        provider: name,
        model: "same",
        capabilities: ["chat-completion"],
        pricing: cached,
      }]),
    );
    const pools = { "*": { strategy: "round-robin", affinity: {} } };
    await using scene = await stage({ a, b }, { config: { models, pools } });
    const texts = [];
    for (const name of ["x", "y", "y", "x", "x"]) {
      texts.push((await scene.ask({ ...turn(name, 0), model: "same" })).text);
    }
    assertEquals(texts, ["a", "b", "b", "a", "a"]);
  });

  it("are recognized in every dialect, whatever their cache marks", async () => {
    await using scene = await stage({ a, b, c }, spread(["a", "b", "c"]));
    const post = async (path: string, body: unknown) => {
      const response = await fetch(`${scene.proxy.url}${path}`, {
        method: "POST",
        headers: json,
        body: JSON.stringify(body),
      });
      await response.body?.cancel();
      return response.headers.get("x-mesh-model");
    };
    const mark = { cache_control: { type: "ephemeral" } };
    const said = [{ role: "assistant", content: "Yes" }, { role: "user", content: "More" }];
    const image = { type: "image_url", image_url: { url: `data:image/png;base64,${"A".repeat(200_000)}` } };
    const turns: Record<string, (more: boolean) => unknown> = {
      "/v1/chat/completions": (more) => ({
        model: "chat",
        messages: [{ role: "user", content: [{ ...image, ...(more ? {} : mark) }] }, ...(more ? said : [])],
      }),
      "/v1/messages": (more) => ({
        model: "chat",
        max_tokens: 9,
        system: [{ type: "text", text: "Be kind", ...(more ? {} : mark) }],
        messages: [
          { role: "user", content: more ? "m" : [{ type: "text", text: "m", ...mark }] },
          ...(more ? said : []),
        ],
      }),
      "/v1/responses": (more) => ({
        model: "chat",
        instructions: "Be kind",
        input: more ? [{ role: "user", content: "r" }, ...said] : "r",
      }),
      "/v1beta/models/chat:generateContent": (more) => ({
        systemInstruction: { parts: [{ text: "Be kind" }] },
        contents: [
          { role: "user", parts: [{ text: "g" }] },
          ...(more ? [{ role: "model", parts: [{ text: "Yes" }] }, { role: "user", parts: [{ text: "More" }] }] : []),
        ],
      }),
    };
    for (const [path, body] of Object.entries(turns)) {
      const first = await post(path, body(false));
      assert(first !== null, path);
      for (let number = 0; number < 3; number++) assertEquals(await post(path, body(true)), first, path);
    }
  });

  it("are recognized if they continue a stored response by its id", async () => {
    const config = { proxy: { responses: { state: true } } };
    const options = spread(["a", "b", "c"], { config, storage: stateIn(memoryStorage()) });
    await using scene = await stage({ a, b, c }, options);
    const models = [];
    for (let id: string | undefined, number = 0; number < 4; number++) {
      const body = { model: "chat", instructions: "Be kind", input: `Question ${number}`, previous_response_id: id };
      const init = { method: "POST", headers: json, body: JSON.stringify(body) };
      const response = await fetch(`${scene.proxy.url}/v1/responses`, init);
      models.push(response.headers.get("x-mesh-model"));
      ({ id } = await response.json());
    }
    assertEquals(models, ["a", "a", "a", "a"]);
  });

  it("of several clients are remembered separately", async () => {
    const tokens = ["one", "two"].map((name) => ({ token: `token-of-${name}-0123456789`, name }));
    await using scene = await stage(
      { a, b },
      spread(["a", "b"], { config: { proxy: { auth: { method: "bearer", tokens } } } }),
    );
    const texts = [];
    for (const { token } of [...tokens, ...tokens]) {
      const headers = { ...json, authorization: `Bearer ${token}` };
      texts.push((await scene.ask(turn("x", 0), { headers })).text);
    }
    assertEquals(texts, ["a", "b", "a", "b"]);
  });

  it("are in the routing record and in `explain`", async () => {
    await using scene = await stage({ a, b }, spread(["a", "b"]));
    const model = (await scene.ask(turn("x", 0))).text!;
    assertEquals(scene.routing.chosen_by, undefined);
    await scene.ask(turn("x", 1));
    assertEquals([scene.routing.model, scene.routing.chosen_by], [model, "affinity"]);
    const { order } = await scene.proxy.mesh.explain({ model: "chat", ...turn("x", 2) } as never);
    assertEquals(order.map((one) => [one.model, one.chosen_by]), [
      [model, "affinity"],
      [model === "a" ? "b" : "a", undefined],
    ]);
  });
});

describe("affinity", () => {
  for (
    const [what, options] of [
      ["a price for cached input below that of other input", { pricing: { input: 2, cached_input: 2, output: 8 } }],
      ["the setting", { pool: { affinity: undefined } }],
    ] as const
  ) {
    it(`does not act without ${what}`, async () => {
      await using scene = await stage({ a, b }, spread(["a", "b"], options));
      const texts = [];
      for (let number = 0; number < 4; number++) texts.push((await scene.ask(turn("x", number))).text);
      assertEquals(texts, ["a", "b", "a", "b"]);
    });
  }

  it("leaves the models of sessions to session stickiness", async () => {
    await using scene = await stage({ a, b, c }, spread(["a", "b", "c"], { pool: { strategy: "session-stickiness" } }));
    const ask = async (session: string) => (await scene.ask({ ...turn("x", 0), mesh: { session } })).text!;
    const sessions = Array.from({ length: 12 }, (_, index) => `session ${index}`);
    const first = [];
    for (const session of sessions) first.push(await ask(session));
    assertEquals(Object.keys(tally(first)).length, 3);
    for (const [index, session] of sessions.entries()) assertEquals(await ask(session), first[index]);
  });

  it("does not change the model that others are with", async () => {
    const options = spread(["a", "b"], { pool: { strategy: "stick-until-failure" } });
    await using scene = await stage({ a: [status(500), ok({ text: "a" })], b }, options);
    assertEquals((await scene.ask(turn("x", 0))).text, "b");
    await scene.ask({ ...turn("y", 0), mesh: { only: ["a"] } });
    assertEquals(scene.events, ["rotation a>b server"]);
    for (const [conversation, text] of [["y", "a"], ["z", "b"], ["y", "a"], ["x", "b"]] as const) {
      assertEquals((await scene.ask(turn(conversation, 1))).text, text);
    }
    assertEquals(scene.events, ["rotation a>b server"]);
  });

  it("reports no rotation for a conversation that is elsewhere", async () => {
    const options = spread(["a", "b", "c"], { pool: { strategy: "stick-until-failure" } });
    await using scene = await stage({ a, b, c }, options);
    assertEquals((await scene.ask(turn("x", 0))).text, "a");
    await scene.ask({ ...turn("y", 0), mesh: { only: ["c"] } });
    scene.proxy.mesh.deactivate("a");
    assertEquals((await scene.ask(turn("y", 1))).text, "c");
    assertEquals((await scene.ask(turn("z", 0))).text, "b");
    assertEquals(scene.events.filter((event) => event.startsWith("rotation")), ["rotation a>b manual"]);
  });
});

describe("the API keys of a conversation", () => {
  const options = spread(["a"], { provider: { api_key: keys } });
  const seen = (requests: readonly ReceivedRequest[]) => requests.map(keyIn);

  it("stay the same, while conversations are spread over all", async () => {
    await using scene = await stage({ a }, options);
    for (const name of ["x", "y", "z", "z", "x", "x", "y"]) await scene.ask(turn(name, 0));
    assertEquals(seen(scene.upstreams.a!.requests), [1, 2, 3, 3, 1, 1, 2]);
  });

  it("change once if a key is at its limit, also for concurrent turns", async () => {
    await using scene = await stage({ a }, options);
    await scene.ask(turn("x", 0));
    scene.upstreams.a!.follow(byKey({ 1: limited(30) }));
    await Promise.all([1, 2, 3].map((number) => scene.ask(turn("x", number))));
    const [next] = seen(scene.upstreams.a!.requests).slice(-1);
    scene.upstreams.a!.follow(a);
    await scene.clock.advance(60_000);
    for (const number of [4, 5]) await scene.ask(turn("x", number));
    assertEquals([...new Set(seen(scene.upstreams.a!.requests).filter((key) => key !== 1))], [next]);
    assertEquals(seen(scene.upstreams.a!.requests).slice(-2), [next, next]);
  });

  it("stay the same within a session", async () => {
    await using scene = await stage(
      { a },
      spread(["a"], { provider: { api_key: keys }, pool: { strategy: "session-stickiness" } }),
    );
    for (const session of ["s", "t", "s", "s", "t"]) await scene.ask({ ...turn("x", 0), mesh: { session } });
    assertEquals(seen(scene.upstreams.a!.requests), [1, 2, 1, 1, 2]);
  });
});
