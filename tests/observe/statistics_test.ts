import { assertEquals } from "@std/assert";
import type { StatsMetrics, StatsRecord, StatsScope } from "../../src/contracts/events.ts";
import type { RequestResult } from "../../src/observe/hub_events.ts";
import type { Statistics } from "../../src/observe/statistics.ts";
import { seededRandom } from "../../src/runtime/test.ts";
import { Bench, listNames, minute, path, type Step } from "./_statistics.ts";

Deno.test("a request counts at its pool, at the model that answered, and as failed at those before it", () => {
  const table: readonly (readonly [
    name: string,
    steps: readonly Step[],
    outcome: RequestResult["outcome"],
    expected: Readonly<Record<string, string>>,
  ])[] = [
    ["answered at once", [["a@one", "ok"]], "success", {
      "pool chat": "1 1 0",
      "model a": "1 1 0",
      "provider one": "1 1 0",
    }],
    ["answered by another provider", [["a@one", "server_error"], ["b@two", "ok"]], "success", {
      "pool chat": "1 1 0",
      "model a": "1 0 1",
      "model b": "1 1 0",
      "provider one": "1 0 1",
      "provider two": "1 1 0",
    }],
    ["answered by another model of the provider", [["a@one", "server_error"], ["b@one", "ok"]], "success", {
      "pool chat": "1 1 0",
      "model a": "1 0 1",
      "model b": "1 1 0",
      "provider one": "1 1 0",
    }],
    ["answered by none", [["a@one", "timeout"], ["b@one", "timeout"], ["c@two", "auth"]], "failure", {
      "pool chat": "1 0 1",
      "model a": "1 0 1",
      "model b": "1 0 1",
      "model c": "1 0 1",
      "provider one": "1 0 1",
      "provider two": "1 0 1",
    }],
    ["never sent: all in standby", [], "failure", { "pool chat": "1 0 1" }],
    ["given up by the client", [["a@one", "timeout"], ["b@two", "aborted"]], "none", {
      "pool chat": "1 0 0",
      "model a": "1 0 1",
      "model b": "1 0 0",
      "provider one": "1 0 1",
      "provider two": "1 0 0",
    }],
    ["given up by the client midway through a stream", [["a@one", "ok"]], "none", {
      "pool chat": "1 0 0",
      "model a": "1 0 0",
      "provider one": "1 0 0",
    }],
    ["broken off midway through a stream", [["a@one", "ok"]], "failure", {
      "pool chat": "1 0 1",
      "model a": "1 0 1",
      "provider one": "1 0 1",
    }],
    ["over at its deadline", [["a@one", "aborted"]], "failure", { "pool chat": "1 0 1", "model a": "1 0 1" }],
    ["answered with nothing at first", [["a@one", "empty"], ["b@one", "timeout"], ["c@two", "ok"]], "success", {
      "model a": "1 0 0",
      "model b": "1 0 1",
      "model c": "1 1 0",
      "provider one": "1 0 1",
      "provider two": "1 1 0",
    }],
  ];
  for (const [name, steps, outcome, expected] of table) {
    const bench = new Bench();
    bench.statistics.addRequest(path(...steps), { outcome });
    for (const [record, counts] of Object.entries(expected)) assertEquals(bench.requests(record), counts, name);
    if (steps.length === 0) assertEquals(bench.statistics.records().length, 1, name);
  }
});

Deno.test("of two empty responses the first is returned, and is its model's success", () => {
  const bench = new Bench();
  const both = path(["a@one", "empty"], ["b@two", "empty"]);
  bench.statistics.addRequest({ ...both, model: "a", provider: "one" }, { outcome: "success" });
  assertEquals(["model a", "model b"].map((record) => bench.requests(record)), ["1 1 0", "1 0 0"]);
});

Deno.test("requests in a row to one provider count one by one", () => {
  const bench = new Bench();
  for (let count = 0; count < 3; count++) {
    bench.statistics.addRequest(path(["a@one", "timeout"], ["b@one", "timeout"]), { outcome: "failure" });
  }
  bench.statistics.addRequest(path(["a@one", "ok"]), { outcome: "success" });
  assertEquals(["provider one", "model a", "model b"].map((record) => bench.requests(record)), [
    "4 1 3",
    "4 1 3",
    "3 0 3",
  ]);
});

