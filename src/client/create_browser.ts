/**
 * The front door in browsers: providers are given, nothing is looked for. It knows neither documents nor the catalogue of
 * vendors, so that a bundle has only what the page uses.
 * @module
 */
import { explicitPlan } from "../config/explicit.ts";
import type { Settings } from "../config/settings.ts";
import type { Connector } from "../contracts/connector.ts";
import { ConfigError, NoProvidersError } from "../errors.ts";
import { Mesh } from "../mesh.ts";
import { checkTarget, poolsFor, refuseBeside } from "./_target.ts";
import type { BrowserCreateOptions } from "./browser_options.ts";
import { MeshClient } from "./client.ts";
import { type RuntimeParts, runtimeWith } from "./runtime_with.ts";

/** What `create` works with in a browser. */
export interface BrowserCreateParts extends RuntimeParts {
  /** The strategies that can be named. */
  readonly strategies: readonly Connector<"strategy">[];
}

/**
 * Makes a client.
 *
 * @param parts Runtime and strategies.
 * @param first A capability, or the options.
 * @param second The options, after a capability.
 * @throws What can be known at once: an unknown capability, no provider, a missing key, an option that does not hold.
 */
export function createBrowserClient(
  parts: BrowserCreateParts,
  first: string | BrowserCreateOptions,
  second: BrowserCreateOptions = {},
): MeshClient {
  const options: BrowserCreateOptions = typeof first === "string" ? { ...second, capability: first } : first ?? {};
  const { config, capability = null, pool, on, storage } = options;
  if (storage !== undefined && typeof storage.keeperOf !== "function") {
    throw new ConfigError([{
      path: "storage",
      message: "expected what stateIn(…) returns, as in stateIn(localStorageStorage())",
    }]);
  }
  const plan = config === undefined ? explicit(options, parts) : configured(config, options);
  const mesh = new Mesh({
    connectors: plan.connectors,
    runtime: runtimeWith(parts, options),
    ...(on === undefined ? {} : { on }),
    ...(storage === undefined ? {} : { storage }),
  });
  mesh.configure(plan.settings, config === undefined ? poolsFor(options.capability) : undefined);
  checkTarget(mesh, options);
  return new MeshClient({
    mesh,
    capability,
    middleware: [options.middleware ?? []].flat(),
    ...(pool === undefined ? {} : { pool }),
  });
}

interface Plan {
  readonly settings: Settings;
  readonly connectors: readonly Connector[];
}

function explicit(options: BrowserCreateOptions, { strategies }: BrowserCreateParts): Plan {
  const { settings, connectors } = explicitPlan(options, strategies.map(({ id }) => id));
  return { settings, connectors: [...connectors, ...strategies] };
}

function configured(config: NonNullable<BrowserCreateOptions["config"]>, options: BrowserCreateOptions): Plan {
  refuseBeside(options);
  // what programs in plain JavaScript may pass: a document, or a path as on a server
  const isParsed = typeof config === "object" && config.settings?.providers instanceof Map;
  if (!isParsed) {
    const message = "there are no files here, and documents are checked on request only: " +
      "pass what MeshConfig.parse(document) of this entry returns";
    throw new ConfigError([{ path: "config", message }]);
  }
  const { settings, connectors } = config;
  if (settings.providers.size === 0) {
    throw new NoProvidersError('The configuration has no "providers", and a browser has no environment to find any in');
  }
  return { settings: withKeys(settings, options), connectors };
}

/** Secret references of the configuration are keys of the program first, then secrets of its store. */
function withKeys(settings: Settings, { apiKeys = {}, secrets }: BrowserCreateOptions): Settings {
  const { resolve } = settings.secrets;
  return {
    ...settings,
    secrets: {
      ...settings.secrets,
      resolve: (written, open) =>
        resolve(written, (id, config) => {
          const store = secrets ?? open(id, config);
          return { get: (name) => Object.hasOwn(apiKeys, name) ? Promise.resolve(apiKeys[name]) : store.get(name) };
        }),
    },
  };
}
