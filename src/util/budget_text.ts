/**
 * Describes spending for people.
 * @module
 */
import type { MeshEvent } from "../contracts/events.ts";
import { formatUsd } from "./price_text.ts";
import { nanoPerUsd } from "./pricing.ts";
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

/**
 * Describes what is left of the limit with the least left, such as `$0.01 of $5.00 left this day`.
 *
 * @param windows The limits of a budget in their current windows; amounts in nano-dollars.
 * @returns Undefined without any.
 */
export function describeLeft(
  windows: readonly {
    readonly window: string;
    readonly timezone?: string;
    readonly limit: number;
    readonly spent: number;
    readonly reserved: number;
  }[],
): string | undefined {
  const [least] = windows
    .map((window) => ({ ...window, left: Math.max(0, window.limit - window.spent - window.reserved) }))
    .sort((first, second) => first.left - second.left);
  if (least === undefined) return undefined;
  const format = (nanoUsd: number) => formatUsd(nanoUsd / nanoPerUsd);
  return `${format(least.left)} of ${format(least.limit)} left ${describeSpan(least)}`;
}
