/**
 * Cloudflare Workers AI. The setting `account_id` is part of the URL.
 *
 * Sources: developers.cloudflare.com/workers-ai/configuration/open-ai-compatibility and /workers-ai/platform/errors.
 * @module
 */
import type { ProviderSettings } from "../../src/contracts/connector.ts";
import { ConfigError } from "../../src/errors.ts";
import { knownModels } from "./_catalogue.ts";
import { imagesLazily, openAiEmbeddings } from "./_openai_operations.ts";
import { readOpenAiError } from "./_openai_error.ts";
import type { OpenAiCompatible } from "./_openai_vendor.ts";
import { entries } from "./catalogue/cloudflare.ts";
import { findOwn } from "../../src/util/find_own.ts";

/** Its error codes whose meaning the status does not convey. */
const codes: Readonly<Record<string, string>> = {
  3036: "insufficient_quota",
  3042: "model_not_found",
  5007: "model_not_found",
  6003: "invalid_api_key",
};

/** Page size of the model list, which is not part of the OpenAI-compatible API. */
const pageSize = 100;
const modelsPath = `../models/search?per_page=${pageSize}`;

/** Cloudflare Workers AI. */
export const cloudflare: OpenAiCompatible = {
  id: "cloudflare.workers-ai.v1",
  vendor: "cloudflare",
  baseUrl: findAccountAddress,
  detection: {
    keys: ["CLOUDFLARE_API_TOKEN", "CLOUDFLARE_API_KEY"],
    baseUrl: ["CLOUDFLARE_BASE_URL"],
    requires: { account_id: ["CLOUDFLARE_ACCOUNT_ID"] },
  },
  parameters: { thoughts: "none", rename: { max_completion_tokens: "max_tokens" } },
  models: () => knownModels(entries),
  list: {
    path: modelsPath,
    members: ["result", "name"],
    next: ({ result }, number) =>
      (result as readonly unknown[]).length < pageSize ? undefined : `${modelsPath}&page=${number + 1}`,
  },
  readError(body, status) {
    const { errors } = Object(body);
    const { code, message } = Object(Array.isArray(errors) ? errors[0] : undefined);
    if (typeof message !== "string") return readOpenAiError(body, status);
    const error = readOpenAiError({ message }, status);
    return { ...error, code: findOwn(codes, code) ?? error.code };
  },
  attributes: {
    account_id: {
      type: "text",
      about: "Account id. Defaults to `CLOUDFLARE_ACCOUNT_ID`.",
    },
  },
  operations: {
    embeddings: openAiEmbeddings,
    image: imagesLazily(async () => (await import("./_cloudflare_images.ts")).cloudflareImages),
  },
};

function findAccountAddress(settings: ProviderSettings, env?: (name: string) => string | undefined): string {
  const { account_id = (settings.config as Record<string, unknown> | undefined)?.account_id } = settings;
  const accountId = account_id ?? env?.("CLOUDFLARE_ACCOUNT_ID")?.trim();
  if (typeof accountId !== "string" || accountId === "") {
    throw new ConfigError([{
      path: `providers.${settings.id}.config.account_id`,
      message: "The account's id is missing: set it, or the variable CLOUDFLARE_ACCOUNT_ID, or a base_url",
    }]);
  }
  return `https://api.cloudflare.com/client/v4/accounts/${encodeURIComponent(accountId)}/ai/v1`;
}
