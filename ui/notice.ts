/**
 * What came of an action of a person, in the corner of the page.
 * @module
 */
import { byId, setText } from "./dom.ts";

/** A success is shown for so long, ms; an error until it is dismissed or another notice replaces it. */
const shownMs = 6000;
/** One that can be undone. */
const undoMs = 20_000;

let timer: number | undefined;
/** What had the focus before. */
let origin: Element | null = null;

/**
 * Shows it; screen readers read it out.
 *
 * @param undo Takes the action back.
 */
export function notify(text: string, tone: "good" | "bad", undo?: () => Promise<void>): void {
  clearTimeout(timer);
  if (!hasFocus()) origin = document.activeElement;
  byId("notice").dataset.tone = tone;
  setText(byId("action"), text);
  byId("dismiss").hidden = false;
  byId("dismiss").onclick = dismiss;
  byId("undo").hidden = undo === undefined;
  byId("undo").onclick = () => {
    dismiss();
    undo?.().catch(reportError);
  };
  if (tone === "good") timer = setTimeout(dismiss, undo === undefined ? shownMs : undoMs);
}

function dismiss(): void {
  clearTimeout(timer);
  setText(byId("action"), "");
  if (hasFocus()) (origin as HTMLElement | null)?.focus();
  byId("dismiss").hidden = byId("undo").hidden = true;
}

function hasFocus(): boolean {
  return byId("notice").contains(document.activeElement);
}
