/**
 * Creates provider instances with their API keys, as programs in browsers do.
 * @module
 */
import type { GivenProvider, InstanceSettings, VendorOptions } from "../../src/contracts/browser_provider.ts";
import type { ProviderConnector } from "../../src/contracts/connector.ts";
import type { ModelInfo } from "../../src/contracts/provider.ts";
import type { Runtime } from "../../src/contracts/runtime.ts";
import { ConfigError, MeshError } from "../../src/errors.ts";
import { splitDate } from "../../src/util/model_ids.ts";

/**
 * Creates a provider instance from a connector.
 *
 * @param connector The vendor's connector, such as one created by `openAiCompatible`.
 * @param options API key, models and base URL.
 * @throws {ConfigError} If a required API key or base URL is missing. The key itself is validated by `create`.
 *
 * @example
 * ```ts
 * import { create, openAiCompatible, providerOf } from "@modelmesh/core/browser";
 *
 * const acme = openAiCompatible({ id: "acme.llm.v1", vendor: "acme", baseUrl: "https://api.acme.example/v1" });
 * const provider = providerOf(acme, { apiKey: "the-key-of-this-user", models: ["acme-small"] });
 * const client = create("chat-completion", { providers: [provider] });
 * console.log(client.describe().pools[0]?.models[0]?.name); // acme.acme-small
 * ```
 */
export function providerOf(
  connector: ProviderConnector,
  options: VendorOptions = {},
): GivenProvider {
  checkOptions(connector, options);
  const { apiKey, baseUrl, models, id = connector.vendor } = options;
  const attached = new AttachedRuntime();
  const provider = connector.create({ id, baseUrl }, attached);
  const instanceSettings: InstanceSettings = {
    apiKey,
    models: models?.map((model) => chosen(model, connector)) ??
      connector.models.map((info) => ({ ...info, defaultFor: info.defaultFor ?? [] })),
    facts: connector,
  };
  return Object.defineProperties<GivenProvider>(provider, {
    instanceSettings: { value: instanceSettings },
    attach: { value: (runtime: Runtime) => attached.open(runtime) },
  });
}

/** The runtime of a provider that is constructed before its client. */
class AttachedRuntime implements Runtime {
  #runtime: Runtime | undefined;
  readonly random = (): number => this.#attached.random();
  readonly send: Runtime["send"] = (request) => this.#attached.send(request);
  readonly env: Runtime["env"] = (name) => this.#attached.env(name);

  get clock(): Runtime["clock"] {
    return this.#attached.clock;
  }

  open(runtime: Runtime): void {
    this.#runtime = runtime;
  }

  get #attached(): Runtime {
    if (this.#runtime === undefined) throw new MeshError("A provider is used through create(), which attaches it");
    return this.#runtime;
  }
}

function checkOptions(connector: ProviderConnector, { apiKey, baseUrl, models }: VendorOptions): void {
  const { vendor, needsBaseUrl, keyless, local } = connector;
  const blame = (path: string, message: string) => {
    throw new ConfigError([{ path, message: `${vendor} ${message}` }]);
  };
  if (apiKey === undefined && baseUrl === undefined && !keyless && !local) {
    blame("apiKey", "needs the visitor's API key, or a function that looks it up: { apiKey: () => secrets.get(name) }");
  }
  if (baseUrl === undefined ? needsBaseUrl : !/^https?:\/\/[^/\s]/i.test(baseUrl)) {
    blame("baseUrl", 'needs an http or https URL such as "https://api.example.com/v1"');
  }
  if (models !== undefined && !(Array.isArray(models) && models.length > 0)) {
    blame("models", "needs a list of at least one model, or no list to use the defaults");
  }
}

/** Facts of a model that the program names; a dated id takes those of the model it is a release of. */
function chosen(model: string | ModelInfo, { models, local, findRules }: ProviderConnector): ModelInfo {
  const id = typeof model === "string" ? model : model.id;
  const { undated } = splitDate(id);
  const found = models.find((candidate) => candidate.id === id) ?? models.find((candidate) => candidate.id === undated);
  const rules = found === undefined ? findRules?.(typeof model === "string" ? { id } : model) : undefined;
  const info = {
    ...(local ? { pricing: [{ input: 0, output: 0 }] } : {}),
    ...(rules === undefined ? {} : { parameters: rules }),
    ...found,
    id,
  };
  const merged = typeof model === "string" ? info : { ...info, ...model };
  return { ...merged, defaultFor: merged.capabilities ?? ["chat-completion"] };
}
