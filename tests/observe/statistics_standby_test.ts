import { assertEquals } from "@std/assert";
import type { StandbyReason } from "../../src/contracts/rotation.ts";
import type { MemberNames } from "../../src/observe/hub_events.ts";
import { Bench, minute, path } from "./_statistics.ts";

Deno.test("a standby counts at its owner, and at every model, pool and provider that it affects", () => {
  const records = ["pool chat", "pool code", "model a", "model b", "provider one", "provider two"];
  const table: readonly (readonly [owner: string, affected: number[]])[] = [
    ["chat/a@one", [1, 0, 1, 0, 1, 0]],
    ["a@one", [1, 1, 1, 0, 1, 0]],
    ["b@two", [1, 0, 0, 1, 0, 1]],
    ["@one", [1, 1, 1, 0, 1, 0]],
  ];
  for (const [owner, affected] of table) {
    const bench = new Bench("chat/a@one", "chat/b@two", "code/a@one");
    bench.standby(owner, "quota_exhausted");
    bench.active(owner, "quota_exhausted");
    assertEquals(records.flatMap((record) => bench.look(record, "standby_events")), affected, owner);
    assertEquals(records.flatMap((record) => bench.look(record, "quota_resets")), affected, owner);
  }
});

Deno.test("a recovery is a quota's reset when a quota, a limit or a budget caused the standby", () => {
  const table: Readonly<Record<StandbyReason, 0 | 1>> = {
    retry_limit: 0,
    error_rate: 0,
    error_code: 0,
    request_limit: 1,
    token_limit: 1,
    budget_limit: 1,
    quota_window: 1,
    maintenance_window: 0,
    provider_budget: 1,
    provider_auth_failure: 0,
    provider_outage: 0,
    health_probe: 0,
    rate_limited: 0,
    quota_exhausted: 1,
    model_not_found: 0,
    no_price: 0,
    manual: 0,
  };
  for (const [reason, resets] of Object.entries(table) as [StandbyReason, 0 | 1][]) {
    const bench = new Bench();
    bench.standby("chat/a@one", reason);
    assertEquals(bench.look("model a", "quota_resets"), [0], reason);
    bench.active("chat/a@one", reason);
    assertEquals(bench.look("model a", "quota_resets"), [resets], reason);
  }
});

Deno.test("a standby that gets another reason is still one", async () => {
  const bench = new Bench("chat/a@one");
  bench.standby("chat/a@one");
  await bench.clock.advance(1000);
  bench.standby("chat/a@one", "quota_window");
  await bench.clock.advance(1000);
  bench.active("chat/a@one", "quota_window");
  await bench.clock.advance(1000);
  assertEquals(bench.look("model a", "standby_events", "quota_resets", "downtime_total"), [1, 1, 2000]);
});

Deno.test("downtime is the time without an active model, and grows while it lasts", async () => {
  const bench = new Bench("chat/a@one", "chat/b@two", "code/a@one");
  const look = () =>
    ["pool chat", "pool code", "model a", "model b", "provider one", "provider two"]
      .flatMap((record) => bench.look(record, "downtime_total")).map((ms) => ms! / minute).join(" ");
  bench.standby("chat/a@one");
  await bench.clock.advance(minute);
  assertEquals(look(), "0 0 0 0 0 0"); // in pool code it still serves
  bench.standby("@one", "provider_outage");
  await bench.clock.advance(minute);
  assertEquals(look(), "0 1 1 0 1 0");
  bench.standby("b@two", "rate_limited");
  await bench.clock.advance(minute);
  assertEquals(look(), "1 2 2 1 2 1");
  bench.active("@one", "provider_outage");
  await bench.clock.advance(minute);
  assertEquals(look(), "2 2 2 2 2 2"); // in pool chat its own standby lasts
  bench.active("chat/a@one");
  await bench.clock.advance(minute);
  assertEquals(look(), "2 2 2 3 2 3");
});

Deno.test("a model that joins while its provider is in standby is down with it", async () => {
  const [a, late, other] = [["a", "one"], ["late", "one"], ["other", "two"]].map(([model = "", provider = ""]) => (
    { pool: "chat", model, provider }
  )) as [MemberNames, MemberNames, MemberNames];
  const bench = new Bench("chat/a@one");
  bench.standby("@one", "manual");
  await bench.clock.advance(minute);
  bench.statistics.setMembers([a, late], [{ provider: "one" }]);
  await bench.clock.advance(minute);
  assertEquals(bench.look("model late", "downtime_total", "standby_events"), [minute, 0]);
  bench.statistics.setMembers([a, late, other], [{ provider: "one" }]);
  await bench.clock.advance(minute);
  assertEquals(bench.look("pool chat", "downtime_total"), [2 * minute]);
  bench.active("@one", "manual");
  assertEquals(bench.look("model late", "downtime_total"), [2 * minute]);
});

Deno.test("a model in an unknown pool is known from its first standby on", async () => {
  const bench = new Bench();
  bench.standby("chat/a@one");
  await bench.clock.advance(minute);
  assertEquals(bench.look("pool chat", "downtime_total"), [minute]);
});

Deno.test("a member given twice is one member", async () => {
  const bench = new Bench("chat/a@one", "chat/a@one");
  bench.standby("chat/a@one");
  await bench.clock.advance(minute);
  assertEquals(bench.look("pool chat", "downtime_total"), [minute]);
});

Deno.test("after a change of configuration numbers continue by name, and removed members cause no downtime", async () => {
  const bench = new Bench("chat/a@one", "chat/b@two");
  bench.statistics.addRequest(path(["a@one", "ok"]), { outcome: "success" });
  bench.standby("a@one", "manual");
  bench.standby("b@two", "manual");
  await bench.clock.advance(minute);
  bench.statistics.setMembers([{ pool: "chat", model: "b", provider: "two" }]);
  await bench.clock.advance(minute);
  assertEquals(bench.look("pool chat", "requests_total", "downtime_total", "standby_events"), [1, minute, 2]);
  assertEquals(bench.look("model a", "requests_total", "downtime_total"), [1, minute]);
  bench.standby("chat/b@two");
  await bench.clock.advance(minute);
  assertEquals(bench.look("pool chat", "downtime_total"), [2 * minute]);
});

Deno.test("a standby that began in an earlier process is downtime and no event", async () => {
  const bench = new Bench();
  bench.statistics.setMembers([{ pool: "chat", model: "a", provider: "one" }], [{ provider: "one" }]);
  await bench.clock.advance(minute);
  bench.active("@one", "quota_exhausted");
  await bench.clock.advance(minute);
  assertEquals(bench.look("model a", "downtime_total", "standby_events", "quota_resets"), [minute, 0, 1]);
});

Deno.test("the end of an unknown standby changes no downtime", async () => {
  const bench = new Bench("chat/a@one");
  bench.active("chat/a@one");
  bench.standby("chat/a@one");
  await bench.clock.advance(minute);
  assertEquals(bench.look("model a", "downtime_total"), [minute]);
});
