/**
 * Providers as a program gives them, instances and vendors' connectors alike, and their keys.
 * @module
 */
import type { InstanceSettings, ProviderInstance } from "../contracts/browser_provider.ts";
import type { ProviderConnector } from "../contracts/connector.ts";
import { NoProvidersError } from "../errors.ts";
import { keyProblem } from "./_keys.ts";
import { isNamed } from "./_provider_names.ts";
import { kindOf, type Report, show, suggest, under } from "./_report.ts";
import { defaultRetryBudget, defaultTimeouts } from "./defaults.ts";
import type { ProviderEntry } from "./settings.ts";

/** What a program gives as a provider. */
export type GivenProvider = ProviderInstance | ProviderConnector;

/** Keys by vendor, connector id or variable; one that is undefined counts as not given. */
export type GivenKeys = Readonly<Record<string, string | undefined>>;

/** A provider that holds. */
export interface ExplicitProvider {
  /** The vendor's, or one that hands out the instance. */
  readonly connector: ProviderConnector;
  /** What an instance says of itself. */
  readonly instance?: InstanceSettings;
  /** The entry that stands for it, its id the connector's. */
  readonly entry: ProviderEntry;
}

/**
 * Reads what a program gave.
 *
 * @param given The providers.
 * @param apiKeys Their keys.
 * @param options Whether further keys can come from a secret store, and where problems go.
 * @throws {NoProvidersError} When nothing was given.
 */
export function readProviders(
  given: readonly GivenProvider[] | undefined,
  apiKeys: GivenKeys,
  { hasStore, report }: { hasStore: boolean; report: Report },
): readonly ExplicitProvider[] {
  if (!Array.isArray(given) || given.length === 0) throw nothingGiven();
  const known = given.map((provider, place) => read(provider, place, report));
  checkTwice(given, known, report);
  const found = known.filter((one) => one !== undefined);
  const keys = readKeys(apiKeys, found.map(({ connector }) => connector), report);
  return found.map(({ connector, instance }) => {
    const key = keys.get(connector) ?? instance?.apiKey;
    if (key === undefined && !hasStore) checkKeyless(connector, report);
    return { connector, instance, entry: entryOf(connector.id, key, instance?.timeout) };
  });
}

function entryOf(id: string, key: string | undefined, timeoutMs: number | undefined): ProviderEntry {
  return {
    id,
    connector: id,
    enabled: true,
    apiKeys: key === undefined ? [] : [key],
    source: "create",
    timeoutMs: timeoutMs ?? defaultTimeouts.answer,
    silenceMs: timeoutMs ?? defaultTimeouts.silence,
    connectTimeoutMs: defaultTimeouts.connect,
    retryBudget: defaultRetryBudget,
    config: {},
  };
}

/**
 * Whether a provider cannot be called without a key.
 *
 * @param connector The provider's.
 */
export function needsKey({ keyless, local }: ProviderConnector): boolean {
  return !keyless && !local;
}

type Known = Pick<ExplicitProvider, "connector" | "instance">;

function read(given: GivenProvider, place: number, report: Report): Known | undefined {
  const path = `providers[${place}]`;
  if (isConnector(given)) {
    if (given.needsBaseUrl) {
      const instead = "give a BrowserBaseProvider with its baseUrl instead";
      return report.problem(path, `"${given.id}" has no address of its own: ${instead}`);
    }
    return { connector: given };
  }
  if (!isInstance(given)) return report.problem(path, whatIsWrong(given));
  const instance = given.instanceSettings ?? {};
  return { connector: connectorOf(given, given.id || `provider-${place + 1}`, instance), instance };
}

function isConnector(given: GivenProvider): given is ProviderConnector {
  return typeof given === "object" && given !== null && "kind" in given && given.kind === "provider";
}

function isInstance(given: GivenProvider): given is ProviderInstance {
  return typeof given === "object" && given !== null && "complete" in given && "stream" in given;
}

function whatIsWrong(given: unknown): string {
  if (typeof given === "string") {
    return `${
      show(given)
    } is a name: import the provider itself, as in import { openai } from "@modelmesh/core/browser"`;
  }
  return `expected a provider, an instance made by new or a vendor's such as openai, found ${kindOf(given)}`;
}

/** A connector that hands out the instance: from here on all providers are alike. */
function connectorOf(provider: ProviderInstance, id: string, { models = [] }: InstanceSettings): ProviderConnector {
  return {
    kind: "provider",
    id,
    vendor: id,
    keyless: true,
    models: models.map((info) => ({ ...info, defaultFor: info.capabilities ?? ["chat-completion"] })),
    create(_settings, runtime) {
      provider.attach?.(runtime);
      return provider;
    },
  };
}

function checkTwice(given: readonly GivenProvider[], known: readonly (Known | undefined)[], report: Report): void {
  known.forEach((one, place) => {
    if (one === undefined) return;
    const { id } = one.connector;
    const first = known.findIndex((other) => other?.connector.id === id);
    if (first === place) return;
    report.problem(
      `providers[${place}]`,
      given[first] === given[place]
        ? `is the same as providers[${first}]: give it once`
        : `has the id ${show(id)}, as providers[${first}] has: give one of them another id in its configuration`,
    );
  });
}

function readKeys(
  apiKeys: GivenKeys,
  connectors: readonly ProviderConnector[],
  report: Report,
): ReadonlyMap<ProviderConnector, string> {
  const keys = new Map<ProviderConnector, string>();
  for (const [name, key] of Object.entries(apiKeys)) {
    const path = under("apiKeys", name);
    const owners = connectors.filter((one) => isNamed(one, name) || one.detection?.keys.includes(name));
    if (owners.length === 0) {
      report.problem(
        path,
        `no provider given goes by this name${suggest(name, connectors.map(({ vendor }) => vendor))}`,
      );
    }
    if (key === undefined) continue;
    const problem = keyProblem(key);
    if (problem !== undefined) report.problem(path, problem);
    for (const owner of owners) keys.set(owner, key);
  }
  return keys;
}

function checkKeyless(connector: ProviderConnector, report: Report): void {
  if (!needsKey(connector)) return;
  const { vendor, id } = connector;
  const name = /^\w+$/.test(vendor) ? vendor : JSON.stringify(vendor);
  report.problem("apiKeys", `"${id}" needs a key: give this user's as apiKeys: { ${name}: "…" }`);
}

function nothingGiven(): NoProvidersError {
  return new NoProvidersError(
    "No provider was given. Pass one, such as an instance, " +
      'providers: [new BrowserBaseProvider(createBrowserProviderConfig({ baseUrl, apiKey, models: ["…"] }))], ' +
      "or a vendor's with this user's key, providers: [openai], apiKeys: { openai: key }",
  );
}
