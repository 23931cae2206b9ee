/** `mesh.stats()`: how requests and standby change the numbers. */
import { assert, assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import type { StatsMetrics } from "../../mod.ts";
import { after, behind, type Stage, stage } from "../support/_failover.ts";
import { until } from "../support/patience.ts";
import { configured, dollar } from "../support/_transitions.ts";
import { Gate, hang, ok, status, stream } from "../support/upstream.ts";

const bad = status(500);
const b = ok({ text: "from b" });
const once = { retry: { max_attempts: 0 } };

/** Some metrics of `<scope> <id>`. */
function look({ proxy }: Pick<Stage, "proxy">, record: string, ...names: readonly (keyof StatsMetrics)[]) {
  const found = proxy.mesh.stats().find(({ scope, id }) => `${scope} ${id}` === record);
  return names.map((name) => found?.[name]);
}

/** Requests in all, answered and failed. */
function requests(scene: Stage, record: string): string {
  return look(scene, record, "requests_total", "requests_success", "requests_failed").join(" ");
}

describe("stats()", () => {
  it("is there from the start, with zeros, for everything configured", async () => {
    await using scene = await stage({ a: b, b });
    const records = scene.proxy.mesh.stats();
    assertEquals(records.map(({ scope, id }) => `${scope} ${id}`), [
      "model a",
      "model b",
      "provider a",
      "provider b",
      "pool chat",
    ]);
    assert(records.every(({ requests_total, latency_avg }) => requests_total === 0 && latency_avg === null));
    assertEquals(JSON.parse(JSON.stringify(records)), records);
  });

  it("counts a request, its tokens and its cost once for model, provider and pool", async () => {
    await using scene = await stage({ a: b }, (urls) => configured(urls, { model: dollar }));
    await scene.askTimes(3);
    for (const record of ["model a", "provider a", "pool chat"]) {
      assertEquals(requests(scene, record), "3 3 0");
      assertEquals(look(scene, record, "tokens_in", "tokens_out", "cost_total"), [30, 15, 3]);
    }
    assertEquals(requests(scene, "pool other"), "0 0 0");
  });

  it("counts a failover as a failure of the first model, a rotation, and one answered request of the pool", async () => {
    await using scene = await stage({ a: bad, b }, { pool: once });
    await scene.ask();
    assertEquals(["model a", "model b", "pool chat"].map((record) => requests(scene, record)), [
      "1 0 1",
      "1 1 0",
      "1 1 0",
    ]);
    const rotations = ["model a", "provider a", "model b", "pool chat"];
    assertEquals(rotations.map((record) => look(scene, record, "rotation_events")[0]), [1, 1, 0, 1]);
  });

  it("counts what no model serves as failed, whether models were asked or not", async () => {
    await using scene = await stage({ a: bad }, { pool: { ...once, deactivation: { retry_limit: 1 } } });
    await scene.ask(); // a fails and moves to standby
    assertEquals((await scene.ask()).error?.code, "no_active_model");
    assertEquals([requests(scene, "pool chat"), requests(scene, "model a")], ["2 0 2", "1 0 1"]);
  });

  it("measures up to the response, what a failed model took included for the pool alone", async () => {
    const gates = [new Gate(), new Gate()];
    const cast = { a: behind(gates[0]!, bad), b: behind(gates[1]!, b) };
    await using scene = await stage(cast, { pool: once });
    const answer = scene.ask();
    await scene.received("a");
    await scene.clock.advance(300);
    gates[0]!.open();
    await scene.received("b");
    await scene.clock.advance(200);
    gates[1]!.open();
    await answer;
    const latencies = ["model a", "model b", "pool chat"].map((record) => look(scene, record, "latency_avg")[0]);
    assertEquals(latencies, [null, 200, 500]);
  });

  it("counts a stream at its end, and its latency up to the first content", async () => {
    const gate = new Gate();
    await using scene = await stage({ a: stream({ gate }) });
    const answer = scene.proxy.chat({ stream: true });
    await scene.received("a");
    await scene.clock.advance(100);
    gate.open(3);
    const response = await answer; // its first content is there
    await scene.clock.advance(400);
    assertEquals(requests(scene, "pool chat"), "0 0 0");
    gate.openAll();
    await response.text();
    assertEquals(requests(scene, "pool chat"), "1 1 0");
    assertEquals(look(scene, "pool chat", "latency_avg", "tokens_in", "tokens_out"), [100, 10, 5]);
  });

  it("counts a stream that breaks off as failed", async () => {
    await using scene = await stage({ a: stream({ cut: { after: 1, how: "reset" } }) });
    await scene.askStream();
    assertEquals([requests(scene, "model a"), requests(scene, "pool chat")], ["1 0 1", "1 0 1"]);
  });

  it("counts what the client gives up neither as answered nor as failed", async () => {
    await using scene = await stage({ a: hang() });
    const controller = new AbortController();
    const answer = scene.ask({}, { signal: controller.signal }).catch(() => {});
    await scene.received("a");
    controller.abort();
    await answer;
    await until(() => requests(scene, "pool chat") !== "0 0 0");
    assertEquals([requests(scene, "model a"), requests(scene, "pool chat")], ["1 0 0", "1 0 0"]);
  });

  it("counts a deadline as failed", async () => {
    await using scene = await stage({ a: hang() });
    const answer = scene.ask();
    await scene.received("a");
    await after(scene.clock, 600_000, answer);
    assertEquals(requests(scene, "pool chat"), "1 0 1");
  });

  it("counts standby events, and the time without an active model", async () => {
    await using scene = await stage({ a: bad, b }, { pool: { ...once, deactivation: { retry_limit: 1 } } });
    await scene.ask();
    await scene.clock.advance(10_000);
    const downtime = () => ["model a", "pool chat"].map((record) => look(scene, record, "downtime_total")[0]);
    assertEquals([look(scene, "model a", "standby_events"), downtime()], [[1], [10_000, 0]]);
    scene.proxy.mesh.deactivate("b");
    await scene.clock.advance(5_000);
    assertEquals(downtime(), [15_000, 5_000]);
    await scene.clock.advance(60_000); // a is back after its cooldown of 60 s
    assertEquals(downtime(), [60_000, 50_000]);
    scene.proxy.mesh.activate("b");
    assertEquals(look(scene, "pool chat", "standby_events"), [2]);
  });

  it("stays in standby while one of two causes is left", async () => {
    await using scene = await stage({ a: bad, b }, { pool: { ...once, deactivation: { retry_limit: 1 } } });
    await scene.ask();
    scene.proxy.mesh.deactivate("a");
    await scene.clock.advance(100_000); // its cooldown is over, the manual override is not
    assertEquals(look(scene, "model a", "downtime_total"), [100_000]);
  });

  it("knows what is in standby after importState()", async () => {
    await using scene = await stage({ a: b });
    scene.proxy.mesh.deactivate("a");
    const snapshot = scene.proxy.mesh.exportState();
    scene.proxy.mesh.activate("a");
    await scene.clock.advance(5_000);
    scene.proxy.mesh.importState(snapshot);
    await scene.clock.advance(1_000);
    assertEquals(look(scene, "model a", "downtime_total", "standby_events"), [1_000, 1]);
  });

  it("has the pools that requests bring into being", async () => {
    await using scene = await stage({ a: b });
    await scene.ask({ model: "a" });
    assertEquals([requests(scene, "pool a"), requests(scene, "pool chat"), requests(scene, "model a")], [
      "1 1 0",
      "0 0 0",
      "1 1 0",
    ]);
  });
});
