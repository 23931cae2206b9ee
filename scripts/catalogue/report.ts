/**
 * Formats a comparison of the catalogue as text.
 * @module
 */
import type { DatedPricing } from "../../src/contracts/provider.ts";
import type { Change, Comparison } from "./compare.ts";

/** Maximum number of new models named; a gateway has hundreds. */
const maxAdded = 20;

/**
 * Formats comparisons, one list after the other.
 *
 * @param comparisons Result for each list.
 */
export function report(comparisons: readonly Comparison[]): string {
  const count = (name: "added" | "changed" | "gone" | "confirmed" | "newer") =>
    comparisons.reduce((sum, comparison) => sum + comparison[name].length, 0);
  return [
    ...comparisons.flatMap(formatComparison),
    `${count("changed")} facts differ, ${count("gone")} models are in no list, ${count("confirmed")} are confirmed, ` +
    `${count("newer")} are newer than the lists, ${count("added")} are not built in`,
  ].join("\n");
}

function formatComparison({ file, vendor, added, changed, gone }: Comparison): string[] {
  if (added.length + changed.length + gone.length === 0) return [];
  const names = added.slice(0, maxAdded).map(({ id }) => id).join(", ");
  const rest = added.length > maxAdded ? `, and ${added.length - maxAdded} more` : "";
  return [
    file.split("_")[0] === vendor ? `${file}.ts` : `${file}.ts, ${vendor}`,
    ...changed.flatMap(changeLines),
    ...gone.map((id) => `  gone     ${id}`),
    ...(added.length === 0 ? [] : [`  new      ${names}${rest}`]),
  ];
}

function changeLines({ id, fact, builtIn, found, agreed }: Change): string[] {
  return [
    `  ${agreed === undefined ? "disputed" : "changed "} ${id}: ${fact}`,
    `             built in: ${valueText(builtIn)}`,
    ...Object.entries(found).map(([source, value]) => `             ${source}: ${valueText(value)}`),
  ];
}

function valueText(value: unknown): string {
  if (!Array.isArray(value)) return value === undefined ? "nothing" : String(value);
  return value.length === 0 ? "nothing" : (value as readonly DatedPricing[]).map(priceText).join("; ");
}

function priceText({ above_tokens, ...amounts }: DatedPricing): string {
  const text = Object.entries(amounts).map(([name, usd]) => `${name} ${usd}`).join(", ");
  return above_tokens === undefined ? text : `over ${above_tokens} tokens ${text}`;
}
