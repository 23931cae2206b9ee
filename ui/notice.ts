/**
 * What came of an action of a person, in the corner of the page.
 * @module
 */
import { byId, setText } from "./dom.ts";

/** A success is shown for so long, ms; an error until it is dismissed or another notice replaces it. */
const shownMs = 6000;

let timer: number | undefined;

/** Shows it; screen readers read it out. */
export function notify(text: string, tone: "good" | "bad"): void {
  clearTimeout(timer);
  byId("notice").dataset.tone = tone;
  setText(byId("action"), text);
  byId("dismiss").hidden = false;
  byId("dismiss").onclick = dismiss;
  if (tone === "good") timer = setTimeout(dismiss, shownMs);
}

function dismiss(): void {
  clearTimeout(timer);
  setText(byId("action"), "");
  byId("dismiss").hidden = true;
}
