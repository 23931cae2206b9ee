/**
 * Parameter rules of Mistral's models: its API, and servers with mistral-common or the models' chat templates.
 *
 * Sources: order of messages: zed#31736, swarmauri-sdk#276, hermes-agent#20154 (NVIDIA), crush#279 (OpenRouter); ids of tool
 * calls: mistral-common, which vLLM uses as well.
 * @module
 */
import type { ModelInfo, ParameterRules } from "../../src/contracts/provider.ts";

/** Rules of all models. */
export const mistralRules: ParameterRules = {
  system: "first",
  user_after_tool: false,
  tool_call_ids: { characters: "alphanumeric", min_length: 9, max_length: 9 },
};

const family = /mistral|ministral|magistral|mixtral|pixtral|codestral|devstral/i;

/**
 * The rules of a model on a server of any models.
 *
 * @param model Its id.
 */
export function findMistralRules({ id }: ModelInfo): ParameterRules | undefined {
  return family.test(id) ? mistralRules : undefined;
}
