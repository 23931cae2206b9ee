/**
 * A model or provider as a row: its state, the reason, the time to recovery, and the button that changes it.
 * @module
 */
import { el, setSpan, setText } from "./dom.ts";
import { span, words } from "./format.ts";

/** What is activated or deactivated. */
export interface OverrideTarget {
  readonly kind: "model" | "provider";
  readonly name: string;
}

/** Deactivates or activates; resolves once the page shows the new state, or why there is none. */
export type Override = (action: "activate" | "deactivate", target: OverrideTarget) => Promise<void>;

/** The state of what a row shows. */
interface RowState {
  readonly isActive: boolean;
  /** Is shown of an active one. */
  readonly active: string;
  readonly reason?: string | undefined;
  /** When the standby began, ISO 8601. */
  readonly since?: string | undefined;
  /** When it ends, ISO 8601. */
  readonly retryAt?: string | undefined;
}

/** A row, updated in place: its button keeps the focus. */
export interface StateRow {
  readonly element: HTMLElement;
  readonly update: (state: RowState, now: number) => void;
}

/** Makes a row. */
export function stateRow(target: OverrideTarget, override: Override): StateRow {
  const [dot, title] = [
    el("span", { class: "dot", "aria-hidden": "true" }),
    el("span", { class: "name" }, target.name),
  ];
  const [text, bar] = [el("small"), el("i")];
  const track = el("span", { class: "track", hidden: true }, bar);
  const { button, update: updateButton } = overrideButton(target, override);
  const element = el("li", { class: "model" }, dot, title, button, text, track);
  const update = (state: RowState, now: number) => {
    const { isActive, since, retryAt } = state;
    dot.dataset.tone = isActive ? "good" : "warn";
    text.className = isActive ? "" : "why";
    setText(text, describeState(state, now));
    const [start, end] = [Date.parse(since ?? ""), Date.parse(retryAt ?? "")];
    track.hidden = isActive || Number.isNaN(end) || Number.isNaN(start);
    if (!track.hidden) setSpan(bar, { share: (end - now) / Math.max(1, end - start) });
    updateButton(isActive);
  };
  return { element, update };
}

function describeState({ isActive, active, reason = "", retryAt }: RowState, now: number): string {
  if (isActive) return active;
  const leftMs = Date.parse(retryAt ?? "") - now;
  const recovery = Number.isNaN(leftMs) ? "" : leftMs > 0 ? `, recovers in ${span(leftMs)}` : ", recovers now";
  return `standby: ${words(reason)}${recovery}`;
}

function overrideButton(target: OverrideTarget, override: Override) {
  const button = el("button", { type: "button", class: "small admin" });
  let isActive = true;
  let isPending = false;
  const show = () => {
    const [verb, pending] = isActive ? ["Deactivate", "Deactivating…"] : ["Activate", "Activating…"];
    setText(button, isPending ? pending : verb);
    button.setAttribute("aria-label", `${verb} ${target.kind} ${target.name}`);
    button.setAttribute("aria-disabled", String(isPending)); // `disabled` would take the focus away
  };
  const toggle = async () => {
    if (isPending) return;
    isPending = true;
    show();
    await override(isActive ? "deactivate" : "activate", target);
    isPending = false;
    show();
  };
  button.addEventListener("click", () => void toggle().catch(reportError));
  const update = (active: boolean) => {
    isActive = active;
    show();
  };
  return { button, update };
}
