/**
 * A fallback chain: in one line, and as a list that shows when each model was asked and for how long.
 * @module
 */
import type { FallbackStep } from "../src/contracts/events.ts";
import { el, setSpan } from "./dom.ts";
import { duration, words } from "./format.ts";
import { isFailedStep } from "./records.ts";

/** The model whose response was repeated. */
export function showCached(model: string): HTMLElement {
  const chip = el("span", { class: "chip", "data-tone": "good" }, model, el("small", {}, "from the cache"));
  return el("span", { class: "chain" }, chip);
}

/** The models that were asked, in one line. */
export function showChain(steps: readonly FallbackStep[], status?: number): HTMLElement {
  const chips = steps.flatMap((step, index) => {
    const chip = stepChip(step);
    return index === 0 ? [chip] : [el("span", { class: "arrow", "aria-label": "then" }, "→"), chip];
  });
  const missing = el("span", { class: "chip", "data-tone": "bad" }, "no model asked");
  return el(
    "span",
    { class: "chain" },
    ...(steps.length === 0 ? [missing] : chips),
    ...(status ? [el("span", { class: "problem" }, String(status))] : []),
  );
}

/** The attempts, each with its share of the whole time. */
export function showAttempts(chain: readonly FallbackStep[]): HTMLElement {
  const total = Math.max(1, chain.reduce((sum, { ms }) => sum + ms, 0));
  let start = 0;
  const rows = chain.map((step) => {
    const { model, provider, ms } = step;
    const bar = el("i", { "data-tone": getTone(step) });
    setSpan(bar, { start: start / total, share: ms / total });
    start += ms;
    return el(
      "li",
      {},
      el("span", {}, `${model} (${provider})`),
      el("span", { "data-tone": getTone(step) }, formatOutcome(step)),
      el("span", { class: "lane", "aria-hidden": "true" }, bar),
      el("span", { class: "ms" }, duration(ms)),
    );
  });
  return el("ol", { class: "attempts", "aria-label": "Attempts" }, ...rows);
}

/** Names and values as a list; those without a value are left out. */
export function showFacts(facts: Readonly<Record<string, string | undefined>>): HTMLElement {
  const items = Object.entries(facts).flatMap(([name, value]) =>
    value ? [el("div", {}, el("dt", {}, name), el("dd", {}, value))] : []
  );
  return el("dl", {}, ...items);
}

function formatOutcome({ outcome, status }: FallbackStep): string {
  return status === undefined ? words(outcome) : `${words(outcome)} ${status}`;
}

function stepChip(step: FallbackStep): HTMLElement {
  const details = step.outcome === "ok" ? [] : [el("small", {}, formatOutcome(step))];
  return el("span", { class: "chip", "data-tone": getTone(step) }, step.model, ...details);
}

/** A rate limit passes by itself; a model that was not waited for has done nothing wrong. */
function getTone(step: FallbackStep): "good" | "warn" | "bad" | "none" {
  if (step.outcome === "ok") return "good";
  if (step.outcome === "rate_limited") return "warn";
  return isFailedStep(step) ? "bad" : "none";
}
