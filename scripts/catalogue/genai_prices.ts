/**
 * Source https://github.com/pydantic/genai-prices.
 * @module
 */
import type { DatedPricing } from "../../src/contracts/provider.ts";
import {
  dropUndefined,
  type Json,
  numberIn,
  readObject,
  rounded,
  type Source,
  sourceModel,
  type SourceModels,
} from "./source.ts";

const names = {
  input_mtok: "input",
  output_mtok: "output",
  cache_read_mtok: "cached_input",
  cache_write_mtok: "cache_write",
  input_audio_mtok: "audio_input",
  output_audio_mtok: "audio_output",
} as const;

/** Source https://github.com/pydantic/genai-prices: prices with start dates and prompt sizes. */
export const genaiPrices: Source = {
  name: "genai-prices",
  url: "https://raw.githubusercontent.com/pydantic/genai-prices/main/prices/data.json",
  read(data: unknown, date: string): SourceModels {
    if (!Array.isArray(data)) throw new TypeError("it is not an array of providers");
    return new Map(
      data.map(readObject).map(({ id, models }) => {
        const current = (Array.isArray(models) ? models : []).map(readObject).filter(({ deprecated }) =>
          deprecated !== true
        );
        return [String(id), current.map((model) => read(model, date))];
      }),
    );
  },
};

function read({ id, context_window, prices }: Json, date: string) {
  const price = findPrice(prices, date);
  const sizes = [...new Set(Object.values(price).flatMap((value) => tiersIn(value).map(({ start }) => start)))];
  const pricing = [0, ...sizes].map((size): DatedPricing => ({
    ...dropUndefined(
      Object.fromEntries(Object.entries(names).map(([name, own]) => [own, amountIn(price[name], size)])),
    ),
    ...requestFee(price),
    ...(size === 0 ? {} : { above_tokens: size }),
  }));
  return sourceModel(String(id), { pricing, window: numberIn(context_window) });
}

/** Returns the price of a day; empty if it depends on the time of day, which a list by date cannot express. */
function findPrice(prices: unknown, date: string): Json {
  const dated = (Array.isArray(prices) ? prices : [{ prices }]).map(readObject);
  if (dated.some(({ constraint }) => "start_time" in readObject(constraint))) return {};
  const started = dated.filter(({ constraint }) => String(readObject(constraint).start_date ?? "") <= date);
  return readObject(started.at(-1)?.prices);
}

function requestFee({ requests_kcount }: Json): DatedPricing {
  const fee = numberIn(requests_kcount);
  return fee === undefined ? {} : { per_request: rounded(fee / 1000) };
}

function tiersIn(value: unknown): readonly { readonly start: number; readonly price: number }[] {
  const { tiers } = readObject(value);
  return Array.isArray(tiers) ? tiers : [];
}

function amountIn(value: unknown, size: number): number | undefined {
  const tier = tiersIn(value).findLast(({ start }) => size > 0 && start <= size);
  return tier?.price ?? numberIn(value) ?? numberIn(readObject(value).base);
}
