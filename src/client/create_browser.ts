/**
 * The front door in browsers: providers are given, nothing is looked for. It knows neither documents nor the catalogue of
 * vendors, so that a bundle has only what the page uses.
 * @module
 */
import { explicitPlan } from "../config/build/explicit.ts";
import type { Connector } from "../contracts/connector.ts";
import { ConfigError } from "../errors.ts";
import { Engine } from "../engine/engine.ts";
import { checkOptionNames } from "./_option_names.ts";
import { checkTarget, poolsFor } from "./_target.ts";
import type { BrowserCreateOptions } from "./browser_options.ts";
import { MeshClient } from "./client.ts";
import { type RuntimeParts, runtimeWith } from "./runtime_with.ts";

/** What `create` works with in a browser. */
export interface BrowserCreateParts extends RuntimeParts {
  /** The strategy in use when a program gives none. */
  readonly strategy: Connector<"strategy">;
}

/** Each option once; the type keeps the list whole. */
const optionNames: Readonly<Record<keyof BrowserCreateOptions, true>> = {
  capability: true,
  providers: true,
  strategy: true,
  config: true,
  pool: true,
  middleware: true,
  storage: true,
  on: true,
  fetch: true,
  clock: true,
  random: true,
};

/**
 * Makes a client.
 *
 * @param parts Runtime and strategy.
 * @param first A capability, or the options.
 * @param second The options, after a capability.
 * @throws What can be known at once: an unknown capability, no provider, an option that does not hold.
 */
export function createBrowserClient(
  parts: BrowserCreateParts,
  first: string | BrowserCreateOptions,
  second: BrowserCreateOptions = {},
): MeshClient {
  const options: BrowserCreateOptions = typeof first === "string" ? { ...second, capability: first } : first ?? {};
  checkOptionNames(options, optionNames);
  const { config, capability, pool, on, storage, middleware = [] } = options;
  // programs in plain JavaScript may pass a bare storage, and a document or a path as on a server
  if (storage !== undefined && typeof storage?.storeFor !== "function") {
    throw refused("storage", "expected what stateIn(…) returns, as in stateIn(localStorageStorage())");
  }
  if (config !== undefined && typeof config?.plan !== "function") {
    throw refused("config", "expected what MeshConfig.parse(document) of this entry returns");
  }
  const { settings, ...plan } = config?.plan(options) ?? explicitPlan(options, parts.strategy);
  const engine = new Engine({ ...plan, runtime: runtimeWith(parts, options), on, storage });
  engine.configure(settings, config === undefined ? poolsFor(capability) : undefined);
  checkTarget(engine, options);
  return new MeshClient({ engine, capability: capability ?? null, middleware: [middleware].flat(), pool });
}

function refused(path: string, message: string): ConfigError {
  return new ConfigError([{ path, message }]);
}
