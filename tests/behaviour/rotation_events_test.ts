/** A rotation event for every change of a pool's current model, whatever caused it, once per change. */
import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import type { MeshEvent } from "../../mod.ts";
import { behind, soon, type Stage, stage } from "../support/_failover.ts";
import { tuned } from "../support/_tuned.ts";
import { type Behaviour, Gate, ok, status, stream } from "../support/upstream.ts";

const [a, b, c] = ["a", "b", "c"].map((name) => ok({ text: name })) as [Behaviour, Behaviour, Behaviour];
const noRetry = { retry: { max_attempts: 0 } };
const by = (strategy: string, more: object = {}) => ({
  pool: { strategy, model_priority: undefined, ...noRetry, ...more },
});
const texts = async (scene: Stage, count: number) => (await scene.askTimes(count)).map(({ text }) => text).join("");
const rotations = ({ events }: Stage) => events.filter((event) => event.startsWith("rotation"));

describe("a rotation event", () => {
  it("comes for a failed attempt, once, of requests at once too", async () => {
    for (const strategy of ["stick-until-failure", "priority", "rate-limit-aware"]) {
      const gate = new Gate();
      await using scene = await stage({ a: behind(gate, status(500)), b }, by(strategy));
      const answers = Array.from({ length: 10 }, () => scene.ask());
      await scene.received("a", 10);
      gate.openAll();
      await soon(Promise.all(answers));
      assertEquals(rotations(scene), ["rotation a>b server"], strategy);
    }
  });

  it("comes for each of two in a row", async () => {
    await using scene = await stage({ a: status(500), b: [status(503), b], c }, by("stick-until-failure"));
    assertEquals(await texts(scene, 3), "ccc");
    assertEquals(rotations(scene), ["rotation a>b server", "rotation b>c server"]);
  });

  it("comes for a deactivation by hand, with the next request", async () => {
    for (const strategy of ["stick-until-failure", "priority", "cost-first"]) {
      await using scene = await stage({ a, b, c }, by(strategy));
      assertEquals(await texts(scene, 2), "aa");
      await scene.proxy.mesh.deactivate("a");
      assertEquals(await texts(scene, 3), "bbb");
      assertEquals(rotations(scene), ["rotation a>b manual"], strategy);
      const event = scene.proxy.records.find((record): record is MeshEvent =>
        record.type === "event" && record.event === "rotation"
      )!;
      assertEquals([event.pool, event.model, event.provider, event.from, event.to], ["chat", "b", "b", "a", "b"]);
    }
  });

  it("comes for a deactivation by a limit, of requests at once too", async () => {
    const limited = by("stick-until-failure", { deactivation: { request_limit: 2 } });
    await using scene = await stage({ a, b }, limited);
    assertEquals(await texts(scene, 3), "aab");
    assertEquals(scene.events, ["deactivation a request_limit", "rotation a>b request_limit"]);
    await using atOnce = await stage({ a, b, c }, by("stick-until-failure"));
    await atOnce.ask();
    await atOnce.proxy.mesh.deactivate("a");
    await Promise.all(Array.from({ length: 10 }, () => atOnce.ask()));
    assertEquals(rotations(atOnce), ["rotation a>b manual"]);
  });

  it("comes for a limit's threshold", async () => {
    const models = { a: { limits: { rpm: 10 } } };
    await using scene = await stage({ a, b }, tuned({ ...by("rate-limit-aware"), models }));
    assertEquals(await texts(scene, 10), "aaaaaaaabb");
    assertEquals(scene.events, ["rotation a>b threshold"]);
  });

  it("comes for a limit that is reached", async () => {
    const models = { a: { limits: { rpm: 3 } } };
    await using scene = await stage({ a, b }, tuned({ ...by("stick-until-failure"), models }));
    assertEquals(await texts(scene, 5), "aaabb");
    assertEquals(scene.events, ["rotation a>b rate_limited"]);
  });

  it("comes for a recovery, once", async () => {
    const once = { deactivation: { retry_limit: 1 } };
    await using scene = await stage({ a: [status(500), a], b }, by("priority", once));
    assertEquals(await texts(scene, 2), "bb");
    await scene.clock.advance(60_000);
    assertEquals(await texts(scene, 3), "aaa");
    const deactivated = ["deactivation a retry_limit", "rotation a>b server"];
    assertEquals(scene.events, [...deactivated, "recovery a retry_limit", "rotation b>a recovery"]);
    await using sticky = await stage({ a: [status(500), a], b }, by("stick-until-failure", once));
    assertEquals(await texts(sticky, 2), "bb");
    await sticky.clock.advance(60_000);
    assertEquals([await texts(sticky, 2), rotations(sticky)], ["bb", ["rotation a>b server"]]);
  });

  it("comes for a recovery also after a request with a route of its own", async () => {
    await using scene = await stage({ a, b }, by("priority"));
    await scene.ask();
    await scene.proxy.mesh.deactivate("a");
    await scene.ask();
    await scene.proxy.mesh.activate("a");
    await scene.ask({ mesh: { only: ["a"] } });
    assertEquals(rotations(scene), ["rotation a>b manual"]);
    assertEquals([await texts(scene, 2), rotations(scene).at(-1)], ["aa", "rotation b>a recovery"]);
  });

  it("comes for a stream that broke", async () => {
    const broken = stream({ cut: { after: 1, how: "end" } });
    await using scene = await stage({ a: [broken, a], b }, by("stick-until-failure"));
    await scene.askStream();
    assertEquals(await texts(scene, 2), "bb");
    assertEquals(rotations(scene), ["rotation a>b failure"]);
  });

  it("does not come where requests are shared out, nor for a request that its model cannot take", async () => {
    for (const strategy of ["round-robin", "load-balanced", "latency-first", "session-stickiness"]) {
      await using scene = await stage({ a, b, c }, by(strategy));
      for (let turn = 0; turn < 9; turn++) await scene.ask({ user: `user-${turn}` });
      assertEquals(scene.events, [], strategy);
    }
    const models = { a: { features: { tool_calling: false } } };
    await using scene = await stage({ a, b }, tuned({ ...by("stick-until-failure"), models }));
    const tools = [{ type: "function", function: { name: "look", parameters: { type: "object" } } }];
    const answers = [await scene.ask(), await scene.ask({ tools }), await scene.ask()];
    assertEquals([answers.map(({ text }) => text), scene.events], [["a", "b", "a"], []]);
  });
});
