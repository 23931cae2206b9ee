/**
 * Builds the sections `secrets`, `storage`, `discovery` and `observability`.
 * @module
 */
import { byId, readAttributes, resolveConnector } from "../check/connectors.ts";
import { type Report, show } from "../schema/report.ts";
import { copyTree, deepFreeze } from "../schema/tree.ts";
import type { KnownConnectors } from "../settings/known.ts";
import { referencesIn } from "../schema/references.ts";
import { complete, type Completed } from "../schema/complete.ts";
import {
  cache,
  type CacheValues,
  discovery,
  type DocumentValues,
  type HealthValues,
  secrets,
  type SecretValues,
  storage,
  type StorageValues,
  type SyncValues,
} from "../schema/schema.ts";
import type {
  CacheSettings,
  CatalogueSettings,
  HealthSettings,
  SecretSettings,
  SyncSettings,
} from "../settings/settings.ts";
import type { StorageSettings } from "../settings/storage.ts";
import { checkProviders, expandProviders, type ProviderParts } from "../check/names.ts";
import type { Given } from "../schema/field.ts";
import { observability, type ObservabilityValues } from "../schema/observability.ts";
import { defaultSink } from "../settings/defaults.ts";
import type { ConnectorKey, SinkOutput, SinkSettings } from "../settings/observability.ts";

/** Checks the connector and attributes of the store. */
export function buildSecrets(values: SecretValues, knownConnectors: KnownConnectors, report: Report): SecretSettings {
  const { resolution: { cacheEnabled, cacheTtlMs, ...resolution }, ...completed } = complete(secrets, values);
  const { store: namedStore, resolution: _, ...others } = values;
  const store = namedStore === undefined ? completed.store : resolveConnector(namedStore, {
    connectors: byId(knownConnectors.secretStores),
    what: "secret store",
    path: "secrets.store",
    report,
  });
  const config = copyTree(others, (text, path) => {
    if (referencesIn(text).names.length === 0) return;
    report.problem(path, "cannot be a secret reference: this section configures the secret store");
  }, "secrets") as Readonly<Record<string, unknown>>;
  const declared = knownConnectors.findAttributes("secretStore", store);
  return Object.freeze({
    store,
    ...resolution,
    config: deepFreeze(
      readAttributes(config, { path: "secrets", connector: store, declared, common: ["path", "region"], report }),
    ),
    cacheTtlMs: cacheEnabled ? cacheTtlMs : 0,
  });
}

/** Checks connector, attributes and locking, and fills in defaults; undefined without the section. */
export function buildStorage(
  values: StorageValues | undefined,
  { storages, findAttributes }: Pick<KnownConnectors, "storages" | "findAttributes">,
  report: Report,
): StorageSettings | undefined {
  if (values === undefined) return undefined;
  if (storages.length === 0) {
    report.warn(
      "storage",
      "has no effect in a page: pass the storage to create(), as in stateIn(localStorageStorage())",
    );
    return undefined;
  }
  const { syncPolicy: policy, syncIntervalMs: intervalMs, persistence, locking, ...settings } = complete(
    storage,
    values,
  )!;
  const connector = resolveConnector(settings.connector, {
    connectors: byId(storages),
    what: "storage",
    path: "storage.connector",
    report,
  });
  const { syncPolicy: _, syncIntervalMs: __, ...coding } = persistence;
  const config = Object.fromEntries(Object.entries(values).filter(([key]) => !Object.hasOwn(storage.fields, key)));
  return {
    ...settings,
    connector,
    config: deepFreeze(readAttributes(config, {
      path: "storage",
      connector,
      declared: findAttributes("storage", connector),
      common: ["path", "bucket", "key", "region", "credentials"],
      report,
    })),
    policy,
    intervalMs,
    ...coding,
    locking: buildLocking(locking, policy),
  };
}

/** Checks the storage and the scope of the cache; undefined without the section. */
export function buildCache(
  values: CacheValues,
  { document, findPoolNames, knownConnectors, report }: {
    readonly document: DocumentValues;
    /** Resolves the name of a pool, or reports it. */
    readonly findPoolNames: (name: string, path: string) => readonly string[];
    readonly knownConnectors: KnownConnectors;
    readonly report: Report;
  },
): CacheSettings {
  const { storage: _, pools, ...settings } = complete(cache, values)!;
  const { proxy, teams } = document;
  const { tokens = [], admin_tokens = [], jwt = [] } = proxy?.auth ?? {};
  if (values.scope === "client" && proxy !== undefined && tokens.length + admin_tokens.length + jwt.length === 0) {
    report.problem("cache.scope", 'has no clients: name them in "proxy.auth", or share responses with "all"');
  }
  const own = values.storage && buildCacheStorage(values.storage, knownConnectors, report);
  if (values.scope === "team" && !teams?.size) report.problem("cache.scope", 'has no teams: add a section "teams"');
  return {
    ...settings,
    ...(pools && { pools: pools.flatMap((name, index) => findPoolNames(name, `cache.pools[${index}]`)) }),
    ...(own && { storage: own }),
  };
}

