/** Budgets with windows of other lengths and time zones, and rolling ones: when they are spent, and until when. */
import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { create, type MeshEvent } from "../../mod.ts";
import { getEngine } from "../../src/engine/get_engine.ts";
import { fakeClock } from "../../src/runtime/test.ts";
import { type Seen, stage } from "../support/_failover.ts";
import { makeFolder } from "../support/_library.ts";
import { startTestProxy, testConfig } from "../support/proxy.ts";
import { tuned } from "../support/_tuned.ts";
import { ok, startUpstream } from "../support/upstream.ts";

const a = ok({ text: "from a" });
/** One dollar a request, whatever it says. */
const dollar = { pricing: { input: 0, output: 0, per_request: 1 } };
const hourSeconds = 3_600;

/** The status, or Retry-After of a refusal. */
const summarize = ({ status, headers }: Seen) => status === 429 ? headers.get("retry-after") : status;

/** Spends a budget of one dollar at 18:00:00 UTC on 1 January 2026, a Thursday, and asks again. */
async function askTwice(limit: object): Promise<unknown[]> {
  await using scene = await stage(
    { a },
    tuned({ models: { a: dollar }, config: { budget: [{ limit: 1, ...limit }] } }),
  );
  return [summarize(await scene.ask()), summarize(await scene.ask())];
}

