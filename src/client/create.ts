/**
 * Implements `create`. The shell (`mod.ts`, `browser.ts`) supplies the connectors and the runtime, and turns options
 * and configurations into settings. What is wrong with its options is known at once.
 * @module
 */
import type { SettingsPlan } from "../config/build/explicit.ts";
import { Engine } from "../engine/engine.ts";
import { ConfigError, MeshError } from "../errors.ts";
import { findStoreMaker, type StatePersistence } from "../state/state_persistence.ts";
import { type ClientParts, MeshClient } from "./client.ts";
import type { MeshControls } from "./client_mesh.ts";
import type { CreateOptions } from "./options.ts";
import { type ConnectedRuntime, runtimeWith } from "./runtime_with.ts";
import { nearest } from "../util/nearest.ts";
import { capabilityTree, nearestCapabilities } from "../capability/tree.ts";
import { resolveCapability } from "../pipeline/select_pool.ts";
import { addLeafPools } from "../registry/build.ts";
import type { Registry } from "../registry/registry.ts";

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
  if (later === undefined) checkIsServed(engine, options);
  const load = later && (async () => {
    await later();
    checkIsServed(engine, options);
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

/**
 * Rejects unknown options.
 *
 * @param options The options to check. A member whose value is `undefined` is ignored.
 * @param allowed The names of all options.
 * @throws {ConfigError} Lists every unknown option, each with the nearest known name.
 */
function checkOptionNames(options: object, allowed: Readonly<Record<string, true>>): void {
  const names = Object.keys(allowed);
  const unknown = Object.entries(options).filter(([name, value]) =>
    value !== undefined && !Object.hasOwn(allowed, name)
  );
  if (unknown.length === 0) return;
  throw new ConfigError(unknown.map(([name]) => {
    const [near] = nearest(name.slice(0, 80), names, 1);
    const hint = near === undefined ? `; there are ${names.join(", ")}` : `, did you mean "${near}"?`;
    return { path: name, message: `unknown option${hint}` };
  }));
}

/**
 * Returns the function that creates the pools of a client without configured pools: one pool for the client's
 * capability, or one for each leaf of the capability tree that a model serves.
 *
 * @param capability A short name, a full path or an inner node.
 * @throws {ConfigError} When the name is unknown or ambiguous.
 */
function poolsFor(capability: string | undefined): (registry: Registry) => void {
  if (capability === undefined) return addLeafPools;
  const path = resolvePath(capability);
  return (registry) => void registry.poolAt(path, true);
}

/**
 * Checks that the client's pool and capability exist, so that an unknown name fails in `create` and not in every call.
 *
 * @throws {ConfigError} When the pool or the capability is unknown.
 */
function checkIsServed(
  { registry }: Engine,
  { pool, capability }: { readonly pool?: string; readonly capability?: string },
): void {
  for (const [path, name] of Object.entries({ pool, capability })) {
    if (name === undefined) continue;
    try {
      resolveCapability(name, registry);
    } catch (error) {
      if (!MeshError.isInstance(error)) throw error;
      throw new ConfigError([{ path, message: error.message }]);
    }
  }
}

/**
 * Rejects options that belong in the configuration when a `config` is given.
 *
 * @throws {ConfigError} Lists every such option.
 */
function refuseBeside(options: Readonly<Partial<Record<"providers" | "models" | "strategy", unknown>>>): void {
  const problems = (["providers", "models", "strategy"] as const)
    .filter((name) => options[name] !== undefined)
    .map((name) => ({ path: name, message: "goes without `config`: set it in the configuration" }));
  if (problems.length > 0) throw new ConfigError(problems);
}

function resolvePath(capability: string): string {
  const tree = capabilityTree();
  const [path, ...others] = tree.matches(capability);
  if (path !== undefined && others.length === 0) return path;
  const choices = path === undefined ? nearestCapabilities(tree, capability) : [path, ...others];
  const use = choices.map((choice) => `"${choice}"`).join(" or ") || "one such as chat-completion";
  throw new ConfigError([{
    path: "capability",
    message: `"${capability}" is ${path === undefined ? "no capability" : "ambiguous"}: use ${use}`,
  }]);
}
