/**
 * Source https://models.dev.
 * @module
 */
import type { DatedPricing } from "../../src/contracts/provider.ts";
import {
  dropUndefined,
  type Json,
  numberIn,
  readObject,
  type Source,
  sourceModel,
  type SourceModels,
} from "./source.ts";

/** Source https://models.dev: chat models of all vendors, and some others. Free models cost 0. */
export const modelsDev: Source = {
  name: "models.dev",
  url: "https://models.dev/api.json",
  read(data: unknown): SourceModels {
    const providers = Object.entries(readObject(data));
    if (!providers.some(([, value]) => "models" in readObject(value))) throw new TypeError("it has no providers");
    return new Map(providers.map(([provider, value]) => {
      const models = Object.entries(readObject(readObject(value).models));
      return [provider, models.map(([id, model]) => read(id, readObject(model)))];
    }));
  },
};

function read(id: string, { cost, limit }: Json) {
  const { context, output } = readObject(limit);
  const { tiers, context_over_200k: over, ...base } = readObject(cost);
  const larger: readonly Json[] = Array.isArray(tiers)
    ? tiers.map(readObject)
    : over === undefined
    ? []
    : [{ ...readObject(over), tier: { size: 200_000 } }];
  const pricing = [
    priceIn(base),
    ...larger.map((tier) => ({ ...priceIn(tier), above_tokens: numberIn(readObject(tier.tier).size) })),
  ];
  return sourceModel(id, { pricing, window: numberIn(context), maxOutput: numberIn(output) });
}

function priceIn({ input, output, cache_read, cache_write, input_audio, output_audio }: Json): DatedPricing {
  return dropUndefined({
    input: numberIn(input),
    output: numberIn(output),
    cached_input: numberIn(cache_read),
    cache_write: numberIn(cache_write),
    audio_input: numberIn(input_audio),
    audio_output: numberIn(output_audio),
  });
}