describe("a budget with a list of limits", () => {
  const ends: readonly (readonly [limit: object, seconds: number])[] = [
    [{ window: "1h" }, hourSeconds],
    [{ window: "1h", timezone: "Asia/Kolkata" }, hourSeconds / 2],
    [{ window: "1d" }, 6 * hourSeconds],
    [{ window: "1d", timezone: "Europe/Berlin" }, 5 * hourSeconds],
    [{ window: "1d", timezone: "America/New_York" }, 11 * hourSeconds],
    [{ window: "1w" }, 78 * hourSeconds],
    [{ window: "1w", timezone: "Asia/Tokyo" }, 69 * hourSeconds],
    [{ window: "1mo", timezone: "Asia/Tokyo" }, 30 * 24 * hourSeconds - 3 * hourSeconds],
    [{ window: "rolling 1h" }, 61 * 60],
    [{ window: "rolling 30d" }, 30 * 24 * hourSeconds + 6 * hourSeconds], // slices of 12 hours
  ];
  for (const [limit, seconds] of ends) {
    it(`says when ${JSON.stringify(limit)} has room again`, async () => {
      assertEquals(await askTwice(limit), [200, String(seconds)]);
    });
  }

  it("holds with each of its limits, wherever it stands", async () => {
    const budget = [{ limit: 2, window: "1h" }, { limit: 3, window: "1d", timezone: "Europe/Berlin" }];
    for (const place of [{ providers: { a: { budget } } }, { pool: { budget } }, { config: { budget } }]) {
      await using scene = await stage({ a }, tuned({ models: { a: dollar }, ...place }));
      const answers = async () => (await scene.askTimes(3)).map(summarize);
      assertEquals(await answers(), [200, 200, String(hourSeconds)]);
      await scene.clock.advance(hourSeconds * 1000);
      assertEquals(await answers(), [200, String(4 * hourSeconds), String(4 * hourSeconds)]);
      await scene.clock.advance(4 * hourSeconds * 1000);
      assertEquals((await answers())[1], 200);
    }
  });

  it("gives back what leaves a rolling window, not before", async () => {
    const budget = [{ limit: 2, window: "rolling 1h" }];
    await using scene = await stage({ a }, tuned({ models: { a: dollar }, config: { budget } }));
    const ask = async () => summarize(await scene.ask());
    assertEquals(await ask(), 200);
    await scene.clock.advance(30 * 60_000);
    assertEquals([await ask(), await ask()], [200, String(31 * 60)]);
    await scene.clock.advance(31 * 60_000 - 1);
    assertEquals(await ask(), "1");
    await scene.clock.advance(1);
    assertEquals([await ask(), await ask()], [200, String(30 * 60)]);
  });

  it("is not overspent by requests at once", async () => {
    const budget = [{ limit: 4, window: "rolling 1h" }, { limit: 9, window: "1w", timezone: "Europe/Berlin" }];
    await using scene = await stage({ a }, tuned({ models: { a: dollar }, config: { budget } }));
    const answers = await Promise.all(Array.from({ length: 20 }, () => scene.ask()));
    assertEquals(answers.filter(({ status }) => status === 200).length, 4);
  });

  it("is in the status and in its events as configured, with the end of the window", async () => {
    await using upstream = await startUpstream(a);
    await using proxy = await startTestProxy({
      upstreams: { a: upstream.url },
      clock: fakeClock({ now: Date.UTC(2026, 9, 24, 23), skipSleeps: true }),
      config: {
        models: { a: { provider: "a", capabilities: ["chat-completion"], ...dollar } },
        budget: [
          { limit: 1, window: "1d", timezone: "Europe/Berlin", alert_at: [1] },
          { limit: 4, window: "rolling 24h", alert_at: [0.25] },
          { limit: 8, window: "1mo", alert_at: [] },
        ],
      },
    });
    await (await proxy.chat()).text();
    const { budgets } = await (await fetch(`${proxy.url}/mesh/status`)).json();
    const shared = { scope: "all", id: "", spent_usd: 1, reserved_usd: 0 };
    assertEquals(budgets, [
      { ...shared, window: "1mo", limit_usd: 8, resets_at: "2026-11-01T00:00:00.000Z" },
      // the day on which clocks are set back
      { ...shared, window: "1d", timezone: "Europe/Berlin", limit_usd: 1, resets_at: "2026-10-25T23:00:00.000Z" },
      { ...shared, window: "rolling 24h", limit_usd: 4, resets_at: "2026-10-25T23:12:00.000Z" },
    ]);
    const events = proxy.records.filter((record): record is MeshEvent => record.type === "event");
    assertEquals(events.filter(({ event }) => event === "budget").map(({ metadata }) => metadata), [
      {
        ...{ scope: "all", id: "", step: 1, window: "1d", timezone: "Europe/Berlin", spent: 1, limit: 1 },
        window_end: "2026-10-25T23:00:00.000Z",
      },
      {
        ...{ scope: "all", id: "", step: 0.25, window: "rolling 24h", spent: 1, limit: 4 },
        window_end: "2026-10-25T23:12:00.000Z",
      },
    ]);
  });

  it("is restored after a restart, and counts on under other limits of the same windows", async () => {
    await using folder = await makeFolder();
    await using upstream = await startUpstream(a);
    const clock = fakeClock({ now: Date.UTC(2026, 0, 1, 12), skipSleeps: true });
    const spend = async (limits: readonly object[]) => {
      const config = testConfig({
        upstreams: { a: upstream.url },
        config: {
          models: { a: { provider: "a", capabilities: ["chat-completion"], ...dollar } },
          storage: { path: `${folder.path}/state.json` },
          budget: limits,
        },
      });
      await using client = create({ config, clock });
      await client.chat.completions.create({ messages: [{ role: "user", content: "Hi" }] });
      const budgets = getEngine(client.mesh).listBudgets();
      return budgets.map(({ window, spent, limit }) => `${window} ${spent / 1e9} of ${limit / 1e9}`);
    };
    const week = { window: "1w", timezone: "Europe/Berlin" };
    const first = await spend([{ limit: 5, window: "rolling 24h" }, { limit: 5, ...week }]);
    assertEquals(first, ["rolling 24h 1 of 5", "1w 1 of 5"]);
    await clock.advance(20 * 3_600_000);
    const changed = await spend([{ limit: 9, window: "1w", timezone: "Asia/Tokyo" }, {
      limit: 7,
      window: "rolling 1d",
    }]);
    assertEquals(changed, ["1w 1 of 9", "rolling 1d 2 of 7"]);
    await clock.advance(20 * 3_600_000);
    assertEquals(await spend([{ limit: 7, window: "rolling 1d" }]), ["rolling 1d 2 of 7"]);
  });
});
