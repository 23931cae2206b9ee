/**
 * Interface of public price lists.
 * @module
 */
import type { DatedPricing } from "../../src/contracts/provider.ts";

/** Facts of a model in a source. */
export interface SourceModel {
  /** The provider's model id. */
  readonly id: string;
  /** Prices of the day, from small to large prompts; undefined if the source has none. */
  readonly pricing?: readonly DatedPricing[];
  /** Context window: input plus output tokens. */
  readonly window?: number;
  /** Maximum number of output tokens per request. */
  readonly maxOutput?: number;
  /** ISO date of retirement. */
  readonly retires?: string;
}

/** Models by the source's name of their provider. */
export type SourceModels = ReadonlyMap<string, readonly SourceModel[]>;

/** A public price list. */
export interface Source {
  /** Its name in entries of the catalogue. */
  readonly name: string;
  /** Its default URL. */
  readonly url: string;
  /**
   * Parses the list.
   *
   * @param data Parsed JSON.
   * @param date ISO date of the prices to read.
   * @throws {TypeError} When the data has another format.
   */
  read(data: unknown, date: string): SourceModels;
}

/** A JSON object. */
export type Json = Readonly<Record<string, unknown>>;

/** Returns an object; empty for any other value. */
export function readObject(value: unknown): Json {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value as Json : {};
}

/** Returns a number; undefined for any other value. */
export function numberIn(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : undefined;
}

/** Returns an object without undefined members. */
export function dropUndefined<Value extends object>(value: Value): Value {
  return Object.fromEntries(Object.entries(value).filter(([, item]) => item !== undefined)) as Value;
}

/** Rounds away floating-point noise. */
export function rounded(amount: number): number {
  return Number(amount.toPrecision(6));
}

/**
 * Returns a model in a comparable form: without empty price lists, and without sizes of 0.
 *
 * @param id The provider's model id.
 * @param facts Facts of the source.
 */
export function sourceModel(
  id: string,
  { pricing = [], window, maxOutput, retires }: Omit<SourceModel, "id">,
): SourceModel {
  const prices = pricing.filter(({ above_tokens: _, ...amounts }) => Object.keys(amounts).length > 0);
  return dropUndefined({
    id,
    pricing: prices.length === 0 ? undefined : prices,
    window: window || undefined,
    maxOutput: maxOutput || undefined,
    retires,
  });
}
