/** What was spent per day and client, in the dashboard. */
import { assertEquals } from "@std/assert";
import { listDays, shownDays, sumSpend } from "../../ui/spend_days.ts";

const now = Date.parse("2027-03-01T12:00:00Z");
const days = listDays(now);

Deno.test("The last 90 days, the last of which is today, by UTC", () => {
  assertEquals([days.length, days[0], days.at(-1)], [shownDays, "2026-12-02", "2027-03-01"]);
});

Deno.test("Spend is summed by client or team, those who spent most first; other days and free requests are left out", () => {
  const rows = [
    { day: "2027-03-01", client: "app", team: "web", cost_usd: 1 },
    { day: "2027-02-28", client: null, team: "web", cost_usd: 5 },
    { day: "2027-02-28", client: "app", team: "web", cost_usd: 2 },
    { day: "2026-12-01", client: "app", team: "web", cost_usd: 100 },
    { day: "2027-03-01", client: "free", team: null, cost_usd: 0 },
  ];
  const clients = sumSpend(rows, days);
  assertEquals(clients.map(({ name, total, days }) => [name, total, ...days.slice(-2)]), [
    [null, 5, 5, 0],
    ["app", 3, 2, 1],
  ]);
  assertEquals(sumSpend(rows, days, "team").map(({ name, total }) => [name, total]), [["web", 8]]);
});

Deno.test("More than eight clients: seven by name, and the sum of the others", () => {
  const rows = Array.from(
    { length: 10 },
    (_, at) => ({ day: "2027-03-01", client: `c${at}`, team: null, cost_usd: at + 1 }),
  );
  const clients = sumSpend(rows, days);
  assertEquals(clients.map(({ name, isOthers, total }) => [name, isOthers, total]), [
    ...[9, 8, 7, 6, 5, 4, 3].map((at) => [`c${at}`, false, at + 1]),
    [null, true, 6],
  ]);
  assertEquals(sumSpend(rows.slice(0, 8), days).length, 8);
});
