/**
 * What the tests of strategies share: views and contexts by the facts that matter.
 * @module
 */
import { assertEquals } from "@std/assert";
import type { Connector } from "../../src/contracts/connector.ts";
import type { ModelView, SelectionContext, SelectionStrategy } from "../../src/contracts/rotation.ts";
import type { Runtime } from "../../src/contracts/runtime.ts";

/** An instance of its own. */
export function make(connector: Connector<"strategy">): SelectionStrategy {
  return connector.create({}, {} as Runtime);
}

/** An active, idle model of which nothing else is known. */
export function view(name: string, facts: Partial<ModelView> = {}): ModelView {
  return {
    name,
    provider: `provider-of-${name}`,
    weight: 1,
    status: "active",
    isHalfOpen: false,
    consecutiveFailures: 0,
    inFlight: 0,
    ...facts,
  };
}

/** A request's first choice in a pool without priorities, where no price is known. */
export function context(facts: Partial<SelectionContext> = {}): SelectionContext {
  return {
    pool: "test",
    now: 0,
    modelPriority: [],
    providerPriority: [],
    threshold: 0.8,
    isConstrained: false,
    balanceMode: "absolute",
    costOf: () => undefined,
    tried: new Set(),
    random: () => 0.5,
    ...facts,
  };
}

/** The name of the choice, which has to have the highest score. */
export function pick(
  strategy: SelectionStrategy,
  candidates: readonly ModelView[],
  facts?: Partial<SelectionContext>,
): string {
  const at = context(facts);
  const scores = candidates.map((candidate) => strategy.score(candidate, at));
  const chosen = strategy.select(candidates, at)!;
  assertEquals(chosen, candidates[scores.indexOf(Math.max(...scores))], "select() takes the highest score");
  return chosen.name;
}

/** How often each name is there. */
export function count(names: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}

/** What a task answers, so many times. */
export function times<Value>(number: number, task: (turn: number) => Value): Value[] {
  return Array.from({ length: number }, (_, turn) => task(turn));
}
