/**
 * Makes settings from the options of `create`, where providers are found by name.
 * @module
 */
import { explicitPlan, type SettingsPlan } from "../config/build/explicit.ts";
import { settingsOfDetection } from "../config/load/sources.ts";
import { defaultStrategy } from "../config/settings/defaults.ts";
import type { Engine } from "../engine/engine.ts";
import { createConfigContext } from "../registry/catalogue.ts";
import type { CreateOptions } from "./options.ts";

/**
 * Makes settings for the given providers or, without any, for those detected in the environment.
 *
 * @param options Options without a `config`.
 * @param engine An engine that has its connectors.
 * @throws {NoProvidersError} When no provider is given or detected.
 * @throws {ConfigError} For an unknown provider, model or strategy.
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
  const settings = settingsOfDetection(createConfigContext(engine), {
    ...options,
    providers: names,
    strategy: isConnector ? strategy.id : strategy,
  });
  return { settings, connectors: [] };
}
