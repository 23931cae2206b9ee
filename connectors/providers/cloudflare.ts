/**
 * Cloudflare Workers AI. The account's id is part of the address: the setting `account_id`.
 *
 * Source: developers.cloudflare.com/workers-ai/configuration/open-ai-compatibility.
 * @module
 */
import type { ProviderSettings } from "../../src/contracts/connector.ts";
import { ConfigError } from "../../src/errors.ts";
import { chatModel } from "./_catalogue.ts";
import type { OpenAiCompatible } from "./_openai_vendor.ts";

/** Cloudflare Workers AI. */
export const cloudflare: OpenAiCompatible = {
  id: "cloudflare.workers-ai.v1",
  vendor: "cloudflare",
  baseUrl: addressOf,
  detection: {
    keys: ["CLOUDFLARE_API_TOKEN", "CLOUDFLARE_API_KEY"],
    baseUrl: ["CLOUDFLARE_BASE_URL"],
    requires: { account_id: ["CLOUDFLARE_ACCOUNT_ID"] },
  },
  parameters: { rename: { max_completion_tokens: "max_tokens" } },
  models: [
    chatModel("@cf/meta/llama-3.3-70b-instruct-fp8-fast", {
      can: "T",
      window: 24_000,
      maxOutput: 24_000,
      pricing: [{ input: 0.293, output: 2.253 }],
      isDefault: true,
    }),
  ],
  attributes: {
    account_id: {
      type: "text",
      about: "The account's id; else the variable `CLOUDFLARE_ACCOUNT_ID` where the provider is detected.",
    },
  },
};

function addressOf(settings: ProviderSettings): string {
  const accountId = settings.account_id ?? (settings.config as Record<string, unknown> | undefined)?.account_id;
  if (typeof accountId !== "string" || accountId === "") {
    throw new ConfigError([{
      path: `providers.${settings.id}.config.account_id`,
      message: "The account's id is missing: set it, or the variable CLOUDFLARE_ACCOUNT_ID, or a base_url",
    }]);
  }
  return `https://api.cloudflare.com/client/v4/accounts/${encodeURIComponent(accountId)}/ai/v1`;
}
