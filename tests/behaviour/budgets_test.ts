/** Money of a provider, of a pool, and over all: what is spent stays spent until UTC midnight, and no longer. */
import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { type Seen, stage } from "../support/_failover.ts";
import { tally, tuned } from "../support/_tuned.ts";
import { ok, status, stream } from "../support/upstream.ts";

const a = ok({ text: "from a" });
const b = ok({ text: "from b" });
/** One dollar a request, whatever it says. */
const dollar = { pricing: { input: 0, output: 0, per_request: 1 } };
const free = { pricing: { input: 0, output: 0 } };
const threeDollars = { daily_limit: 3 };
const noRetry = { retry: { max_attempts: 0 } };
/** The stage begins at 18:00:00 UTC on 1 January. */
const toMidnight = 6 * 3_600;
const toFebruary = 30 * 86_400 + toMidnight;

/** A pool of one or two models at a dollar each, and its money. */
const places: Record<string, { tuning: object; reason: string; event: string }> = {
  "providers.<id>.budget": {
    tuning: { providers: { a: { budget: threeDollars } } },
    reason: "provider_budget",
    event: "deactivation provider a provider_budget",
  },
  "pools.<name>.budget": {
    tuning: { pool: { budget: threeDollars } },
    reason: "budget_limit",
    event: "deactivation a budget_limit",
  },
  "budget": {
    tuning: { config: { budget: threeDollars } },
    reason: "budget_limit",
    event: "deactivation a budget_limit",
  },
};

/** What a refused client reads, in short. */
function summarizeRefusal({ status: code, error, headers }: Seen): unknown[] {
  return [code, error?.type, error?.code, headers.get("retry-after"), headers.get("x-should-retry")];
}

const refusal = (seconds: number) => [429, "insufficient_quota", "budget_exceeded", String(seconds), "false"];
const codes = (answers: readonly Seen[]) => answers.map(({ status: code }) => code);

for (const [place, { tuning, reason, event }] of Object.entries(places)) {
  describe(place, () => {
    it("is spent exactly when the sum reaches it, and refuses until midnight", async () => {
      await using scene = await stage({ a }, tuned({ models: { a: dollar }, ...tuning }));
      assertEquals(codes(await scene.askTimes(3)), [200, 200, 200]);
      assertEquals(scene.states(), { a: `${reason} for ${toMidnight}s` });
      assertEquals(scene.events, [event]);
      await scene.clock.advance(60_000);
      assertEquals(summarizeRefusal(await scene.ask()), refusal(toMidnight - 60));
      assertEquals(scene.calls, { a: 3 });
    });

    it("opens again at UTC midnight, not before", async () => {
      await using scene = await stage({ a }, tuned({ models: { a: dollar }, ...tuning }));
      await scene.askTimes(3);
      await scene.clock.advance(toMidnight * 1000 - 1);
      assertEquals((await scene.ask()).status, 429);
      await scene.clock.advance(1);
      assertEquals(codes(await scene.askTimes(4)), [200, 200, 200, 429]);
      assertEquals(scene.events.slice(0, 3).map((one) => one.split(" ")[0]), [
        "deactivation",
        "recovery",
        "deactivation",
      ]);
    });

    it("is not spent by errors, whatever they are", async () => {
      const errors = [status(400), status(500), status(401), status(429), status(503), status(422)];
      await using scene = await stage(
        { a: [...errors, a] },
        tuned({
          models: { a: dollar },
          ...tuning,
          pool: { ...noRetry, deactivation: { retry_limit: 99 }, ...createTuning(tuning) },
        }),
      );
      for (let error = 0; error < errors.length; error++) {
        await scene.ask();
        await scene.clock.advance(1_000);
      }
      assertEquals(codes(await scene.askTimes(4)), [200, 200, 200, 429]);
    });

    it("counts streams, and those that broke", async () => {
      const broken = stream({ cut: { after: 1, how: "reset" } });
      await using scene = await stage({ a: [stream(), broken, stream()] }, tuned({ models: { a: dollar }, ...tuning }));
      assertEquals((await scene.askStream()).last, "done");
      assertEquals((await scene.askStream()).last, "error");
      assertEquals((await scene.askStream()).last, "done");
      assertEquals(summarizeRefusal(await scene.ask()), refusal(toMidnight));
      assertEquals(scene.calls, { a: 3 });
    });
  });
}

function createTuning(tuning: object): object {
  return (tuning as { pool?: object }).pool ?? {};
}

describe("the message about a budget", () => {
  const twoFifty = { models: { a: dollar }, pool: { budget: { daily_limit: 2.5 } } };

  it("says that too little is left, and how much of which budget", async () => {
    await using scene = await stage({ a }, tuned({ ...twoFifty, config: { budget: { monthly_limit: 100 } } }));
    await scene.askTimes(2);
    assertEquals(
      (await scene.ask()).error?.message,
      'Every budget for the pool "chat" is spent, or too little is left for this request: ' +
        "the pool chat has $0.50 of $2.50 left this day, the total budget has $98.00 of $100.00 left this month",
    );
  });

  it("says which budget is spent", async () => {
    await using scene = await stage({ a }, tuned({ models: { a: dollar }, pool: { budget: threeDollars } }));
    await scene.askTimes(3);
    const expected = 'Every budget for the pool "chat" is spent: the pool chat has $0 of $3.00 left this day';
    assertEquals((await scene.ask()).error?.message, expected);
  });

  it("shows a client with a name no amounts, which are also those of others", async () => {
    const token = "t-of-the-app-0123456789";
    const auth = { auth: { tokens: [{ token, name: "app" }] } };
    await using scene = await stage({ a }, tuned({ ...twoFifty, config: { proxy: auth } }));
    const headers = { "content-type": "application/json", authorization: `Bearer ${token}` };
    const ask = () => scene.proxy.chat({}, { headers });
    for (let number = 0; number < 2; number++) await (await ask()).body?.cancel();
    const { error } = await (await ask()).json();
    assertEquals(error.message, 'Every budget for the pool "chat" is spent, or too little is left for this request');
  });
});

