/** Requests wait while every model of their pool is at its limit: in order, for a bounded time, in a bounded number. */
import { assertEquals, assertMatch } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { type RateLimitError, routingOf, type RoutingRecord } from "../../mod.ts";
import { messages } from "../support/_library.ts";
import { type QueueScene, queueScene } from "../support/_queue.ts";
import { becomes } from "../support/patience.ts";

const numbers = (count: number) => Array.from({ length: count }, (_, index) => `${index + 1}`);
const single = { limits: { a: { concurrent: 1 } } };

/** Ends calls, the oldest first, until none is in progress. Returns the texts in the order in which they were served. */
async function serveAll(scene: QueueScene): Promise<string[]> {
  for (;;) {
    const [call] = scene.calls.open;
    if (call === undefined) return scene.calls.texts;
    call.respond();
    await scene.clock.advance(0);
  }
}

/** Sends requests in one turn, the first of which occupies the only place. */
async function occupied(tuning: Parameters<typeof queueScene>[0], texts: readonly string[]) {
  const scene = await queueScene(tuning);
  const answers = texts.map((text) => scene.ask(text));
  await scene.becomes(1, texts.length - 1);
  return { scene, answers, [Symbol.asyncDispose]: () => scene[Symbol.asyncDispose]() };
}

function readRecord({ records }: QueueScene): RoutingRecord {
  return records.filter((record) => record.type === "routing").at(-1)!;
}

describe("50 requests begun in one turn to a model that takes two at once", () => {
  it("are all served, in order, never more than two at once", async () => {
    await using scene = await queueScene({ limits: { a: { concurrent: 2 } } });
    const answers = numbers(50).map((text) => scene.ask(text));
    await scene.becomes(2, 48);
    assertEquals(await serveAll(scene), numbers(50));
    assertEquals(await Promise.all(answers), numbers(50));
    assertEquals([scene.calls.peak, scene.waiting, scene.calls.open.length], [2, 0, 0]);
  });

  it("are refused at once without a queue", async () => {
    await using scene = await queueScene({ limits: { a: { concurrent: 2 } }, pool: { queue: undefined } });
    const answers = numbers(50).map((text) => scene.ask(text));
    await becomes(() => scene.calls.open.length, 2);
    await serveAll(scene);
    assertEquals((await Promise.all(answers)).filter((answer) => answer === "rate_limit_exceeded").length, 48);
    assertEquals(scene.waiting, undefined);
  });
});

