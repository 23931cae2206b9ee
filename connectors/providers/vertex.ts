/**
 * Google Vertex AI: Gemini and Claude, authorized by a service account.
 *
 * Sources, read 2026-11-22: https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/inference and
 * https://platform.claude.com/docs/en/build-with-claude/claude-on-vertex-ai.
 * @module
 */
import type { ProviderDeclaration } from "../../src/contracts/connector.ts";
import type { ParameterRules } from "../../src/contracts/provider.ts";
import { once } from "../../src/util/once.ts";
import { claudeRules, findGeneration, isClaude } from "./_anthropic_models.ts";
import { knownModels } from "./_catalogue.ts";
import { findFamilyRules, findUnknownRules, geminiRules, speech, speechRules } from "./_gemini_models.ts";
import { entries } from "./catalogue/vertex.ts";

const models = /* @__PURE__ */ once(() =>
  knownModels(entries, {
    features: { system_prompt: true, logprobs: false },
    findRules: ({ id, serves }) =>
      serves === undefined ? vertexRules(id) : serves.includes(speech) ? speechRules : undefined,
  })
);

/** Google Vertex AI. It must be configured and is not detected: a service account is not an API key. */
export const vertex: ProviderDeclaration = {
  kind: "provider",
  queries: [],
  id: "google.vertex.v1",
  vendor: "vertex",
  telemetryName: "gcp.vertex_ai",
  ownState: ["google", "anthropic", "images"],
  tokenScope: "https://www.googleapis.com/auth/cloud-platform",
  get models() {
    return models();
  },
  attributes: {
    project: { type: "text", about: "Project id. Defaults to `GOOGLE_VERTEX_PROJECT` or `GOOGLE_CLOUD_PROJECT`." },
    location: {
      type: "text",
      about: "A region, `us`, `eu` or `global`. Defaults to `GOOGLE_VERTEX_LOCATION` or `GOOGLE_CLOUD_LOCATION`.",
    },
  },
  findRules: ({ id }) => vertexRules(id, findUnknownRules),
  parameters: {
    drop: ["presence_penalty", "frequency_penalty", "logit_bias"],
    refuse: ["logprobs", "audio", "functions", "function_call", "web_search_options"],
  },
};

/**
 * The parameter rules of a model, in addition to those of all models.
 *
 * @param model The model id.
 * @param findRules Finds those of a Gemini model.
 */
export function vertexRules(
  model: string,
  findRules: (id: string) => ParameterRules = findFamilyRules,
): ParameterRules {
  if (isClaude(model)) {
    const dropped = findGeneration(model).sampling ? {} : { drop: ["temperature", "top_p", "top_k"] };
    return { ...claudeRules, ...dropped, refuse: ["n"] };
  }
  const { drop = [], ...rules } = findRules(model);
  return { ...rules, ...geminiRules, drop: [...drop, "parallel_tool_calls"] };
}
