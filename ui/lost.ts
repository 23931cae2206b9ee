/**
 * What the page shows while the proxy is out of reach.
 * @module
 */
import { byId, setText } from "./dom.ts";
import { span, timeOfDay } from "./format.ts";

/** Waits before the next attempt to connect, ms. */
const backoffMs = [500, 1000, 2000, 4000, 8000];

/** Why and since when. */
interface Loss {
  readonly reason: string;
  /** The last time whose state is known, ms since 1970; undefined when none is. */
  readonly knownAt: number | undefined;
  /** Attempts that have failed in a row. */
  readonly retries: number;
}

/** Shows a banner that counts down; resolves when it is time to try again, or a person asks for it. */
export async function waitToRetry({ reason, knownAt, retries }: Loss): Promise<void> {
  const banner = byId("lost");
  const dueAt = performance.now() + backoffMs[Math.min(retries, backoffMs.length - 1)]!;
  const note = knownAt === undefined ? "" : `This is the state at ${timeOfDay(knownAt)}.`;
  const draw = () => setText(byId("lost-wait"), `Next attempt in ${span(dueAt - performance.now())}`);
  setText(byId("lost-reason"), [`${reason}.`, note].filter(Boolean).join(" "));
  draw();
  banner.hidden = false;
  const ticks = setInterval(draw, 250);
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, dueAt - performance.now());
    byId("lost-retry").onclick = () => (clearTimeout(timer), resolve());
  });
  clearInterval(ticks);
  setText(byId("lost-wait"), "Connecting");
}

/** Removes the banner. */
export function showFound(): void {
  byId("lost").hidden = true;
}