describe("A request waits", () => {
  it("for the slot that is free first, of several models", async () => {
    await using scene = await queueScene({ limits: { a: { concurrent: 1 }, b: { concurrent: 1 } } });
    const answers = ["1", "2", "3"].map((text) => scene.ask(text));
    await scene.becomes(2, 1);
    scene.calls.open.find(({ model }) => model === "b")!.respond();
    await becomes(() => scene.calls.all.at(-1)!.model + scene.calls.all.at(-1)!.text, "b3");
    await serveAll(scene);
    assertEquals(await Promise.all(answers), ["1", "2", "3"]);
  });

  it("until a window of its model has room, by one timer at that time", async () => {
    await using scene = await queueScene({ limits: { a: { rpm: 2 } }, queue: { max_wait: "5m" } });
    const answers = numbers(5).map((text) => scene.ask(text));
    await scene.becomes(2, 3);
    scene.calls.open[0]!.respond();
    await scene.clock.advance(59_000);
    assertEquals([scene.calls.texts, scene.waiting], [["1", "2"], 3]);
    await scene.clock.advance(2_000);
    assertEquals([scene.calls.texts, scene.waiting], [["1", "2", "3", "4"], 1]);
    await scene.clock.advance(61_000);
    await serveAll(scene);
    assertEquals(await Promise.all(answers), numbers(5));
    assertEquals(scene.clock.pending, 0);
  });

  it("for the spacing of requests, however long it is", async () => {
    const pool = { rate_limit: { min_delta: "20s" } };
    await using scene = await queueScene({ limits: { a: {} }, queue: { max_wait: "1m" }, pool });
    const answers = numbers(3).map((text) => scene.ask(text));
    await scene.becomes(1, 2);
    await scene.clock.advance(19_999);
    assertEquals(scene.calls.texts, ["1"]);
    await scene.clock.advance(1);
    assertEquals(scene.calls.texts, ["1", "2"]);
    await scene.clock.advance(20_000);
    await serveAll(scene);
    assertEquals(await Promise.all(answers), numbers(3));
  });

  it("until a rate limit that the provider has reported ends, one at a time until it serves", async () => {
    const pool = { retry: { max_attempts: 0 } };
    await using scene = await queueScene({ limits: { a: {} }, pool });
    const first = scene.ask("1");
    await becomes(() => scene.calls.open.length, 1);
    scene.calls.open[0]!.fail("rate_limited", 20_000);
    assertEquals(await first, "rate_limit_exceeded");
    const answers = ["2", "3", "4"].map((text) => scene.ask(text));
    await becomes(() => scene.waiting, 3);
    await scene.clock.advance(19_999);
    assertEquals(scene.waiting, 3);
    await scene.clock.advance(1);
    assertEquals([scene.calls.open.length, scene.waiting], [1, 2]);
    await serveAll(scene);
    assertEquals(await Promise.all(answers), ["2", "3", "4"]);
  });

  it("for the retry of its own call, before those that came later", async () => {
    const pool = { retry: { max_attempts: 1, backoff: "fixed", initial_delay: "1s" } };
    await using test = await occupied({ ...single, pool }, ["1", "2", "3"]);
    const { scene, answers } = test;
    scene.calls.open[0]!.fail("server");
    await becomes(() => scene.calls.open[0]?.text, "2");
    await scene.clock.advance(1_000);
    assertEquals(scene.waiting, 2);
    assertEquals(await serveAll(scene), ["1", "2", "1", "3"]);
    assertEquals(await Promise.all(answers), ["1", "2", "3"]);
  });

  for (const [kind, code] of [["server", "overloaded"], ["request", "invalid_value"]] as const) {
    it(`until a request of another pool has failed: ${kind}`, async () => {
      await using scene = await queueScene({ ...single, pool: { retry: { max_attempts: 0 } } });
      const answers = [scene.ask("1", { pool: "other" }), scene.ask("2")];
      await scene.becomes(1, 1);
      scene.calls.open[0]!.fail(kind);
      assertEquals(await answers[0], code);
      await becomes(() => scene.calls.open[0]?.text, "2");
      await serveAll(scene);
      assertEquals(await answers[1], "2");
    });
  }

  it("until an operator activates another model, or deactivates the last one", async () => {
    await using scene = await queueScene({ limits: { a: { concurrent: 1 }, b: { concurrent: 1 } } });
    const { mesh } = scene.client;
    await mesh.ready();
    mesh.deactivate("b");
    const answers = ["1", "2", "3"].map((text) => scene.ask(text));
    await scene.becomes(1, 2);
    mesh.activate("b");
    await becomes(() => scene.calls.all.map(({ model, text }) => model + text).join(), "a1,b2");
    mesh.deactivate("a");
    mesh.deactivate("b");
    assertEquals(await answers[2], "no_active_model");
    await serveAll(scene);
    assertEquals(await Promise.all(answers.slice(0, 2)), ["1", "2"]);
  });

  it("for none of its names but the last one", async () => {
    const limits = { a: { concurrent: 1 }, b: { concurrent: 1 } };
    await using scene = await queueScene({ limits, members: { chat: ["a"], other: ["b"] } });
    const send = (content: string) =>
      scene.client.chat.completions.create({ model: "chat", models: ["other"], messages: [{ role: "user", content }] });
    const answers = ["1", "2", "3"].map(send);
    await becomes(() => scene.client.mesh.poolStatus().other!.waiting, 1);
    assertEquals([scene.calls.all.map(({ model }) => model), scene.waiting], [["a", "b"], 0]);
    await serveAll(scene);
    assertEquals((await Promise.all(answers)).map(({ model }) => model).length, 3);
  });

  it("is refused for what it did not wait for, if its last name does not exist", async () => {
    await using scene = await queueScene(single);
    const others = ["1", "2"].map((text) => scene.ask(text));
    await scene.becomes(1, 1);
    const request = { model: "chat", models: ["missing"], messages: [{ role: "user" as const, content: "2" }] };
    const error = await scene.client.chat.completions.create(request).catch((error) => error);
    assertEquals([error.code, error.retryAfterMs], ["rate_limit_exceeded", 1_000]);
    await serveAll(scene);
    await Promise.all(others);
  });

  it("is answered with the empty response of a model if it waits for another one in vain", async () => {
    const limits = { a: {}, b: { concurrent: 1 } };
    await using scene = await queueScene({
      limits,
      queue: { max_wait: "5s" },
      members: { chat: ["a", "b"], other: ["b"] },
    });
    const busy = scene.ask("busy", { pool: "other" });
    await scene.becomes(1, 0);
    const empty = scene.ask("");
    await scene.becomes(2, 0);
    scene.calls.open[1]!.respond();
    await scene.becomes(1, 1);
    await scene.clock.advance(5_000);
    assertEquals([await empty, scene.records.at(-1)!.type, scene.waiting], ["", "routing", 0]);
    await serveAll(scene);
    await busy;
  });

  it("neither for a model in standby nor for a budget", async () => {
    const pool = { retry: { max_attempts: 0 }, deactivation: { retry_limit: 1 } };
    await using scene = await queueScene({ limits: { a: { concurrent: 1 } }, pool });
    const answers = [scene.ask("1"), scene.ask("2")];
    await scene.becomes(1, 1);
    scene.calls.open[0]!.fail("server");
    assertEquals(await Promise.all(answers), ["overloaded", "no_active_model"]);
    assertEquals(await scene.ask("3"), "no_active_model");
    await using poor = await queueScene({
      limits: { a: { concurrent: 1 } },
      pool: { budget: { daily_limit: 0.1 } },
      model: { pricing: { input: 0, output: 0, per_request: 0.1 } },
    });
    const [paid, unpaid] = [poor.ask("1"), poor.ask("2")];
    await poor.becomes(1, 1);
    poor.calls.open[0]!.respond();
    assertEquals(await Promise.all([paid, unpaid]), ["1", "budget_exceeded"]);
  });
});