describe("a spent budget", () => {
  it("of a pool lets models that are free serve", async () => {
    await using scene = await stage(
      { a, b },
      tuned({ models: { a: dollar, b: free }, pool: { budget: threeDollars } }),
    );
    assertEquals(tally((await scene.askTimes(8)).map(({ text }) => text)), { "from a": 3, "from b": 5 });
    assertEquals(scene.states(), { a: `budget_limit for ${toMidnight}s`, b: "active" });
  });

  it("over all lets models that are free serve", async () => {
    const config = { budget: { monthly_limit: 3 } };
    await using scene = await stage({ a, b }, tuned({ models: { a: dollar, b: free }, config }));
    assertEquals(tally((await scene.askTimes(8)).map(({ text }) => text)), { "from a": 3, "from b": 5 });
    assertEquals(scene.states(), { a: `budget_limit for ${toFebruary}s`, b: "active" });
  });

  it("of a provider leaves the others theirs", async () => {
    const providers = { a: { budget: threeDollars } };
    await using scene = await stage({ a, b }, tuned({ models: { a: dollar, b: dollar }, providers }));
    assertEquals(tally((await scene.askTimes(8)).map(({ text }) => text)), { "from a": 3, "from b": 5 });
  });

  it("of a pool leaves other pools theirs", async () => {
    const pools = { chat: { models: ["a"], budget: threeDollars }, other: { models: ["a"] } };
    await using scene = await stage({ a }, tuned({ models: { a: dollar }, config: { pools } }));
    await scene.askTimes(3);
    assertEquals([(await scene.ask()).status, (await scene.ask({ model: "other" })).status], [429, 200]);
  });

  it("of a provider holds in every pool, and over all likewise", async () => {
    const pools = { chat: { models: ["a"] }, other: { models: ["a"] } };
    for (const tuning of [{ providers: { a: { budget: threeDollars } } }, { budget: threeDollars }]) {
      const { providers = {}, ...sections } = tuning as { providers?: Record<string, object> };
      const config = { pools, ...sections };
      await using scene = await stage({ a }, tuned({ models: { a: dollar }, providers, config }));
      const models = ["chat", "other", "a", "chat", "other", "a"];
      const answers: Seen[] = [];
      for (const model of models) answers.push(await scene.ask({ model }));
      assertEquals(codes(answers), [200, 200, 200, 429, 429, 429]);
      assertEquals(summarizeRefusal(answers[4]!), refusal(toMidnight));
    }
  });

  it("of the month is open on the first of the next, whatever the day's", async () => {
    const providers = { a: { budget: { daily_limit: 2, monthly_limit: 3 } } };
    await using scene = await stage({ a }, tuned({ models: { a: dollar }, providers }));
    assertEquals(codes(await scene.askTimes(3)), [200, 200, 429]);
    await scene.clock.advance(toMidnight * 1000);
    assertEquals((await scene.ask()).status, 200);
    assertEquals(summarizeRefusal(await scene.ask()), refusal(toFebruary - toMidnight));
    await scene.clock.advance((toFebruary - toMidnight) * 1000);
    assertEquals(codes(await scene.askTimes(3)), [200, 200, 429]);
  });

  it("is reported by its soonest opening, of several", async () => {
    const providers = { a: { budget: { monthly_limit: 1 } }, b: { budget: { daily_limit: 1 } } };
    await using scene = await stage({ a, b }, tuned({ models: { a: dollar, b: dollar }, providers }));
    assertEquals(summarizeRefusal((await scene.askTimes(3)).at(-1)!), refusal(toMidnight));
  });

  it("is not reported when a model is in standby for another reason too", async () => {
    const pool = { ...noRetry, deactivation: { retry_limit: 1 } };
    const providers = { a: { budget: { daily_limit: 1 } } };
    await using scene = await stage(
      { a, b: status(500) },
      tuned({ models: { a: dollar, b: dollar }, providers, pool }),
    );
    const answers = await scene.askTimes(3);
    assertEquals(answers.map(({ status: code, error }) => error?.code ?? code), [
      200,
      "all_attempts_failed",
      "no_active_model",
    ]);
    assertEquals(answers[2]!.headers.get("retry-after"), "60");
  });

  it("is a fact about money, not about the model: cooldowns and probes do not open it", async () => {
    const pool = { budget: threeDollars, recovery: { cooldown: "10s" } };
    await using scene = await stage({ a }, tuned({ models: { a: dollar }, pool }));
    await scene.askTimes(3);
    await scene.clock.advance(3_600_000);
    assertEquals(summarizeRefusal(await scene.ask()), refusal(toMidnight - 3_600));
  });
});