Deno.test("tokens and cost count at the model that used them, whatever the outcome", () => {
  const bench = new Bench();
  const steps = path(["a@one", "timeout"], ["b@two", "ok"]);
  bench.statistics.addRequest(steps, { outcome: "success", tokensIn: 10, tokensOut: 20, costNanoUsd: 1 });
  bench.statistics.addRequest(steps, { outcome: "failure", tokensIn: 1, tokensOut: 2, costNanoUsd: 2 });
  bench.statistics.addRequest(steps, { outcome: "none", tokensIn: 100 });
  for (const record of ["pool chat", "model b", "provider two"]) {
    assertEquals(bench.look(record, "tokens_in", "tokens_out", "cost_total"), [111, 22, 3e-9], record);
  }
  assertEquals(bench.look("model a", "tokens_in", "tokens_out", "cost_total"), [0, 0, 0]);
});

Deno.test("invalid numbers count as nothing", () => {
  const bench = new Bench();
  for (const junk of [NaN, -5, Infinity, "7" as unknown as number, undefined]) {
    bench.statistics.addRequest(path(["a@one", "ok"]), {
      outcome: "success",
      latencyMs: junk,
      tokensIn: junk,
      tokensOut: junk,
      costNanoUsd: junk,
    });
  }
  assertEquals(bench.look("pool chat", "requests_total", "tokens_in", "tokens_out", "cost_total"), [5, 0, 0, 0]);
});

Deno.test("ten thousand requests of 0.1 USD and one of a nano-dollar cost 1 000.000000001 USD", () => {
  const bench = new Bench();
  for (let count = 0; count < 10_000; count++) {
    bench.statistics.addRequest(path(["a@one", "ok"]), { outcome: "success", costNanoUsd: 1e8 });
  }
  bench.statistics.addRequest(path(["a@one", "ok"]), { outcome: "success", costNanoUsd: 1 });
  assertEquals(bench.look("pool chat", "cost_total"), [1000.000000001]);
});

Deno.test("a pool's latency is the client's, a model's the time spent on it, both of answered requests", () => {
  const bench = new Bench();
  bench.statistics.addRequest(path(["a@one", "timeout"], ["b@two", "ok"]), { outcome: "success", latencyMs: 250 });
  const slow = path(["b@two", "ok"]);
  const slower = { ...slow, fallback_chain: slow.fallback_chain.map((step) => ({ ...step, ms: 9000 })) };
  for (const outcome of ["failure", "none"] as const) bench.statistics.addRequest(slower, { outcome, latencyMs: 9000 });
  assertEquals(bench.look("pool chat", "latency_avg", "latency_p95"), [250, 250]);
  assertEquals(bench.look("model b", "latency_avg", "latency_p95"), [100, 100]);
  assertEquals(bench.look("provider two", "latency_avg", "latency_p95"), [100, 100]);
  assertEquals(bench.look("model a", "latency_avg", "latency_p95"), [null, null]);
});

Deno.test("a rotation counts at its pool and at the model it leaves", () => {
  const bench = new Bench("chat/a@one", "chat/b@two");
  bench.statistics.addRotation("chat", listNames("a@one"));
  const records = ["pool chat", "model a", "provider one", "model b", "provider two"];
  assertEquals(records.flatMap((record) => bench.look(record, "rotation_events")), [1, 1, 1, 0, 0]);
});

Deno.test("a window begins with the statistics; a wall clock set back empties it, and takes no downtime", async () => {
  const bench = new Bench("chat/a@one");
  bench.standby("chat/a@one");
  await bench.clock.advance(minute);
  const [record] = bench.statistics.records();
  assertEquals(record?.window, { from: "2026-01-01T00:00:00.000Z", to: "2026-01-01T00:01:00.000Z" });
  assertEquals(record?.timestamp, record?.window.to);
  bench.clock.jumpWallTime(-24 * 60 * minute);
  const [later] = bench.statistics.records();
  assertEquals(later?.window, { from: "2026-01-01T00:00:00.000Z", to: "2026-01-01T00:00:00.000Z" });
  assertEquals(later?.downtime_total, minute);
});

