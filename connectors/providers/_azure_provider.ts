/**
 * Azure OpenAI: OpenAI's dialect at the URL of an Azure resource.
 * @module
 */
import type { ProviderConnector, ProviderSettings } from "../../src/contracts/connector.ts";
import type { OpenAiError } from "../../src/contracts/openai.ts";
import type { CallOptions, ModelInfo } from "../../src/contracts/provider.ts";
import type { Runtime } from "../../src/contracts/runtime.ts";
import { isContentFilter } from "../../src/errors.ts";
import { stripTrailing } from "../../src/util/strip_trailing.ts";
import { toText } from "../../src/util/to_text.ts";
import { createAttributeError } from "./_attribute_error.ts";
import { readOpenAiError } from "./_openai_error.ts";
import { OpenAiCompatibleProvider } from "./_openai_compatible.ts";
import { azure, declareAzure } from "./clouds.ts";

/** The Azure OpenAI connector with its implementation. */
export const azureConnector: ProviderConnector = {
  ...declareAzure(),
  create(settings, runtime) {
    const own = settings as ProviderSettings;
    const version = readAttribute(own, "api_version") ?? readVariable(runtime, "OPENAI_API_VERSION");
    const vendor = {
      ...azure,
      dialects: { responses: !isDated(version) }, // supported by the v1 API only
      withoutResponses: isDated(version),
      address: createAddresses(own, runtime, version),
      readError: readAzureError,
      readRetryAfter: (_body: unknown, headers: { get(name: string): string | null }) =>
        isPositive(headers.get("x-ms-retry-after-ms")),
    };
    return new AzureProvider(vendor, own, runtime);
  },
};

class AzureProvider extends OpenAiCompatibleProvider {
  /**
   * The list contains the models that can be deployed, not the deployments: it only verifies that the resource
   * responds.
   */
  override async listModels(options: CallOptions): Promise<readonly ModelInfo[]> {
    await super.listModels(options);
    return [];
  }
}

/** Error codes of a missing deployment, or of one that does not support the operation. */
const missing: readonly (string | null)[] = ["DeploymentNotFound", "OperationNotSupported", "ModelNotFound"];

/**
 * Parses the error of a response. Codes that only repeat the status are dropped; codes of a missing deployment are
 * mapped.
 *
 * @param body The parsed body.
 * @param status HTTP status.
 */
export function readAzureError(body: unknown, status: number): OpenAiError {
  const fault = readOpenAiError(body, status);
  if (missing.includes(fault.code)) return { ...fault, type: "invalid_request_error", code: "model_not_found" };
  const { innererror, inner_error } = Object(Object(body).error);
  if (isContentFilter(fault) || isContentFilter({ type: "", code: toText(Object(innererror ?? inner_error).code) })) {
    return { ...fault, type: "invalid_request_error", code: isContentFilter(fault) ? fault.code : "content_filter" };
  }
  return fault.code === String(status) ? { ...fault, code: null } : fault;
}

function isDated(version: string | undefined): boolean {
  return version !== undefined && /^\d{4}-\d{2}-\d{2}/.test(version);
}

/** URLs of the v1 API, or of the dated API, which addresses deployments. */
function createAddresses(
  settings: ProviderSettings,
  runtime: Runtime,
  version: string | undefined,
): (path: string, model?: string) => string {
  if (version !== undefined && !isDated(version) && !/^(preview|latest|v1)$/.test(version)) {
    throw createAttributeError({ settings, name: "api_version" }, 'expected a date such as "2024-10-21", or "preview"');
  }
  const query = version === undefined || version === "v1" ? "" : `?api-version=${encodeURIComponent(version)}`;
  const root = stripTrailing(settings.baseUrl ?? `${findEndpoint(settings, runtime)}/openai/v1`, "/");
  if (!isDated(version)) return (path) => `${root}/${path}${query}`;
  const above = root.replace(/\/v1$/, "");
  return (path, model) => {
    const deployment = model === undefined ? "" : `/deployments/${encodeURIComponent(model)}`;
    return `${above}${deployment}/${path}${query}`;
  };
}

/** The endpoint of the resource, without the common path. */
function findEndpoint(settings: ProviderSettings, runtime: Runtime): string {
  const endpoint = readAttribute(settings, "endpoint") ?? readVariable(runtime, "AZURE_OPENAI_ENDPOINT") ??
    readVariable(runtime, "AZURE_RESOURCE_NAME");
  if (endpoint === undefined) {
    throw createAttributeError(
      { settings, name: "endpoint" },
      "missing: set it, or the variable AZURE_OPENAI_ENDPOINT, or a base_url",
    );
  }
  if (/^[a-z0-9-]+$/i.test(endpoint)) return `https://${endpoint}.openai.azure.com`;
  if (!/^https?:\/\/[^/\s?#][^\s?#]*$/i.test(endpoint)) {
    throw createAttributeError({ settings, name: "endpoint" }, "expected the resource's https URL, or its name");
  }
  return stripTrailing(endpoint, "/").replace(/\/openai(\/v1)?$/, "");
}

function readAttribute(settings: ProviderSettings, name: string): string | undefined {
  const value = settings[name] ?? (settings.config as Record<string, unknown> | undefined)?.[name];
  return typeof value === "string" && value.trim() !== "" ? value.trim() : undefined;
}

function readVariable(runtime: Runtime, name: string): string | undefined {
  return runtime.env?.(name)?.trim() || undefined;
}

function isPositive(text: string | null): number | undefined {
  const value = Number(text ?? NaN);
  return value > 0 && Number.isFinite(value) ? value : undefined;
}
