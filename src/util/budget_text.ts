/**
 * Describes spending for people.
 * @module
 */
import type { MeshEvent } from "../contracts/events.ts";
import { formatUsd } from "./pricing.ts";
import { describeSpan } from "./windows.ts";

/**
 * Describes a budget of which an event reports that it has reached a step, such as
 * `all: $1.00 of $5.00 spent this day, $4.00 left`.
 *
 * @param metadata Metadata of the event.
 */
export function describeBudgetStep({ scope, id, window, timezone, spent, limit }: MeshEvent["metadata"]): string {
  const owner = id === "" ? String(scope) : `${scope} ${id}`;
  const span = describeSpan({ window: String(window), ...(timezone !== undefined && { timezone: String(timezone) }) });
  const left = Math.max(0, Number(limit) - Number(spent));
  return `${owner}: ${formatUsd(Number(spent))} of ${formatUsd(Number(limit))} spent ${span}, ${formatUsd(left)} left`;
}