describe("The order of waiting requests", () => {
  it("is that of their priorities, then that of their arrival", async () => {
    await using scene = await queueScene({ ...single, queue: { priority: 5 } });
    const answers = [
      scene.ask("first"),
      scene.ask("usual 1"),
      scene.ask("low", { route: { priority: 0 } }),
      scene.ask("high", { headers: { "x-mesh-priority": "9" } }),
      scene.ask("usual 2", { route: { priority: 5 } }),
    ];
    await scene.becomes(1, 4);
    assertEquals(await serveAll(scene), ["first", "high", "usual 1", "usual 2", "low"]);
    await Promise.all(answers);
  });

  it("does not let a small request pass a large one that waits for the same model", async () => {
    await using scene = await queueScene({ limits: { a: { tpm: 1_000 } }, queue: { max_wait: "2m" } });
    const send = (content: string, max_tokens: number) =>
      scene.client.chat.completions.create({ model: "chat", messages: [{ role: "user", content }], max_tokens });
    const answers = [send("1", 500), send("large", 900), send("small", 10)];
    await scene.becomes(1, 2);
    await scene.clock.advance(62_000);
    assertEquals(scene.calls.texts.slice(0, 2), ["1", "large"]);
    await serveAll(scene);
    await Promise.all(answers);
    assertEquals(scene.calls.texts, ["1", "large", "small"]);
  });

  it("lets a request pass those that wait for other models", async () => {
    await using scene = await queueScene({ limits: { a: { concurrent: 1 }, b: { concurrent: 1 } } });
    const answers = ["1", "2", "3"].map((text) => scene.ask(text, { route: { only: ["a"] } }));
    await scene.becomes(1, 2);
    answers.push(scene.ask("4"));
    await becomes(() => scene.calls.texts.join(), "1,4");
    await serveAll(scene);
    assertEquals(await Promise.all(answers), numbers(4));
  });
});

