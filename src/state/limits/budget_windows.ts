/**
 * Windows of budgets other than the UTC day and month. Imported when a configuration or a client has one.
 * @module
 */
import { type CalendarUnit, zoneWindows } from "../../util/zone_windows.ts";
import { RollingLimit } from "./rolling_limit.ts";
import { retentionMs, WindowLimit, type WindowLimitParts } from "./window_limit.ts";

const hourMs = 3_600_000;

const units: Readonly<Record<string, CalendarUnit>> = { "1h": "hour", "1d": "day", "1w": "week", "1mo": "month" };

/**
 * Creates the limit of a window.
 *
 * @param id Identifies the window: `rolling 720h`, or a calendar unit and its time zone, `1w europe/berlin`.
 * @param scope The budget, for the names of shared counters.
 */
export function createBudgetWindow(
  id: string,
  scope: string,
  parts: Omit<WindowLimitParts, "windowAt" | "keyFor" | "expiresAt">,
): WindowLimit {
  const [span = "", rest = ""] = id.split(" ");
  const name = `${scope} ${id}`;
  if (span === "rolling") return new RollingLimit({ ...parts, name, windowMs: Number.parseInt(rest, 10) * hourMs });
  return new WindowLimit({
    ...parts,
    windowAt: zoneWindows(units[span]!, rest),
    keyFor: ({ start }) => `${name} ${start}`,
    expiresAt: ({ end }) => end + retentionMs,
  });
}
