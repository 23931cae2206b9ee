import { assert, assertEquals, assertRejects } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import {
  type CallSettings,
  type ChatCompletionRequest,
  type MeshClient,
  type ModelView,
  NoActiveModelError,
  routingOf,
  type SelectionContext,
  type SelectionStrategy,
} from "../../mod.ts";
import { clientOver, getText, messages } from "../support/_library.ts";
import { respond, startUpstream, status } from "../support/upstream.ts";

/** A strategy that records what it is asked, and selects what the test says. */
function scripted(choose: SelectionStrategy["select"], seen: [string[], SelectionContext][] = []): SelectionStrategy {
  return {
    select(candidates, context) {
      seen.push([candidates.map(({ name }) => name), { ...context, tried: new Set(context.tried) }]);
      return choose(candidates, context);
    },
    score: () => 0,
  };
}

async function ask(client: MeshClient, request = {}, settings: CallSettings = {}): Promise<string | null | undefined> {
  return getText(await client.chat.completions.create({ ...request, messages }, settings));
}

describe("A strategy of the program's own", () => {
  it("chooses for every request, and after every failure among those that are left", async () => {
    await using bad = await startUpstream(status(401));
    await using good = await startUpstream(respond());
    const seen: [string[], SelectionContext][] = [];
    await using one = clientOver({
      upstreams: { alpha: good.url, beta: bad.url, gamma: bad.url },
      pool: { strategy: scripted((candidates) => candidates.at(-1), seen), provider_priority: ["beta"] },
    });
    assertEquals(await ask(one.client), "Hello world");
    assertEquals(seen.map(([names, { tried }]) => [names, [...tried]]), [
      [["alpha", "beta", "gamma"], []],
      [["alpha", "beta"], ["gamma"]],
      [["alpha"], ["gamma", "beta"]],
    ]);
    const [, context] = seen[0]!;
    assertEquals([context.pool, context.modelPriority, context.providerPriority, context.random()], [
      "chat",
      ["alpha", "beta", "gamma"],
      ["beta"],
      0.5,
    ]);
    assertEquals(context.now, one.clock.monotonic());
  });

  it("sees how each model does, and never one in standby", async () => {
    await using bad = await startUpstream(status(401));
    await using good = await startUpstream(respond());
    const views: ModelView[][] = [];
    await using one = clientOver({
      upstreams: { alpha: bad.url, beta: good.url },
      pool: {
        strategy: scripted((candidates) => (views.push(candidates.map(describeView)), candidates[0])),
        deactivation: { retry_limit: 2 },
      },
    });
    for (let turn = 0; turn < 3; turn++) await ask(one.client);
    const alpha = {
      name: "alpha",
      provider: "alpha",
      weight: 1,
      status: "active",
      isHalfOpen: false,
      inFlight: 0,
    } as const;
    const beta = { ...alpha, name: "beta", provider: "beta", consecutiveFailures: 0 };
    assertEquals(views, [
      [{ ...alpha, consecutiveFailures: 0 }, beta],
      [beta],
      [{ ...alpha, consecutiveFailures: 1, lastStatus: 401 }, beta],
      [beta],
      [beta],
    ]);
  });

  const sessions: readonly (readonly [from: string, session: string | undefined, CallSettings, object])[] = [
    ["nothing", undefined, {}, {}],
    ["sessionId", "s", { sessionId: "s" }, {}],
    ["the header", "h", { headers: { "x-mesh-session": "h" } }, {}],
    ["the header, over all else", "h", { headers: { "X-Mesh-Session": "h" }, sessionId: "s" }, { user: "u" }],
    ["the body's `mesh`, over sessionId", "m", { sessionId: "s" }, { mesh: { session: "m" } }],
    ["sessionId, over the rest of the body", "s", { sessionId: "s" }, { prompt_cache_key: "p", user: "u" }],
    ["prompt_cache_key", "p", {}, { prompt_cache_key: "p", safety_identifier: "i", user: "u" }],
    ["safety_identifier", "i", {}, { safety_identifier: "i", user: "u" }],
    ["user", "u", {}, { user: "u" }],
  ];
  for (const [from, session, settings, body] of sessions) {
    it(`gets the session, from ${from}`, async () => {
      await using upstream = await startUpstream(respond());
      const seen: [string[], SelectionContext][] = [];
      const strategy = scripted(([first]) => first, seen);
      await using one = clientOver({ upstreams: { alpha: upstream.url }, pool: { strategy } });
      await ask(one.client, body as Partial<ChatCompletionRequest>, settings);
      assertEquals(seen.map(([, context]) => context.session), [session]);
    });
  }

  const broken: readonly (readonly [what: string, withFallback: string, select: SelectionStrategy["select"]])[] = [
    ["throws", "beta", () => {
      throw new Error("lost");
    }],
    ["chooses nobody", "beta", () => undefined],
    ["chooses a stranger", "alpha", (candidates) => ({ ...candidates[1]!, name: "stranger" })],
    ["answers nonsense", "alpha", () => "beta" as never],
  ];
  for (const [what, withFallback, select] of broken) {
    it(`that ${what} costs no request: the first is taken, or with a fallback strategy ${withFallback}`, async () => {
      await using alpha = await startUpstream(respond({ text: "alpha" }));
      await using beta = await startUpstream(respond({ text: "beta" }));
      const upstreams = { alpha: alpha.url, beta: beta.url };
      const pool = { strategy: scripted(select), model_priority: ["beta", "alpha"] };
      await using one = clientOver({ upstreams, pool });
      assertEquals(await ask(one.client), "alpha");
      await using two = clientOver({ upstreams, pool: { ...pool, fallback_strategy: "priority" } });
      assertEquals(await ask(two.client), withFallback);
    });
  }

  it("chooses among the models of the priority lists while one of them is active, then among the others", async () => {
    await using bad = await startUpstream(status(401));
    await using good = await startUpstream(respond());
    const seen: [string[], SelectionContext][] = [];
    const upstreams = { alpha: good.url, beta: bad.url, gamma: bad.url };
    const pool = { strategy: scripted((candidates) => candidates.at(-1), seen), model_priority: ["beta", "gamma"] };
    await using one = clientOver({ upstreams, pool });
    assertEquals(await ask(one.client), "Hello world");
    assertEquals(seen.map(([names]) => names), [["beta", "gamma"], ["beta"], ["alpha"]]);
  });

  it("may keep what it remembers in its own object", async () => {
    await using upstream = await startUpstream(respond());
    const strategy = {
      turn: 0,
      counts: { asked: 0 },
      select<View>(candidates: readonly View[]): View | undefined {
        this.counts.asked++;
        return candidates[this.turn++ % candidates.length];
      },
      score: () => 0,
    };
    await using one = clientOver({ upstreams: { alpha: upstream.url, beta: upstream.url }, pool: { strategy } });
    for (let turn = 0; turn < 3; turn++) await ask(one.client);
    assertEquals(upstream.requests.map((request) => request.json().model), ["alpha", "beta", "alpha"]);
    assertEquals(strategy.counts.asked, 3);
  });

  it("is not asked when all are in standby", async () => {
    await using bad = await startUpstream(status(401));
    const seen: [string[], SelectionContext][] = [];
    await using one = clientOver({
      upstreams: { alpha: bad.url },
      pool: { strategy: scripted(([first]) => first, seen), deactivation: { retry_limit: 1 } },
    });
    await ask(one.client).catch(() => {});
    const error = await assertRejects(() => ask(one.client), NoActiveModelError);
    assertEquals(seen.length, 1);
    assert(routingOf(error) !== undefined);
  });
});

/** What a view shows, without what it leaves out. */
function describeView(
  { name, provider, weight, status, isHalfOpen, inFlight, consecutiveFailures, lastStatus }: ModelView,
) {
  const failure = lastStatus === undefined ? {} : { lastStatus };
  return { name, provider, weight, status, isHalfOpen, inFlight, consecutiveFailures, ...failure };
}