function buildCacheStorage(
  { connector: name = "", ...config }: NonNullable<CacheValues["storage"]>,
  { storages, findAttributes, hasEntries }: Pick<KnownConnectors, "storages" | "findAttributes" | "hasEntries">,
  report: Report,
): CacheSettings["storage"] {
  const path = "cache.storage";
  if (storages.length === 0) return void report.warn(path, "has no effect in a page, whose cache is in memory");
  const reference = { connectors: byId(storages), what: "storage", path: `${path}.connector`, report };
  const connector = name === "" ? name : resolveConnector(name, reference);
  if (storages.includes(connector) && !hasEntries(connector)) {
    const others = storages.filter(hasEntries).map(show);
    report.problem(`${path}.connector`, `entries of ${show(connector)} cannot expire: use ${others.join(" or ")}`);
  }
  const declared = findAttributes("storage", connector);
  return { connector, config: deepFreeze(readAttributes(config, { path, connector, declared, report })) };
}

/** Locking is off for policies of a single process unless configured; undefined if off. */
function buildLocking(
  { enabled, ...locking }: Completed<typeof storage.fields.locking>,
  policy: StorageSettings["policy"],
): StorageSettings["locking"] {
  return enabled ?? (policy === "immediate" || policy === "periodic") ? locking : undefined;
}

interface DiscoverySectionParts extends ProviderParts {
  readonly knownConnectors: Pick<KnownConnectors, "discovery">;
  readonly report: Report;
}

/** Resolves provider and connector names. */
export function buildDiscovery(
  { sync = {}, health = {}, catalogue }: NonNullable<DocumentValues["discovery"]>,
  parts: DiscoverySectionParts,
): { readonly sync: SyncSettings; readonly health: HealthSettings; readonly catalogue?: CatalogueSettings } {
  return {
    sync: buildSync(sync, parts),
    health: buildHealth(health, parts),
    ...(catalogue && { catalogue: complete(discovery.fields.catalogue, catalogue) }),
  };
}

function buildSync(values: SyncValues, parts: DiscoverySectionParts): SyncSettings {
  const { enabled, intervalMs, providers, ...completed } = complete(discovery.fields.sync, values);
  const { connector: _, enabled: __, interval: ___, providers: ____, ...own } = discovery.fields.sync.fields;
  const actions = Object.keys(own) as (keyof typeof own)[];
  const connector = resolveSection(values, "sync", parts) ?? completed.connector;
  if (values.auto_register === false && values.on_new_model === "register") {
    parts.report.warn("discovery.sync.on_new_model", 'is "notify", since "auto_register" is false');
  }
  return {
    connector,
    enabled,
    intervalMs,
    providers: providers && expandProviders(providers, parts),
    actions: Object.fromEntries(actions.map((key) => [key, values[key] ?? own[key].default])),
  };
}

function buildHealth(values: HealthValues, parts: DiscoverySectionParts): HealthSettings {
  const named = resolveSection(values, "health", parts);
  const { providers, ...settings } = complete(discovery.fields.health, values);
  return {
    ...settings,
    ...(named === undefined ? {} : { connector: named }),
    providers: providers && expandProviders(providers, parts),
  };
}

/** Checks the providers of a section; returns the id of the connector that it names, if any. */
function resolveSection(
  { connector, providers }: Pick<SyncValues, "connector" | "providers">,
  section: "sync" | "health",
  { knownConnectors: { discovery }, ...parts }: DiscoverySectionParts,
): string | undefined {
  const { report } = parts;
  const path = `discovery.${section}`;
  checkProviders(providers, `${path}.providers`, parts);
  return connector && resolveConnector(connector, {
    connectors: byId(discovery),
    what: "discovery connector",
    path: `${path}.connector`,
    report,
  });
}

/** The sections of sinks, in order. */
const sections = ["routing", "logging", "statistics", "tracing"] as const;

