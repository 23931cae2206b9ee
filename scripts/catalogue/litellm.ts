/**
 * Source https://github.com/BerriAI/litellm.
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

/** Names in the source, names in the catalogue, and conversion factors. */
const names: readonly (readonly [string, keyof DatedPricing, number])[] = [
  ["input_cost_per_token", "input", 1_000_000],
  ["output_cost_per_token", "output", 1_000_000],
  ["cache_read_input_token_cost", "cached_input", 1_000_000],
  ["cache_creation_input_token_cost", "cache_write", 1_000_000],
  ["cache_creation_input_token_cost_above_1hr", "cache_write_1h", 1_000_000],
  ["cache_creation_input_token_cost_above_12hr", "cache_write_12h", 1_000_000],
  ["input_cost_per_audio_token", "audio_input", 1_000_000],
  ["output_cost_per_audio_token", "audio_output", 1_000_000],
  ["cache_read_input_audio_token_cost", "cached_audio_input", 1_000_000],
  ["ocr_cost_per_page", "per_page", 1],
  ["input_cost_per_character", "per_million_characters", 1_000_000],
  ["input_cost_per_second", "per_minute", 60],
  ["input_cost_per_query", "per_search", 1],
];

/** Modes that are skipped: images and audio have several prices at once, per kinds of tokens. */
const unclear: readonly string[] = ["image_generation", "image_edit", "audio_speech"];

/** Source https://github.com/BerriAI/litellm: models of every kind, with retirement dates. */
export const liteLlm: Source = {
  name: "LiteLLM",
  url: "https://raw.githubusercontent.com/BerriAI/litellm/main/model_prices_and_context_window.json",
  read(data: unknown): SourceModels {
    const byProvider = new Map<string, ReturnType<typeof read>[]>();
    for (const [key, value] of Object.entries(readObject(data))) {
      const model = readObject(value);
      if (typeof model.litellm_provider !== "string") continue;
      const models = byProvider.get(model.litellm_provider) ?? [];
      models.push(read(key.replace(`${model.litellm_provider}/`, ""), model));
      byProvider.set(model.litellm_provider, models);
    }
    if (byProvider.size === 0) throw new TypeError("it has no models");
    return byProvider;
  },
};

function read(id: string, model: Json) {
  const { mode, deprecation_date: retires, max_input_tokens, max_output_tokens } = model;
  const over =
    Object.keys(model).flatMap((name) => /^input_cost_per_token_above_(\d+)k_tokens$/.exec(name)?.[1] ?? [])[0];
  const larger = over === undefined
    ? []
    : [{ ...priceIn(model, `_above_${over}k_tokens`), above_tokens: Number(over) * 1000 }];
  return sourceModel(id, {
    pricing: unclear.includes(String(mode)) ? [] : [priceIn(model, ""), ...larger],
    // for chat models it has the input limit, without the output
    window: mode === "chat" || mode === "responses" ? undefined : numberIn(max_input_tokens),
    // equal values for both mean that it is the context window
    maxOutput: max_output_tokens === max_input_tokens ? undefined : numberIn(max_output_tokens),
    retires: typeof retires === "string" ? retires : undefined,
  });
}

/** Returns a price. One of 0 beside a price of another unit is ignored: the model is not billed by it. */
function priceIn(model: Json, suffix: string): DatedPricing {
  const amounts = names.map(([name, own, factor]) => {
    const amount = numberIn(model[`${name}${suffix}`]);
    return [own, amount === undefined ? undefined : rounded(amount * factor)] as const;
  });
  const isFree = amounts.every(([, amount]) => !amount);
  return dropUndefined(Object.fromEntries(amounts.filter(([, amount]) => isFree || amount !== 0)));
}
