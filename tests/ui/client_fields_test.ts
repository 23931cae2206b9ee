/** What the form of a client sends, and how its limits are described. */
import { assertEquals } from "@std/assert";
import { concerns, describeLimits, readBudget, toBudget, toClientBody } from "../../ui/client_fields.ts";

Deno.test("A client's body has what differs alone: null removes a limit, and a new one has none to remove", () => {
  assertEquals(toClientBody({ name: "app", rpm: 5, pools: undefined }), { name: "app", rpm: 5 });
  const before = { id: "1", name: "app", rpm: 5, pools: ["a", "b"], budget: { daily_limit: 3 }, priority: 1 };
  const values = { rpm: 6, pools: ["a", "b"], budget: undefined, priority: 1 };
  assertEquals(toClientBody(values, before), { rpm: 6, budget: null });
});

Deno.test("A budget is read and written as it was", () => {
  for (const budget of [undefined, { daily_limit: 0 }, { daily_limit: 3, monthly_limit: 40.5 }]) {
    assertEquals(toBudget(readBudget(budget)), budget);
  }
  const list = [{ limit: 3, window: "1d", timezone: "Europe/Berlin" }, {
    limit: 9,
    window: "rolling 30d",
    alert_at: [1],
  }];
  assertEquals(toBudget(readBudget(list)), list);
  assertEquals(describeLimits({ budget: list }), ["$3.00 a day (Europe/Berlin)", "$9.00 in the last 30d"]);
});

Deno.test("Limits are described with their units, also those that the page does not know", () => {
  const client = {
    id: "1",
    name: "app",
    created_at: "2026-01-01T00:00:00Z",
    notes: "of the shop",
    budget: { daily_limit: 5, monthly_limit: 40 },
    pools: ["chat", "best"],
    rpm: 60,
    concurrent: 4,
    byok: true,
    other: false,
    later_limit: 7,
  };
  assertEquals(describeLimits(client), [
    "$5.00 a day",
    "$40.00 a month",
    "pools: chat, best",
    "60 requests/min",
    "4 at once",
    "own keys of providers",
    "later limit 7",
  ]);
});

Deno.test("An error is shown at the field that it is about", () => {
  for (const param of ["pools", "pools[0]", "pools.x"]) assertEquals(concerns(param, "pools"), true, param);
  for (const param of ["pool", "poolsize", ""]) assertEquals(concerns(param, "pools"), false, param);
});
