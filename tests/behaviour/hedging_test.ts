/** Hedging: while the first model is silent a second one is asked, the first content wins, and the other call ends. */
import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { after, behind, isOpen, type Seen, severalModels, soon, type Stage, stage } from "../support/_failover.ts";
import { becomes } from "../support/patience.ts";
import {
  answer,
  type Behaviour,
  emptyAnswer,
  Gate,
  hang,
  hangAfterHeaders,
  json,
  ok,
  status,
  stream,
} from "../support/upstream.ts";

const hedge = { after: "2s", max_share: 1 };
const pool = { hedge, retry: { max_attempts: 0 } };
const b = answer({ text: "from b" });
const priced = (usd: number) => ({ pricing: { input: 0, output: 0, per_request: usd } });

/** Models with prices, one per provider, and a budget over all. */
const withPrices = (urls: Readonly<Record<string, string>>) => {
  const { config } = severalModels({ a: "a", b: "b" }, { pool })(urls);
  const { models } = config as { readonly models: Readonly<Record<string, object>> };
  const own = { a: { ...models.a, ...priced(1) }, b: { ...models.b, ...priced(0.1) } };
  return { config: { ...config, models: own, budget: { daily_limit: 100 } } };
};

/** Asks once both models have the request. */
async function askBoth(scene: Stage, ask: () => Promise<Seen> = () => scene.ask()): Promise<Promise<Seen>> {
  const seen = ask();
  await scene.received("a");
  await scene.clock.advance(2_000);
  await scene.received("b");
  return seen;
}

const outcomes = (scene: Stage) => scene.routing.fallback_chain.map(({ model, outcome }) => `${model} ${outcome}`);
const inFlight = (scene: Stage) =>
  scene.proxy.mesh.poolStatus().chat!.models.map(({ name }) => name).map((name) =>
    scene.proxy.mesh.poolStatus().chat!.models.find((model) => model.name === name)!.status
  );

describe("hedging", () => {
  const silent: readonly [name: string, behaviour: Behaviour, isStream: boolean][] = [
    ["before its head", hang(), false],
    ["after its head", hangAfterHeaders(), false],
    ["before the head of a stream", hang(), true],
    ["before the first content of a stream", stream({ cut: { after: 0, how: "hang" } }), true],
  ];
  for (const [name, behaviour, isStream] of silent) {
    it(`asks a second model when the first is silent ${name}, and cancels the first`, async () => {
      await using scene = await stage({ a: behaviour, b }, { pool });
      const seen = isStream ? scene.askStream() : scene.ask();
      await scene.received("a");
      await scene.clock.advance(1_999);
      assertEquals([await isOpen(seen), scene.calls], [true, { a: 1, b: 0 }]);
      const { text, route } = await after(scene.clock, 1, seen);
      assertEquals([text, route], ["from b", "b 2/0"]);
      await becomes(() => scene.upstreams.a!.open, 0);
      assertEquals(outcomes(scene), ["a hedge_lost", "b ok"]);
      assertEquals([scene.routing.hedged, scene.routing.hedge_won, scene.routing.replaced_provider], [
        true,
        true,
        undefined,
      ]);
      assertEquals([scene.states(), scene.events], [{ a: "active", b: "active" }, []]);
    });
  }

  it("uses the first model's response if that is faster after all", async () => {
    const gate = new Gate();
    await using scene = await stage({ a: behind(gate, ok({ text: "from a" })), b: hang() }, { pool });
    const seen = askBoth(scene);
    gate.open();
    const { text, route } = await soon(await seen);
    assertEquals([text, route, outcomes(scene)], ["from a", "a 2/0", ["b hedge_lost", "a ok"]]);
    assertEquals([scene.routing.hedged, scene.routing.hedge_won], [true, false]);
    await becomes(() => scene.upstreams.b!.open, 0);
  });
});
