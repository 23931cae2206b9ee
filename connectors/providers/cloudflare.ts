/**
 * Cloudflare Workers AI. The account's id is part of the address: the setting `account_id`.
 *
 * Source: developers.cloudflare.com/workers-ai/configuration/open-ai-compatibility.
 * @module
 */
import type { ProviderSettings } from "../../src/contracts/connector.ts";
import { ConfigError } from "../../src/errors.ts";
import { knownModels } from "./_catalogue.ts";
import { imagesLazily, openAiEmbeddings } from "./_openai_operations.ts";
import type { OpenAiCompatible } from "./_openai_vendor.ts";
import { entries } from "./catalogue/cloudflare.ts";

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
  parameters: { thoughts: "none", rename: { max_completion_tokens: "max_tokens" } },
  models: () => knownModels(entries),
  attributes: {
    account_id: {
      type: "text",
      about: "The account's id; else the variable `CLOUDFLARE_ACCOUNT_ID` where the provider is detected.",
    },
  },
  operations: {
    embeddings: openAiEmbeddings,
    image: imagesLazily(async () => (await import("./_cloudflare_images.ts")).cloudflareImages),
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