describe("Pools over one model", () => {
  it("get its slots in turns", async () => {
    await using test = await occupied(single, ["1", "2", "3", "4"]);
    const { scene, answers } = test;
    answers.push(scene.ask("other 1", { pool: "other" }), scene.ask("other 2", { pool: "other" }));
    await becomes(() => scene.client.mesh.poolStatus().other!.waiting, 2);
    assertEquals(await serveAll(scene), ["1", "2", "other 1", "3", "other 2", "4"]);
    await Promise.all(answers);
  });
});

describe("A wait ends", () => {
  it("at max_wait with 429 and the time at which the model may be free", async () => {
    await using test = await occupied({ ...single, queue: { max_wait: "5s" } }, ["1", "2"]);
    const { scene, answers } = test;
    await scene.clock.advance(4_999);
    assertEquals(scene.waiting, 1);
    await scene.clock.advance(1);
    assertEquals([await answers[1], scene.waiting], ["rate_limit_exceeded", 0]);
    const { status, queued_ms, attempts } = readRecord(scene);
    assertEquals([status, queued_ms, attempts], [429, 5_000, 0]);
    await serveAll(scene);
    assertEquals(await answers[0], "1");
  });

  it("as soon as the models are known to be free too late, with that time", async () => {
    await using scene = await queueScene({ limits: { a: { rpm: 1 } }, queue: { max_wait: "30s" } });
    const first = scene.ask("1");
    await becomes(() => scene.calls.open.length, 1);
    await scene.clock.advance(10_000);
    const error = scene.client.chat.completions.create({ model: "chat", messages }).catch((error) => error);
    await becomes(() => scene.waiting, 1);
    scene.calls.open[0]!.respond(); // nothing is left that may free anything earlier
    const { message, retryAfterMs } = await error as RateLimitError;
    assertMatch(message, /^Every model of the pool "chat" is at its limit, for longer than .* 30s \(queue.max_wait\)$/);
    assertEquals([await first, retryAfterMs! > 50_000 && retryAfterMs! <= 51_000], ["1", true]);
  });

  it("at max_wait also in a suspended process, unless a place became free in time meanwhile", async () => {
    for (const [freedAfterMs, second] of [[4_000, "2"], [6_000, "rate_limit_exceeded"]] as const) {
      await using test = await occupied({ ...single, queue: { max_wait: "5s" } }, ["1", "2"]);
      const { scene: { clock, calls }, answers } = test;
      clock.after(freedAfterMs, () => calls.open[0]!.respond());
      clock.suspend(10_000);
      await clock.advance(0);
      await serveAll(test.scene);
      assertEquals(await Promise.all(answers), ["1", second]);
    }
  });

  it("at the deadline of the request", async () => {
    await using scene = await queueScene({ ...single, queue: { max_wait: "1m" } });
    const answers = [scene.ask("1"), scene.ask("2", { timeout: 3_000 })];
    await scene.becomes(1, 1);
    await scene.clock.advance(3_000);
    assertEquals([await answers[1], scene.waiting], ["timeout", 0]);
    await serveAll(scene);
  });

  it("at once when its client leaves, and nothing is left of it", async () => {
    await using test = await occupied(single, ["1"]);
    const { scene, answers } = test;
    const clients = numbers(10).map(() => new AbortController());
    const left = clients.map(({ signal }, index) => scene.ask(`left ${index}`, { signal }));
    const last = scene.ask("last");
    await scene.becomes(1, 11);
    for (const client of clients) client.abort();
    assertEquals(new Set(await Promise.all(left)), new Set(["AbortError"]));
    assertEquals(scene.waiting, 1);
    assertEquals(await serveAll(scene), ["1", "last"]);
    assertEquals(await Promise.all([...answers, last]), ["1", "last"]);
    assertEquals([scene.waiting, scene.clock.pending], [0, 0]);
    const again = [scene.ask("again"), scene.ask("and again")];
    await scene.becomes(1, 1);
    await serveAll(scene);
    assertEquals(await Promise.all(again), ["again", "and again"]);
  });

  it("when its client leaves in the turn in which it would be served", async () => {
    await using test = await occupied(single, ["1"]);
    const { scene } = test;
    const client = new AbortController();
    const left = scene.ask("2", { signal: client.signal });
    await scene.becomes(1, 1);
    const last = scene.ask("3");
    await scene.becomes(1, 2);
    scene.calls.open[0]!.respond();
    client.abort();
    assertEquals(await left, "AbortError");
    await becomes(() => scene.calls.open[0]?.text, "3");
    await serveAll(scene);
    assertEquals(await last, "3");
  });

  it("when the client of the library is closed", async () => {
    const { scene, answers } = await occupied(single, ["1", "2"]);
    await scene.client.close();
    assertEquals(await answers[1], "shutting_down");
    scene.calls.open[0]!.respond();
    assertEquals(await answers[0], "1");
  });
});

