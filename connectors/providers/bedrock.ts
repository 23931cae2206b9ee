/**
 * Amazon Bedrock, through Converse.
 *
 * Source: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html, read 2026-11-22.
 * @module
 */
import type { ProviderDeclaration } from "../../src/contracts/connector.ts";
import { once } from "../../src/util/once.ts";
import { claudeRules, findGeneration, isClaude } from "./_anthropic_models.ts";
import { knownModels } from "./_catalogue.ts";
import { bedrock as entries } from "./catalogue/clouds.ts";

const models = /* @__PURE__ */ once(() =>
  knownModels(entries, {
    features: { json_mode: false, system_prompt: true, logprobs: false },
    findRules: ({ id }) =>
      isClaude(id) && !findGeneration(id).sampling ? { drop: ["temperature", "top_p", "top_k"] } : undefined,
  })
);

/**
 * Amazon Bedrock. It is detected only by its own API key, since AWS credentials in the environment serve many purposes.
 * A configured entry without a key signs its calls with AWS credentials.
 */
export const bedrock: ProviderDeclaration = {
  kind: "provider",
  queries: [],
  id: "aws.bedrock.v1",
  vendor: "bedrock",
  telemetryName: "aws.bedrock",
  detection: {
    keys: ["AWS_BEARER_TOKEN_BEDROCK"],
    baseUrl: ["BEDROCK_BASE_URL", "AWS_ENDPOINT_URL_BEDROCK_RUNTIME"],
    requires: { region: ["AWS_REGION", "AWS_DEFAULT_REGION"] },
  },
  get models() {
    return models();
  },
  keyless: true,
  ownState: ["anthropic"],
  attributes: {
    region: { type: "text", about: "AWS region. Defaults to `AWS_REGION` or `AWS_DEFAULT_REGION`." },
    access_key_id: { type: "text", about: "AWS access key id. Defaults to `AWS_ACCESS_KEY_ID`." },
    secret_access_key: { type: "text", about: "AWS secret access key. Defaults to `AWS_SECRET_ACCESS_KEY`." },
    session_token: { type: "text", about: "Session token of temporary credentials. Defaults to `AWS_SESSION_TOKEN`." },
  },
  parameters: {
    drop: ["frequency_penalty", "presence_penalty", "seed", "logit_bias", "verbosity", "parallel_tool_calls"],
    refuse: ["n", "logprobs", "audio", "functions", "web_search_options"],
    ...claudeRules,
    tool_names: { characters: "word", max_length: 64 }, // API_runtime_ToolSpecification.html
  },
};
