import { assertEquals } from "@std/assert";
import { RetryBudget } from "../../src/state/limits/retry_budget.ts";

function drain(budget: RetryBudget, now: number): number {
  let taken = 0;
  while (budget.withdraw(now)) taken++;
  return taken;
}

Deno.test("a retry budget is a floor plus a share of the window's requests", () => {
  const budget = new RetryBudget({ ratio: 0.2, min: 10, windowMs: 10_000 });
  assertEquals(drain(budget, 0), 10);
  for (let n = 0; n < 50; n++) budget.deposit(100);
  assertEquals(drain(budget, 200), 10);
});

Deno.test("a retry budget forgets what is older than its window", () => {
  const budget = new RetryBudget({ ratio: 0.2, min: 10, windowMs: 10_000 });
  assertEquals(drain(budget, 5_000), 10);
  assertEquals(drain(budget, 14_000), 0);
  assertEquals(drain(budget, 15_000), 10);
  assertEquals(drain(budget, 1e9), 10);
  assertEquals(drain(budget, 1e9), 0);
});

Deno.test("a retry budget bears a clock that stands still or goes back", () => {
  const budget = new RetryBudget({ ratio: 0, min: 1, windowMs: 10_000 });
  assertEquals(drain(budget, 50_000), 1);
  assertEquals(drain(budget, 20_000), 0);
});
