/**
 * The front door: `create`. What options and configurations come to is for the shell to say, which knows where there are
 * connectors, an environment and files.
 * @module
 */
import type { SettingsPlan } from "../config/build/explicit.ts";
import { Engine } from "../engine/engine.ts";
import { ConfigError } from "../errors.ts";
import { type StatePersistence, storeMakerOf } from "../state/persistence/state_store.ts";
import { checkOptionNames } from "./_option_names.ts";
import { checkTarget, poolsFor, refuseBeside } from "./_target.ts";
import { type ClientParts, MeshClient } from "./client.ts";
import type { CreateOptions } from "./options.ts";
import { type ConnectedRuntime, runtimeWith } from "./runtime_with.ts";

/** What `create` works with. */
export interface CreateParts extends ConnectedRuntime {
  /** Says what options without a configuration come to. */
  readonly planOf: (options: CreateOptions, engine: Engine) => SettingsPlan;
  /** Keeps states where a configuration says; undefined where none can say. */
  readonly persistenceOf: (options: CreateOptions, engine: () => Engine) => StatePersistence | undefined;
  /** Configures by `config`, at once or by what it returns. */
  readonly configure: (engine: Engine, options: CreateOptions) => (() => Promise<void>) | undefined;
}

/** Each option once; the type keeps the list whole. */
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
 * Makes a client.
 *
 * @param parts Connectors and runtime, and how they are configured.
 * @param first A capability, or the options.
 * @param second The options, after a capability.
 * @throws What can be known at once: an unknown capability, no provider, a bad configuration object.
 */
export function createClient(parts: CreateParts, first: string | CreateOptions, second?: CreateOptions): MeshClient {
  const options: CreateOptions = typeof first === "string" ? { ...second, capability: first } : first ?? {};
  checkOptionNames(options, optionNames);
  checkKinds(options);
  const { config, capability, pool, on, middleware, storage = parts.persistenceOf(options, () => engine) } = options;
  const engine: Engine = new Engine({
    connectors: parts.connectors,
    runtime: runtimeWith(parts, options),
    on,
    storage,
  });
  let later: (() => Promise<void>) | undefined;
  if (config === undefined) {
    const addPools = poolsFor(capability);
    engine.configureBy(parts.planOf(options, engine), addPools);
  } else {
    refuseBeside(options);
    later = parts.configure(engine, options);
  }
  if (later === undefined) checkTarget(engine, options);
  const load = later && (async () => {
    await later();
    checkTarget(engine, options);
  });
  return newClient({ engine, capability: capability ?? null, middleware: [middleware ?? []].flat(), pool, load });
}

/** Its constructor is private, so that what it takes is no part of the declarations. */
function newClient(parts: ClientParts): MeshClient {
  return new (MeshClient as unknown as new (parts: ClientParts) => MeshClient)(parts);
}

/** Programs in plain JavaScript pass what they like. */
function checkKinds({ storage, config }: CreateOptions): void {
  const problems = [
    ...storage !== undefined && storeMakerOf(storage) === undefined
      ? [{ path: "storage", message: "expected what stateIn(…) returns" }]
      : [],
    ...config !== undefined && !config
      ? [{ path: "config", message: "expected a path, a document or a MeshConfig" }]
      : [],
  ];
  if (problems.length > 0) throw new ConfigError(problems);
}
