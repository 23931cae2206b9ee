/**
 * Prints the built-in catalogue as a table.
 * @module
 */
import type { CapabilityPath, DatedPricing, ModelInfo } from "../contracts/provider.ts";
import { priceAt } from "../util/cost.ts";
import { otherPrices } from "../util/price_text.ts";
import { toTier } from "../util/pricing.ts";
import { formatUtcDay } from "../util/windows.ts";

/** A model of the catalogue, as `modelmesh models --catalogue --json` prints it. */
export interface CatalogueModel extends Omit<ModelInfo, "capabilities" | "defaultFor" | "pricing" | "asOf"> {
  /** The name to use in a request. */
  readonly name: string;
  /** Id of its provider's connector. */
  readonly provider: string;
  /** Full paths of its capabilities (leaves of the tree). */
  readonly capabilities: readonly CapabilityPath[];
  /** Short names of the capabilities that it is its provider's default model for. */
  readonly default_for: readonly string[];
  /** Prices, oldest first; null when unknown. */
  readonly pricing: readonly DatedPricing[] | null;
  /** ISO date on which the source was read. */
  readonly as_of: string | undefined;
}

/** Features of chat models, and their names in the table. */
const featureNames = [
  ["tool_calling", "tools"],
  ["structured_output", "schema"],
  ["reasoning", "reasoning"],
  ["vision", "images"],
  ["audio_input", "audio"],
] as const;

const headers = ["  MODEL", "SERVES", "CONTEXT", "ANSWER", "IN", "OUT", "CACHED", "OTHER PRICES", "AS OF"];
/** Columns of numbers, aligned right. */
const numeric: readonly number[] = [2, 3, 4, 5, 6];

/**
 * Returns the table: the models of each provider below its id.
 *
 * @param models The models, grouped by provider.
 * @param now Wall-clock ms; prices of this day are printed.
 */
export function catalogueTable(models: readonly CatalogueModel[], now: number): string {
  const rows = models.map((model) => toModelRows(model, now));
  const cells = [headers, ...rows.flat()];
  const widths = headers.map((_, column) => Math.max(...cells.map((row) => row[column]!.length)));
  const pad = (cell: string, column: number) =>
    numeric.includes(column) ? cell.padStart(widths[column]!) : cell.padEnd(widths[column]!);
  const formatCatalogueLine = (row: readonly string[]) => row.map(pad).join("  ").trimEnd();
  const lines = models.flatMap(({ provider }, index) => [
    ...(provider === models[index - 1]?.provider ? [] : [provider]),
    ...rows[index]!.map(formatCatalogueLine),
  ]);
  return `${[formatCatalogueLine(headers), ...lines].join("\n")}\n`;
}

/** Returns a row for the model, one for its retirement date, and one for each of its other prices of the day. */
function toModelRows(model: CatalogueModel, now: number): string[][] {
  const { id, default_for, constraints = {}, as_of = "", pricing, retires } = model;
  const { context_window, max_output_tokens } = constraints;
  const name = `${default_for.length > 0 ? "*" : " "} ${id}`;
  return [
    [
      name,
      formatCapabilities(model),
      formatTokens(context_window),
      formatTokens(max_output_tokens),
      ...formatPrices(priceAt(pricing ?? undefined, now, 0)),
      as_of,
    ],
    ...(retires === undefined ? [] : [["", `  retires on ${retires}`, "", "", "", "", "", "", ""]]),
    ...listConditionalRows(pricing ?? [], now).map((
      row,
    ) => ["", `  ${formatPriceConditions(row)}`, "", "", ...formatPrices(row), ""]),
  ];
}

/** The rows of the day with a condition other than their date; of each condition the last one. */
function listConditionalRows(pricing: readonly DatedPricing[], now: number): readonly DatedPricing[] {
  const day = formatUtcDay(now);
  const rows = new Map(
    pricing.filter(({ from = day }) => from <= day).map((row) => [formatPriceConditions(row), row] as const),
  );
  rows.delete("");
  return [...rows.values()];
}

function formatPriceConditions({ tier, above_tokens, hours, region }: DatedPricing): string {
  return [
    ...toTier(tier) === undefined ? [] : [tier],
    ...above_tokens === undefined ? [] : [`over ${formatTokens(above_tokens)} tokens`],
    ...hours === undefined ? [] : [`${hours} UTC`],
    ...region === undefined ? [] : [`in ${region}`],
  ].join(", ");
}

/** Returns the first capability, and those that do not follow from the features. */
function formatCapabilities({ capabilities, features = {} }: CatalogueModel): string {
  const last = (path: CapabilityPath) => path.slice(path.lastIndexOf(".") + 1);
  const names = capabilities.map(last);
  if (names[0] !== "chat-completion") return names.join(", ");
  const further = capabilities.filter((path) => path.startsWith("retrieval.")).map(last);
  const can = featureNames.flatMap(([name, word]) => features[name] === true ? word : []);
  return [names[0], ...further].join(", ") + (can.length === 0 ? "" : ` (${can.join(", ")})`);
}

function formatTokens(tokens: number | undefined): string {
  if (tokens === undefined) return "";
  return tokens < 1_000_000 ? `${Math.round(tokens / 1000)}k` : `${Number((tokens / 1_000_000).toPrecision(3))}M`;
}

/** Returns the cells of prices; the last says "unknown" without any. */
function formatPrices(price: DatedPricing | undefined): string[] {
  const { input, output, cached_input } = price ?? {};
  const factors = Object.entries(price?.multipliers?.inference_geo ?? {});
  const others = [
    ...otherPrices.flatMap(([name, unit]) => price?.[name] === undefined ? [] : `${formatPrice(price[name])} ${unit}`),
    ...factors.map(([region, factor]) => `×${factor} in ${region === "*" ? "regions" : region}`),
  ];
  return [
    formatPrice(input),
    formatPrice(output),
    formatPrice(cached_input),
    price === undefined ? "unknown" : others.join(", "),
  ];
}

/** Formats an amount as a plain decimal, without floating-point noise. */
function formatPrice(amount: number | undefined): string {
  return amount === undefined ? "" : String(Number(amount.toPrecision(4)));
}
