/**
 * The front door: `create`.
 * @module
 */
import { configuredPersistence } from "../background/configured_store.ts";
import { type ConfigSource, givenDocument, readSource, type SourcedDocument } from "../config/load/config_source.ts";
import { settingsOf, settingsOfDetection } from "../config/load/sources.ts";
import type { PluggableConnector } from "../contracts/connector.ts";
import { ConfigError } from "../errors.ts";
import { loadPackages, namesPackages } from "../registry/packages.ts";
import { configContextOf } from "../registry/catalogue.ts";
import { nearestCapabilities } from "../capability/nearest.ts";
import { Engine } from "../engine/engine.ts";
import { checkOptionNames } from "./_option_names.ts";
import { checkTarget, poolsFor, refuseBeside } from "./_target.ts";
import type { CreateOptions } from "./options.ts";
import { MeshClient } from "./client.ts";
import { type RuntimeParts, runtimeWith } from "./runtime_with.ts";

/** What `create` works with. */
export interface CreateParts extends RuntimeParts {
  /** Connectors, in order of detection. */
  readonly connectors: readonly PluggableConnector[];
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
 * @param parts Connectors and runtime.
 * @param first A capability, or the options.
 * @param second The options, after a capability.
 * @throws What can be known at once: an unknown capability, no provider, a bad configuration object.
 */
export function createClient(parts: CreateParts, first: string | CreateOptions, second?: CreateOptions): MeshClient {
  const options: CreateOptions = typeof first === "string" ? { ...second, capability: first } : first ?? {};
  checkOptionNames(options, optionNames);
  const runtime = runtimeWith(parts, options);
  const engine: Engine = new Engine({
    connectors: parts.connectors,
    runtime,
    on: options.on,
    storage: keepingOf(options) ?? configuredPersistence(() => engine),
  });
  const { config } = options;
  if (config === undefined) {
    const addPools = poolsFor(options.capability, nearestCapabilities);
    engine.configure(settingsOfDetection(configContextOf(engine), options), addPools);
    checkTarget(engine, options);
  } else refuseBeside(options);
  const given = config === undefined ? undefined : givenDocument(config);
  const isRead = given !== undefined && !namesPackages(given.document); // code is loaded when the client gets ready
  if (isRead) configureWith(engine, given, options);
  return new MeshClient({
    engine,
    capability: options.capability ?? null,
    middleware: [options.middleware ?? []].flat(),
    pool: options.pool,
    load: config === undefined || isRead ? undefined : () => load(engine, config, options),
  });
}

/** Programs in plain JavaScript may pass a bare storage. */
function keepingOf({ storage }: CreateOptions): CreateOptions["storage"] {
  if (storage === undefined || typeof storage?.storeFor === "function") return storage;
  throw new ConfigError([{ path: "storage", message: "expected what stateIn(…) returns" }]);
}

function configureWith(engine: Engine, { document, source }: SourcedDocument, options: CreateOptions): void {
  const { apiKeys } = options;
  engine.configure(settingsOf(document, configContextOf(engine), {
    ...(source === undefined ? {} : { source }),
    ...(apiKeys === undefined ? {} : { apiKeys }),
  }));
  checkTarget(engine, options);
}

async function load(engine: Engine, config: ConfigSource, options: CreateOptions): Promise<void> {
  const read = await readSource(config, engine.runtime.files);
  await loadPackages(read.document, engine);
  configureWith(engine, read, options);
}
