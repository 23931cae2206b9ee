/**
 * Prints the built-in catalogue as a table.
 * @module
 */
import type { CapabilityPath, DatedPricing, ModelInfo } from "../contracts/provider.ts";
import { priceAt } from "../util/cost.ts";
import { otherPrices as pricesByUnit } from "../util/price_text.ts";
import { toTier } from "../util/pricing.ts";
import { formatUtcDay } from "../util/windows.ts";
import { wrap } from "./table.ts";

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

const headers = ["  MODEL", "CONTEXT", "ANSWER", "IN", "OUT", "CACHED", "SERVES"];
/** Columns of numbers, aligned right. */
const numeric: readonly number[] = [1, 2, 3, 4, 5];

/** Width of the first column; a longer name has a line of its own. */
const nameWidth = 36;

/** A row of the table, and what is printed below it. */
interface CatalogueRow {
  readonly cells: readonly string[];
  readonly details: readonly string[];
}

/**
 * Returns the table: the models of each provider below its id. No line is longer than 100 characters.
 *
 * @param models The models, grouped by provider.
 * @param now Wall-clock ms; prices of this day are printed.
 */
export function catalogueTable(models: readonly CatalogueModel[], now: number): string {
  const rows = models.map((model) => toModelRows(model, now));
  const cells = [headers, ...rows.flat().map((row) => row.cells)];
  const widths = headers.map((_, column) =>
    Math.max(...cells.map((row) => row[column]!.length).filter((width) => column > 0 || width <= nameWidth))
  );
  const pad = (cell: string, column: number) =>
    numeric.includes(column) ? cell.padStart(widths[column]!) : cell.padEnd(widths[column]!);
  const formatCells = ([name = "", ...others]: readonly string[]) => {
    const isLong = name.length > widths[0]!;
    return `${isLong ? `${name}\n` : ""}${[isLong ? "" : name, ...others].map(pad).join("  ").trimEnd()}`;
  };
  const formatRow = ({ cells, details }: CatalogueRow) => {
    const indent = cells[0]!.search(/[^ *]/) + 2;
    return [formatCells(cells), ...details.length === 0 ? [] : [wrap(details.join("; "), indent)]];
  };
  const lines = models.flatMap(({ provider }, index) => [
    ...(provider === models[index - 1]?.provider ? [] : [provider]),
    ...rows[index]!.flatMap(formatRow),
  ]);
  return `${[formatCells(headers), ...lines].join("\n")}\n`;
}

/** Returns a row for the model, and one for each of its other prices of the day. */
function toModelRows(model: CatalogueModel, now: number): CatalogueRow[] {
  const { id, default_for, constraints = {}, as_of, pricing, retires } = model;
  const { context_window, max_output_tokens } = constraints;
  const [first, ...others] = listCapabilities(model);
  const price = priceAt(pricing ?? undefined, now, 0);
  const otherPrices = listOtherPrices(price);
  return [
    {
      cells: [
        `${default_for.length > 0 ? "*" : " "} ${id}`,
        formatTokens(context_window),
        formatTokens(max_output_tokens),
        ...formatTokenPrices(price),
        first ?? "",
      ],
      details: [
        ...join(others),
        ...join(otherPrices),
        ...(retires === undefined ? [] : [`retires on ${retires}`]),
        ...(as_of === undefined ? [] : [`as of ${as_of}`]),
      ],
    },
    ...listConditionalRows(pricing ?? [], now).map((row) => ({
      cells: [`    ${formatPriceConditions(row)}`, "", "", ...formatTokenPrices(row), ""],
      details: join(listOtherPrices(row).filter((price) => !otherPrices.includes(price))),
    })),
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

/** Returns the first capability, then those that do not follow from the features, and the features. */
function listCapabilities({ capabilities, features = {} }: CatalogueModel): readonly string[] {
  const last = (path: CapabilityPath) => path.slice(path.lastIndexOf(".") + 1);
  const names = capabilities.map(last);
  if (names[0] !== "chat-completion") return names;
  const further = capabilities.filter((path) => path.startsWith("retrieval.")).map(last);
  return [names[0], ...further, ...featureNames.flatMap(([name, word]) => features[name] === true ? word : [])];
}

function formatTokens(tokens: number | undefined): string {
  if (tokens === undefined) return "";
  return tokens < 1_000_000 ? `${Math.round(tokens / 1000)}k` : `${Number((tokens / 1_000_000).toPrecision(3))}M`;
}

function formatTokenPrices({ input, output, cached_input }: Partial<DatedPricing> = {}): readonly string[] {
  return [formatPrice(input), formatPrice(output), formatPrice(cached_input)];
}

/** Lists the prices without a column. */
function listOtherPrices(price: DatedPricing | undefined): readonly string[] {
  if (price === undefined) return ["price unknown"];
  const factors = Object.entries(price.multipliers?.inference_geo ?? {});
  return [
    ...pricesByUnit.flatMap(([name, unit]) => price[name] === undefined ? [] : `${formatPrice(price[name])} ${unit}`),
    ...factors.map(([region, factor]) => `×${factor} in ${region === "*" ? "regions" : region}`),
  ];
}

/** Returns a list as one text, if it has any item. */
function join(items: readonly string[]): readonly string[] {
  return items.length === 0 ? [] : [items.join(", ")];
}

/** Formats an amount as a plain decimal, without floating-point noise. */
function formatPrice(amount: number | undefined): string {
  return amount === undefined ? "" : String(Number(amount.toPrecision(4)));
}