describe("A full queue", () => {
  it("refuses further requests with 429, and never has more than max_length", async () => {
    await using test = await occupied({ ...single, queue: { max_length: 2 } }, ["1", "2", "3"]);
    const { scene, answers } = test;
    assertEquals(await Promise.all(["4", "5"].map((text) => scene.ask(text))), Array(2).fill("rate_limit_exceeded"));
    const { queued_ms, status } = readRecord(scene);
    assertEquals([queued_ms, status, scene.waiting], [undefined, 429, 2]);
    await serveAll(scene);
    assertEquals(await Promise.all(answers), ["1", "2", "3"]);
  });

  it("refuses the newest of the lowest priority instead", async () => {
    await using test = await occupied({ ...single, queue: { max_length: 2 } }, ["1", "2", "3"]);
    const { scene, answers } = test;
    const high = scene.ask("high", { route: { priority: 1 } });
    assertEquals(await answers[2], "rate_limit_exceeded");
    assertEquals(await serveAll(scene), ["1", "high", "2"]);
    assertEquals(await high, "high");
  });
});

describe("The wait of a request", () => {
  it("is in its record, and does not count as overhead", async () => {
    await using test = await occupied(single, ["1"]);
    const { scene } = test;
    const response = scene.client.chat.completions.create({ model: "chat", messages });
    await scene.becomes(1, 1);
    await scene.clock.advance(2_000);
    scene.calls.open[0]!.respond();
    await becomes(() => scene.calls.all.length, 2);
    await serveAll(scene);
    const { queued_ms, routing_latency_ms } = routingOf(await response)!;
    assertEquals([queued_ms, routing_latency_ms], [2_000, 0]);
    assertEquals(scene.records.filter((record) => record.type === "routing")[0]!.queued_ms, undefined);
  });

  it("is announced by explain", async () => {
    await using test = await occupied(single, ["1", "2"]);
    const { scene, answers } = test;
    const explain = async () => (await scene.client.explain({ model: "chat", messages })).queue;
    assertEquals(await explain(), { waiting: 1, wouldWait: true });
    await serveAll(scene);
    assertEquals(await explain(), { waiting: 0, wouldWait: false });
    await Promise.all(answers);
  });

  it("has a priority from 0 to 100", async () => {
    await using scene = await queueScene(single);
    for (const priority of ["-1", "101", "1.5", "high", ""]) {
      assertEquals(await scene.ask("1", { headers: { "x-mesh-priority": priority } }), "invalid_value", priority);
    }
    for (const priority of [-1, 101, 1.5, "high" as never]) {
      assertEquals(await scene.ask("1", { route: { priority } }), "invalid_value");
    }
  });
});
