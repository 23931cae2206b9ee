/**
 * DeepSeek. It supports JSON mode but not JSON Schema, and no `n`.
 *
 * Source: api-docs.deepseek.com (response formats), llm-exe#662. Efforts: api-docs.deepseek.com/guides/thinking_mode,
 * quoted in SillyTavern#5526 and typewhisper-mac#1345.
 * @module
 */
import type { JsonObject } from "../../src/contracts/openai.ts";
import type { Quota } from "../../src/contracts/provider.ts";
import { isObject } from "../../src/util/is_object.ts";
import { knownModels } from "./_catalogue.ts";
import type { OpenAiCompatible } from "./_openai_vendor.ts";
import { entries } from "./catalogue/deepseek.ts";

/** DeepSeek. */
export const deepseek: OpenAiCompatible = {
  id: "deepseek.api.v1",
  vendor: "deepseek",
  baseUrl: "https://api.deepseek.com",
  detection: { keys: ["DEEPSEEK_API_KEY"], baseUrl: ["DEEPSEEK_BASE_URL"] },
  parameters: {
    rename: { max_completion_tokens: "max_tokens" },
    max_stop_sequences: 16,
    drop: ["top_k"],
    refuse: ["n"],
    efforts: { none: { thinking: { type: "disabled" } }, minimal: { reasoning_effort: "low" } },
  },
  models: () => knownModels(entries),
  quota: { path: "user/balance", read: readBalance },
};

/** The balance in each currency of the account; `is_available` reports whether it suffices for a call. */
function readBalance({ is_available, balance_infos }: JsonObject): Quota {
  if (is_available === false) return { remaining: 0 };
  const balances = Array.isArray(balance_infos)
    ? balance_infos.map((one) => isObject(one) ? Number(one.total_balance) : NaN)
    : [];
  const left = balances.filter((balance) => balance > 0);
  return left.length === 1 ? { remaining: left[0] } : {};
}