Deno.test("records are plain JSON, `type` first, in the order of the configuration", () => {
  const bench = new Bench("chat/z@two", "chat/a@one", "ask/a@one");
  bench.statistics.addRequest(path(["a@one", "ok"]), { outcome: "success", latencyMs: 5 });
  bench.statistics.addRequest(path(["new@two", "ok"]), { outcome: "success", latencyMs: 5 });
  const records = bench.statistics.records();
  assertEquals(JSON.parse(JSON.stringify(records)), records);
  for (const record of records) {
    assertEquals(Object.keys(record).slice(0, 5), ["type", "timestamp", "scope", "id", "window"]);
    assertEquals(Object.keys(record).length, 5 + 12);
  }
  const order = (all: readonly StatsRecord[]) => all.map(({ scope, id }) => `${scope} ${id}`);
  assertEquals(order(records), [
    "model z",
    "model a",
    "model new",
    "provider two",
    "provider one",
    "pool chat",
    "pool ask",
  ]);
  assertEquals(order(bench.statistics.records()), order(records));
});

Deno.test("a model, a provider and a pool of one name are three", () => {
  const bench = new Bench();
  bench.statistics.addRequest({ ...path(["x@x", "ok"]), pool: "x" }, { outcome: "success", tokensIn: 4 });
  bench.statistics.addRotation("x", listNames("y@__proto__"));
  assertEquals(["model x", "provider x", "pool x"].flatMap((record) => bench.look(record, "tokens_in")), [4, 4, 4]);
  assertEquals(bench.look("provider __proto__", "rotation_events"), [1]);
});

Deno.test("in a single pool, models and providers add up to the pool, but for those a request had to leave", async () => {
  const members = ["chat/a@one", "chat/b@one", "chat/c@two", "chat/d@three"];
  for (let seed = 1; seed <= 50; seed++) {
    const random = seededRandom(seed);
    const pick = <T>(all: readonly T[]): T => all[Math.floor(random() * all.length)]!;
    const bench = new Bench(...members);
    const up = new Set(members);
    for (let count = 0; count < 200; count++) {
      await bench.clock.advance(Math.floor(random() * 1000));
      const member = pick(members);
      if (random() < 0.2) up.delete(member) ? bench.standby(member) : up.add(member) && bench.active(member);
      else requestAtRandom(bench.statistics, random, pick);
    }
    const records = bench.statistics.records();
    const sum = (scope: StatsScope, name: keyof StatsMetrics) =>
      records.filter((record) => record.scope === scope).reduce((total, record) => total + Number(record[name]), 0);
    for (const name of ["requests_success", "tokens_in", "tokens_out", "rotation_events", "standby_events"] as const) {
      assertEquals([sum("model", name), sum("provider", name)], Array(2).fill(sum("pool", name)), `${seed} ${name}`);
    }
    const nano = (scope: StatsScope) => Math.round(sum(scope, "cost_total") * 1e9);
    assertEquals([nano("model"), nano("provider")], [nano("pool"), nano("pool")]);
    const left = sum("pool", "rotation_events");
    assertEquals(sum("model", "requests_total"), sum("pool", "requests_total") + left, `seed ${seed}`);
    assertEquals(sum("model", "requests_failed"), sum("pool", "requests_failed") + left, `seed ${seed}`);
    for (const { id, ...record } of records) {
      assertEquals(
        record.requests_success + record.requests_failed <= record.requests_total,
        true,
        `seed ${seed} ${id}`,
      );
      assertEquals(record.downtime_total <= bench.clock.monotonic(), true, `seed ${seed} ${id}`);
    }
    assertEquals(sum("pool", "downtime_total") <= sum("model", "downtime_total") / members.length, true);
  }
});

/** A request that some models fail, and then one answers, breaks off or is given up; reported as the engine does. */
function requestAtRandom(
  statistics: Statistics,
  random: () => number,
  pick: <T>(all: readonly T[]) => T,
): void {
  const models = ["a@one", "b@one", "c@two", "d@three"].filter(() => random() < 0.5);
  if (models.length === 0) models.push("a@one");
  const outcome = pick(["success", "failure", "none"] as const);
  const steps = models.map((at, place): Step => [at, place === models.length - 1 ? "ok" : "timeout"]);
  for (const at of models.slice(0, -1)) statistics.addRotation("chat", listNames(at));
  statistics.addRequest(path(...steps), {
    outcome,
    latencyMs: random() * 5000,
    tokensIn: Math.floor(random() * 1000),
    tokensOut: Math.floor(random() * 1000),
    costNanoUsd: Math.floor(random() * 1e7),
  });
}
