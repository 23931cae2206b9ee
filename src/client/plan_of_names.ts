/**
 * What the options of `create` come to where providers are found by name.
 * @module
 */
import { explicitPlan, type SettingsPlan } from "../config/build/explicit.ts";
import { settingsOfDetection } from "../config/load/sources.ts";
import { defaultStrategy } from "../config/settings/defaults.ts";
import type { Engine } from "../engine/engine.ts";
import { configContextOf } from "../registry/catalogue.ts";
import type { CreateOptions } from "./options.ts";

/**
 * The settings of providers that are given or, where none is, found in the environment.
 *
 * @param options Without a `config`.
 * @param engine Has the connectors.
 * @throws {NoProvidersError} When there is no provider.
 * @throws {ConfigError} For a provider, model or strategy that does not exist.
 */
export function planOfNames(options: CreateOptions, engine: Engine): SettingsPlan {
  const { providers, strategy } = options;
  const { catalogue } = engine;
  const names = providers?.filter((provider) => typeof provider === "string");
  if (names?.length !== providers?.length) {
    return explicitPlan(options, { builtIn: defaultStrategy, ids: catalogue.ids("strategy") });
  }
  const isConnector = typeof strategy === "object" && "create" in strategy;
  if (isConnector) catalogue.register(strategy.id, strategy);
  const settings = settingsOfDetection(configContextOf(engine), {
    ...options,
    providers: names,
    strategy: isConnector ? strategy.id : strategy,
  });
  return { settings, connectors: [] };
}
