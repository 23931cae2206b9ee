/** The minimum rate of a stream: a slower one rotates before it commits, and only counts against its model after that. */
import { assertEquals, assertMatch } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { after, isOpen, soon, type Stage, stage, type StageOptions } from "../support/_failover.ts";
import { fakeClock } from "../support/_library.ts";
import { type HeldStream, holdOpen, stream } from "../support/upstream.ts";

const fromB = stream({ pieces: ["from", " b"] });
const word = (text: string, finish_reason: string | null = null) => {
  const choices = [{ index: 0, delta: { content: text }, finish_reason }];
  return `data: ${JSON.stringify({ id: "1", object: "chat.completion.chunk", created: 1, model: "a", choices })}\n\n`;
};
const end = `${word("", "stop")}data: [DONE]\n\n`;

/** At least two tokens per second, one failure to standby. */
const limited = (pool: object = {}): StageOptions => ({
  pool: { deactivation: { retry_limit: 1 }, ...pool },
  provider: (id) => id === "a" ? { execution: { min_rate: 2 } } : {},
  clock: fakeClock(),
});

/** Sends words, a second apart. */
async function speak(scene: Stage, a: HeldStream, counts: readonly number[]): Promise<void> {
  for (const count of counts) {
    await scene.clock.advance(1_000);
    if (count > 0) await a.send(word("go ").repeat(count));
    await isOpen(Promise.resolve());
  }
}

async function start(options: StageOptions, cast = { b: fromB }) {
  const a = holdOpen();
  const scene = await stage({ a, ...cast }, options);
  const answer = scene.proxy.chat({ stream: true });
  await scene.received("a");
  await isOpen(answer);
  await a.send(word("go"));
  await isOpen(answer); // it arrives
  return { a, scene, answer };
}

describe("a stream below the minimum rate, which has committed", () => {
  it("reaches its end, and counts as one failure of its model", async () => {
    const { a, scene, answer } = await start(limited());
    await using _ = scene;
    const text = (await soon(answer)).text();
    await speak(scene, a, Array(12).fill(1));
    await a.send(end);
    assertMatch(await soon(text), /\[DONE\]\n\n$/);
    assertEquals([scene.calls, scene.states().a], [{ a: 1, b: 0 }, "retry_limit for 60s"]);
    assertEquals(scene.routing.fallback_chain.map(({ outcome }) => outcome), ["min_rate"]);
    assertEquals([scene.routing.status, scene.routing.code], [200, undefined]);
    assertEquals((await scene.askStream()).route, "b 1/0");
  });

  it("counts neither if it is fast enough, nor if it is over before it can be measured", async () => {
    for (const counts of [Array(15).fill(3), Array(9).fill(1), [20, ...Array(9).fill(0)]]) {
      const { a, scene, answer } = await start(limited());
      await using _ = scene;
      const text = (await soon(answer)).text();
      await speak(scene, a, counts);
      await a.send(end);
      await soon(text);
      assertEquals([scene.states().a, scene.routing.fallback_chain[0]!.outcome], ["active", "ok"]);
    }
  });

  it("is measured over the last ten seconds, not over all", async () => {
    const { a, scene, answer } = await start(limited());
    await using _ = scene;
    const text = (await soon(answer)).text();
    await speak(scene, a, [90, ...Array(13).fill(1)]);
    await a.send(end);
    await soon(text);
    assertEquals(scene.routing.fallback_chain[0]!.outcome, "min_rate");
  });

  it("does not count if its client leaves, and leaves no timer", async () => {
    const a = holdOpen();
    await using scene = await stage({ a, b: fromB }, limited());
    const controller = new AbortController();
    const answer = scene.proxy.chat({ stream: true }, { signal: controller.signal });
    await scene.received("a");
    await isOpen(answer);
    await a.send(word("go"));
    const text = (await soon(answer)).text().catch((error: Error) => error.name);
    await speak(scene, a, Array(12).fill(1));
    controller.abort();
    assertEquals(await soon(text), "AbortError");
    await soon(scene.upstreams.a!.received(1).then((call) => call.closed));
    assertEquals(scene.states().a, "active");
  });

  it("is not measured without the setting", async () => {
    const { a, scene, answer } = await start({ ...limited(), provider: {} });
    await using _ = scene;
    const text = (await soon(answer)).text();
    await speak(scene, a, Array(12).fill(1));
    await a.send(end);
    await soon(text);
    assertEquals(scene.routing.fallback_chain[0]!.outcome, "ok");
  });
});

describe("a stream below the minimum rate, which is held until it is complete", () => {
  const held = limited({ commit: "complete" });

  it("goes to the next model, with the setting in the record", async () => {
    const { a, scene, answer } = await start({ ...held, clock: fakeClock() });
    await using _ = scene;
    const text = answer.then((response) => response.text());
    await speak(scene, a, Array(9).fill(1));
    assertEquals(scene.calls.b, 0);
    await after(scene.clock, 1_000, scene.received("b"));
    assertMatch(await soon(text), /from[^]* b[^]*\[DONE\]/);
    const [first] = scene.routing.fallback_chain;
    assertEquals([first!.outcome, scene.routing.rotation_reason, scene.states().a], [
      "min_rate",
      "min_rate",
      "retry_limit for 60s",
    ]);
    assertMatch(first!.error!, /less than 2 per second \(execution\.min_rate\)/);
  });

  it("reaches its end if there is no other model", async () => {
    const { a, scene, answer } = await start({ ...held, clock: fakeClock() }, {} as never);
    await using _ = scene;
    const text = answer.then((response) => response.text());
    await speak(scene, a, Array(14).fill(1));
    await a.send(end);
    assertMatch(await soon(text), /\[DONE\]\n\n$/);
    assertEquals([scene.calls, scene.routing.fallback_chain[0]!.outcome], [{ a: 1 }, "min_rate"]);
  });
});
