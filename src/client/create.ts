/**
 * Implements `create`. The shell (`mod.ts`, `browser.ts`) supplies the connectors and the runtime, and turns options
 * and configurations into settings.
 * @module
 */
import type { SettingsPlan } from "../config/build/explicit.ts";
import { Engine } from "../engine/engine.ts";
import { ConfigError } from "../errors.ts";
import { findStoreMaker, type StatePersistence } from "../state/state_persistence.ts";
import { checkOptionNames } from "./_option_names.ts";
import { checkTarget, poolsFor, refuseBeside } from "./_target.ts";
import { type ClientParts, MeshClient } from "./client.ts";
import type { MeshControls } from "./client_mesh.ts";
import type { CreateOptions } from "./options.ts";
import { type ConnectedRuntime, runtimeWith } from "./runtime_with.ts";

/** What a shell supplies to `create`. */
export interface CreateParts extends ConnectedRuntime {
  /** Makes settings from options without a configuration. */
  readonly createPlan: (options: CreateOptions, engine: Engine) => SettingsPlan;
  /**
   * Returns where state is persisted according to the configuration; undefined when no configuration can name a
   * storage.
   */
  readonly createPersistence: (options: CreateOptions, engine: () => Engine) => StatePersistence | undefined;
  /** Configures the engine from `config`: synchronously, or in the function it returns. */
  readonly configure: (engine: Engine, options: CreateOptions) => (() => Promise<void>) | undefined;
  /** Imports the controls of the client's mesh when it starts; absent in pages, which import them on demand. */
  readonly loadControls?: () => Promise<MeshControls>;
}

/** The name of every option. The type makes the list exhaustive. */
const optionNames: Readonly<Record<keyof CreateOptions, true>> = {
  capability: true,
  config: true,
  providers: true,
  models: true,
  strategy: true,
  pool: true,
  apiKeys: true,
  middleware: true,
  env: true,
  fetch: true,
  clock: true,
  random: true,
  storage: true,
  on: true,
};

/**
 * Creates a client.
 *
 * @param parts What the shell supplies.
 * @param first A capability, or the options.
 * @param second The options, when `first` is a capability.
 * @throws {ConfigError} When an option, the capability or the configuration object is invalid.
 * @throws {NoProvidersError} When no provider is configured or detected.
 */
export function createClient(parts: CreateParts, first: string | CreateOptions, second?: CreateOptions): MeshClient {
  const options: CreateOptions = typeof first === "string" ? { ...second, capability: first } : first ?? {};
  checkOptionNames(options, optionNames);
  checkKinds(options);
  const { config, capability, pool, on, middleware, storage = parts.createPersistence(options, () => engine) } =
    options;
  const engine: Engine = new Engine({
    connectors: parts.connectors,
    runtime: runtimeWith(parts, options),
    on,
    storage,
  });
  let later: (() => Promise<void>) | undefined;
  if (config === undefined) {
    const addPools = poolsFor(capability);
    engine.configureBy(parts.createPlan(options, engine), addPools);
  } else {
    refuseBeside(options);
    later = parts.configure(engine, options);
  }
  if (later === undefined) checkTarget(engine, options);
  const load = later && (async () => {
    await later();
    checkTarget(engine, options);
  });
  const { loadControls } = parts;
  return newClient({
    engine,
    capability: capability ?? null,
    middleware: [middleware ?? []].flat(),
    pool,
    load,
    loadControls,
  });
}

/** Calls the constructor, which is private so that the published declarations omit its parameter. */
function newClient(parts: ClientParts): MeshClient {
  return new (MeshClient as unknown as new (parts: ClientParts) => MeshClient)(parts);
}

/** Checks the types of options at run time, for programs in plain JavaScript. */
function checkKinds({ storage, config }: CreateOptions): void {
  const problems = [
    ...storage !== undefined && findStoreMaker(storage) === undefined
      ? [{ path: "storage", message: "expected what stateIn(…) returns" }]
      : [],
    ...config !== undefined && !config
      ? [{ path: "config", message: "expected a path, a document or a MeshConfig" }]
      : [],
  ];
  if (problems.length > 0) throw new ConfigError(problems);
}
