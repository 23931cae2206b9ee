/**
 * The form that the public price lists are read into.
 * @module
 */
import type { DatedPricing } from "../../src/contracts/provider.ts";

/** What a source has of a model. */
export interface SourceModel {
  /** The id its provider knows it by. */
  readonly id: string;
  /** Prices of the day, from small prompts to large ones; undefined when the source has none. */
  readonly pricing?: readonly DatedPricing[];
  /** Tokens read and written together. */
  readonly window?: number;
  /** Tokens written per request. */
  readonly maxOutput?: number;
  /** ISO date from which its provider does not answer for it any more. */
  readonly retires?: string;
}

/** Models by the name that a source has for their provider. */
export type SourceModels = ReadonlyMap<string, readonly SourceModel[]>;

/** A public list of models. */
export interface Source {
  /** What entries name it. */
  readonly name: string;
  /** Where it is, unless a flag says otherwise. */
  readonly url: string;
  /**
   * Reads the list.
   *
   * @param data Its JSON.
   * @param date ISO date: prices of that day are wanted.
   * @throws {TypeError} When it is no such list.
   */
  read(data: unknown, date: string): SourceModels;
}

/** An object of JSON. */
export type Json = Readonly<Record<string, unknown>>;

/** An object; empty for anything else. */
export function objectOf(value: unknown): Json {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value as Json : {};
}

/** A number that is one. */
export function numberIn(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : undefined;
}

/** An object without what is undefined. */
export function given<Value extends object>(value: Value): Value {
  return Object.fromEntries(Object.entries(value).filter(([, one]) => one !== undefined)) as Value;
}

/** Without what a division or a multiplication left over. */
export function rounded(amount: number): number {
  return Number(amount.toPrecision(6));
}

/**
 * A model in the form that is compared. A list of prices without the ones that say nothing; sizes of 0 are none.
 *
 * @param id The id its provider knows it by.
 * @param facts What a source has of it.
 */
export function sourceModel(
  id: string,
  { pricing = [], window, maxOutput, retires }: Omit<SourceModel, "id">,
): SourceModel {
  const prices = pricing.filter(({ above_tokens: _, ...amounts }) => Object.keys(amounts).length > 0);
  return given({
    id,
    pricing: prices.length === 0 ? undefined : prices,
    window: window || undefined,
    maxOutput: maxOutput || undefined,
    retires,
  });
}
