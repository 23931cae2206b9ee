/** Money is reserved when a request is sent and settled when it is answered: requests at once do not overspend. */
import { assert, assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { behind, breathe, letGo, type Seen, soon, type Stage, stage } from "../support/_failover.ts";
import { tally, tuned } from "../support/_tuned.ts";
import { Gate, hang, ok, status, stream } from "../support/upstream.ts";

const dollar = { pricing: { input: 0, output: 0, per_request: 1 } };
/** A dollar for each token written, nothing for those read. */
const dollarPerToken = { pricing: { input: 0, output: 1_000_000 } };
const written = (tokens: number) =>
  ok({ text: "from a", usage: { prompt_tokens: 5, completion_tokens: tokens, total_tokens: 5 + tokens } });
const daily = (limit: number) => ({ providers: { a: { budget: { daily_limit: limit } } } });

/** 50 requests at once; those that were sent are held until `sent` of them are, then let go. */
function atOnce(scene: Stage, gate: Gate, { sent, body = {} }: { sent: number; body?: object }): Promise<Seen[]> {
  return letGo(Array.from({ length: 50 }, () => scene.ask({ ...body })), gate, sent);
}

describe("50 requests at once under a budget", () => {
  it("of which 3 fit: 3 are sent, the others go to models outside the limit", async () => {
    const gate = new Gate();
    const cast = { a: behind(gate, written(1)), b: behind(gate, ok({ text: "from b" })) };
    await using scene = await stage(cast, tuned({ models: { a: dollar, b: dollar }, ...daily(3) }));
    const answers = await atOnce(scene, gate, { sent: 50 });
    assertEquals(tally(answers.map(({ text }) => text)), { "from a": 3, "from b": 47 });
    assertEquals(scene.calls, { a: 3, b: 47 });
  });

  it("of which 3 fit, and there is no other model: the others are refused", async () => {
    const gate = new Gate();
    await using scene = await stage({ a: behind(gate, written(1)) }, tuned({ models: { a: dollar }, ...daily(3) }));
    const answers = await atOnce(scene, gate, { sent: 3 });
    assertEquals(tally(answers.map(({ status: code, error }) => error?.code ?? code)), { 200: 3, budget_exceeded: 47 });
    const refused = answers.find(({ status: code }) => code === 429)!;
    assertEquals([refused.headers.get("retry-after"), refused.headers.get("x-should-retry")], ["21600", "false"]);
    assertEquals(scene.calls, { a: 3 });
  });

  it("of a pool and one over all, the tighter of which counts", async () => {
    const gate = new Gate();
    const tuning = { pool: { budget: { daily_limit: 7 } }, config: { budget: { daily_limit: 5 } } };
    await using scene = await stage({ a: behind(gate, written(1)) }, tuned({ models: { a: dollar }, ...tuning }));
    await atOnce(scene, gate, { sent: 5 });
    assertEquals(scene.calls, { a: 5 });
  });

  it("overshoot by what they write beyond their own limit, and by no more", async () => {
    const gate = new Gate();
    const scene = await stage(
      { a: behind(gate, written(15)) },
      tuned({ models: { a: dollarPerToken }, ...daily(100) }),
    );
    await using _ = scene;
    const answers = await atOnce(scene, gate, { sent: 10, body: { max_tokens: 10 } });
    assertEquals(scene.calls, { a: 10 }); // 10 × 10 reserved; 10 × 15 spent
    assertEquals(tally(answers.map(({ status: code }) => code)), { 200: 10, 429: 40 });
    assertEquals((await scene.ask({ max_tokens: 1 })).error!.code, "budget_exceeded");
  });

  it("give back what they did not need", async () => {
    const gate = new Gate();
    const scene = await stage({ a: behind(gate, written(5)) }, tuned({ models: { a: dollarPerToken }, ...daily(100) }));
    await using _ = scene;
    await atOnce(scene, gate, { sent: 10, body: { max_tokens: 10 } });
    // 50 of 100 are spent: at 10 each, five more may be under way at once; one after the other, more
    const answers: number[] = [];
    while (answers.length < 11) answers.push((await scene.ask({ max_tokens: 10 })).status);
    assertEquals(answers, [...Array(9).fill(200), 429, 429]);
  });
});

describe("what a request costs a budget", () => {
  it("is what it read, from the cache and otherwise, and what it wrote", async () => {
    const usage = {
      prompt_tokens: 1_000,
      completion_tokens: 100,
      total_tokens: 1_100,
      prompt_tokens_details: { cached_tokens: 600, cache_write_tokens: 200 },
    };
    const pricing = { input: 1_000, output: 10_000, cached_input: 100, cache_write: 2_000 };
    await using scene = await stage({ a: ok({ usage }) }, tuned({ models: { a: { pricing } }, ...daily(2) }));
    // 200 × 0.001 + 600 × 0.0001 + 200 × 0.002 + 100 × 0.01 = 1.66 USD
    const first = await scene.ask({ max_tokens: 10 });
    assertEquals(first.headers.get("x-mesh-cost-usd"), "1.66");
    assertEquals((await scene.ask({ max_tokens: 50 })).error?.code, "budget_exceeded"); // 0.5 does not fit in 0.34
    assertEquals((await scene.ask({ max_tokens: 20 })).status, 200); // 0.2 does
  });

  it("is the reservation when the client leaves before the response", async () => {
    await using scene = await stage({ a: [hang(), written(1)] }, tuned({ models: { a: dollar }, ...daily(2) }));
    const controller = new AbortController();
    const left = scene.ask({}, { signal: controller.signal }).catch((error: Error) => error.name);
    const call = await scene.received("a");
    controller.abort();
    assertEquals(await left, "AbortError");
    await soon(call.closed);
    await breathe();
    assertEquals([(await scene.ask()).status, (await scene.ask()).status], [200, 429]);
  });

  it("is the usage at a stream's end, asked for although the client did not", async () => {
    const usage = { prompt_tokens: 5, completion_tokens: 60, total_tokens: 65 };
    await using scene = await stage({ a: stream({ usage }) }, tuned({ models: { a: dollarPerToken }, ...daily(100) }));
    const { chunks } = await scene.askStream({ max_tokens: 10 });
    assert(chunks.every((chunk) => chunk.usage === undefined || chunk.usage === null));
    assertEquals((await scene.received("a")).json().stream_options, { include_usage: true });
    assertEquals((await scene.ask({ max_tokens: 41 })).error?.code, "budget_exceeded");
    assertEquals((await scene.askStream({ max_tokens: 40 })).status, 200);
  });

  it("is nothing for the models that failed on the way", async () => {
    const tuning = {
      models: { a: dollar, b: dollar },
      pool: { budget: { daily_limit: 2 }, deactivation: { retry_limit: 9 } },
    };
    await using scene = await stage({ a: status(500), b: ok() }, tuned(tuning));
    const answers = await scene.askTimes(3);
    assertEquals(answers.map(({ status: code }) => code), [200, 200, 429]);
    assertEquals(scene.calls.b, 2);
  });

  it("is counted where its money was reserved: a response after midnight is yesterday's", async () => {
    const gate = new Gate();
    await using scene = await stage({ a: behind(gate, written(1)) }, tuned({ models: { a: dollar }, ...daily(1) }));
    const first = scene.ask({}, { headers: { "content-type": "application/json" } });
    await scene.received("a");
    scene.clock.jumpWallTime(6 * 3_600_000);
    gate.openAll();
    assertEquals((await first).status, 200);
    assertEquals([(await scene.ask()).status, (await scene.ask()).status], [200, 429]);
  });

  it("of one that would not fit is refused without a standby: a smaller one is still served", async () => {
    await using scene = await stage({ a: written(10) }, tuned({ models: { a: dollarPerToken }, ...daily(100) }));
    assertEquals((await scene.ask({ max_tokens: 101 })).error?.code, "budget_exceeded");
    assertEquals([scene.states(), scene.events], [{ a: "active" }, []]);
    assertEquals((await scene.ask({ max_tokens: 100 })).status, 200);
  });
});