/**
 * Builds the sinks.
 *
 * @param values The parsed section.
 * @param context Known connectors, whether a storage is configured, and the problem report.
 */
export function buildObservability(
  values: ObservabilityValues,
  context: Pick<SinkContext, "knownConnectors" | "hasStorage" | "report">,
): readonly SinkSettings[] {
  const { events, logging, statistics, tracing } = complete(observability, values);
  const outputs: Readonly<Record<typeof sections[number], readonly SinkOutput[] | undefined>> = {
    routing: values.routing?.map(() => ({ routing: events })),
    logging: logging?.map((sink) => ({ logging: dropConnectorKeys(sink) })),
    statistics: statistics?.map((sink) => ({ statistics: dropConnectorKeys(sink) })),
    tracing: tracing?.map((sink) => ({ tracing: dropConnectorKeys(sink) })),
  };
  return sections.flatMap((section) =>
    (values[section] ?? []).map((sink: SinkValues, index, { length }) => {
      const path = `observability.${section}${length === 1 ? "" : `[${index}]`}`;
      return { ...readSink(sink, { ...context, section, path }), ...outputs[section]![index] };
    })
  );
}

/** What an entry of any section may have for its connector. */
type SinkValues =
  & Given<typeof observability.fields.routing.item>
  & Pick<Given<typeof observability.fields.statistics.item>, "retention">;

/** Keys of an entry that are attributes of its connector. */
const attributeKeys: readonly string[] = ["url", "path", "secret"];

function dropConnectorKeys<Sink extends object>(sink: Sink): Omit<Sink, ConnectorKey> {
  const isForConnector = (key: string) => ["connector", "config", "retentionMs", ...attributeKeys].includes(key);
  return Object.fromEntries(Object.entries(sink).filter(([key]) => !isForConnector(key))) as Omit<Sink, ConnectorKey>;
}

interface SinkContext {
  readonly section: string;
  readonly path: string;
  readonly knownConnectors: KnownConnectors;
  /** Whether the section `storage` is configured. */
  readonly hasStorage: boolean;
  readonly report: Report;
}

/** Resolves the connector of a sink. Reports one that has no effect in its section. */
function resolveSink(
  name: string,
  { section, path, knownConnectors, hasStorage, report }: SinkContext,
): string {
  const problem = (message: string) => report.problem(`${path}.connector`, message);
  const connector = resolveConnector(name, {
    connectors: byId(knownConnectors.observability),
    what: "sink",
    path: `${path}.connector`,
    report,
  });
  const sections = knownConnectors.findSections(connector);
  if (sections !== undefined && !sections.includes(section)) {
    problem(`${show(connector)} has no effect here: it supports "observability.${sections[0]}"`);
  }
  if (!hasStorage && knownConnectors.needsStorage(connector) && !report.hasProblemAt(path)) {
    problem(`${show(connector)} writes to the storage: add a section "storage"`);
  }
  return connector;
}

function readSink(
  sink: SinkValues,
  context: SinkContext,
): Pick<SinkSettings, "connector" | "config"> {
  const { path, knownConnectors, report } = context;
  const { config = {}, retention: retentionMs } = sink;
  const attributes = Object.fromEntries(Object.entries(sink).filter(([key]) => attributeKeys.includes(key)));
  const connector = resolveSink(sink.connector ?? defaultSink, context);
  const declared = knownConnectors.findAttributes("observability", connector);
  const common = Object.keys(attributes);
  for (const name of common) {
    if (Object.hasOwn(config, name)) report.problem(`${path}.config.${name}`, `is also set outside of "config"`);
  }
  const reading = { connector, declared, report };
  const attributesRead = {
    ...readAttributes(config, { ...reading, path: `${path}.config` }),
    ...readAttributes(attributes, { ...reading, path, common }),
  };
  const isRetained = declared === undefined || Object.hasOwn(declared, "retention");
  if (retentionMs !== undefined && !isRetained) {
    report.warn(`${path}.retention`, `has no effect: "${connector}" does not read it`);
  }
  for (const [name, { isRequired }] of Object.entries(declared ?? {})) {
    const isGiven = attributesRead[name] !== undefined && attributesRead[name] !== null;
    if (isRequired && !isGiven && !report.hasProblemAt(path)) {
      report.problem(`${path}.${name}`, `missing: "${connector}" requires it`);
    }
  }
  return {
    connector,
    config: retentionMs === undefined ? attributesRead : { retention: retentionMs, ...attributesRead },
  };
}
