/**
 * The lifecycle of an engine: its start, its background work, and its end. Imported when the engine starts.
 * @module
 */
import { queryProviders } from "../background/ask_providers.ts";
import type { CacheMemory } from "../background/open_cache.ts";
import type { CatalogueRenewal } from "../background/catalogue_renewal.ts";
import type { FetchedCatalogue } from "../background/catalogue_record.ts";
import { discoverModels } from "../background/discover.ts";
import { Monitoring } from "../background/monitoring.ts";
import { openProviders } from "../background/open_provider.ts";
import { Outages } from "../background/outages.ts";
import { RecoveryTimer } from "../background/recovery.ts";
import type { Relisting } from "../background/relisting.ts";
import { isRetiring } from "../config/check/is_retiring.ts";
import type { SettingsSecrets } from "../config/secrets/settings_secrets.ts";
import { isProvider } from "../config/settings/known.ts";
import { isQueryEnabled } from "../config/settings/offers.ts";
import type { Settings } from "../config/settings/settings.ts";
import type { Cancel, Runtime } from "../contracts/runtime.ts";
import { MeshError } from "../errors.ts";
import type { Hub } from "../observe/hub.ts";
import type { Statistics } from "../observe/statistics.ts";
import type { ReportedMesh, StatisticsReports } from "../observe/statistics_reports.ts";
import { perform } from "../pipeline/perform.ts";
import { spaceWarnings } from "../registry/embedding_spaces.ts";
import { loadConnectors } from "../registry/load_connectors.ts";
import { findNamedModels } from "../registry/named_models.ts";
import { adoptOpened, type Pool, type Registry } from "../registry/registry.ts";
import type { Transition } from "../state/breaker/circuit_breaker.ts";
import { loadBudgetWindows } from "../state/limits/budget.ts";
import type { StateStore } from "../state/persistence/state_store.ts";
import { assemble } from "./assemble.ts";
import type { Assembly, AssemblyContext, AssemblyPlan, Known } from "./assembly.ts";
import { resolveSettings, type ResolvingParts } from "./resolve.ts";
import { formatWarnings } from "./warnings.ts";
import type { RenewedMesh } from "../background/key_renewal.ts";
import type { Storage } from "../contracts/storage.ts";
import type { ConfiguredSink } from "../observe/output.ts";
import type { ConnectorCatalogue } from "../registry/catalogue.ts";
import { version } from "../version.ts";

/** The engine. */
interface RunningEngine extends SinkOwner, RenewedMesh, ReportedMesh, ResolvingParts {
  readonly runtime: Runtime;
  readonly hub: Hub;
  readonly registry: Registry;
  readonly statistics: Statistics;
  readonly cacheMemory: CacheMemory;
  readonly siblings: StateStore["siblings"];
  onClose(task: () => Promise<void>): void;
  publishMembers(added?: Pool): void;
  warn(messages: readonly string[]): void;
}

/** Dependencies of a lifecycle. */
interface LifecycleParts {
  readonly context: AssemblyContext;
  /** Persists the state. */
  readonly store: StateStore | undefined;
}

/** One engine from start to close. Restarted under other settings, it keeps its record of outages. */
export class Lifecycle {
  readonly #engine: RunningEngine;
  readonly #parts: LifecycleParts;
  /** Health probes and model synchronization. */
  readonly monitoring: Monitoring = new Monitoring();
  /** Detects pools without an active model. */
  readonly outages: Outages;
  /** Performs a request. */
  readonly perform: typeof perform = perform;
  readonly #recovery: RecoveryTimer;
  /** Undefined before the start. */
  #registry: Registry | undefined;
  #relisting: Relisting | undefined;
  #reports: StatisticsReports | undefined;
  #stopRenewal: Cancel | undefined;
  #catalogueRenewal: CatalogueRenewal | undefined;
  /** The document that the models are from; undefined for the built-in catalogue. */
  #document: FetchedCatalogue | undefined;

  constructor(engine: RunningEngine, parts: LifecycleParts) {
    const { hub, runtime: { clock } } = engine;
    this.#engine = engine;
    this.#parts = parts;
    this.outages = new Outages(hub, clock);
    this.#recovery = new RecoveryTimer(clock);
  }

  /**
   * Reads secrets, creates sinks and providers, and lists the models of local servers.
   *
   * @param plan Settings as written, and pools.
   * @returns The assembly, and the resolver of its secrets.
   */
  async open(
    { settings: written, addPools }: AssemblyPlan,
  ): Promise<{ assembly: Assembly; secrets?: SettingsSecrets }> {
    const engine = this.#engine;
    const { settings, secrets } = await resolveSettings(written, engine);
    await engine.hub.configure(await createSinks(settings, engine));
    await this.#renewKeys(settings);
    await this.#startReports();
    if (settings.catalogue !== undefined) {
      const { useKeptCatalogue } = await import("../background/catalogue_renewal.ts");
      const { runtime, hub, catalogue, redactor } = engine;
      this.#document = await useKeptCatalogue({ runtime, hub, catalogue, redactor, settings });
    }
    await loadConnectors(settings, engine.catalogue);
    if (settings.hasLimitLists) await loadBudgetWindows();
    const assembly = await this.#assembleOpen({ settings, addPools });
    if (settings.hasLimits) {
      const { LimitedScopes } = await import("../state/limits/limited_scopes.ts");
      const before = this.#parts.context.stateBefore(settings)?.scopes;
      const { state } = assembly;
      state.scopes = new LimitedScopes(settings, { state, clock: engine.runtime.clock }, before);
    }
    if (settings.guards !== undefined) {
      const { openGuards } = await import("../background/open_guards.ts");
      assembly.deps.guarding = await openGuards(settings, assembly.deps, engine.catalogue);
    }
    if (settings.cache !== undefined) {
      const { openCache } = await import("../background/open_cache.ts");
      const { deps } = assembly;
      deps.caching = await openCache(settings.cache, { mesh: engine, resolved: settings, written, deps });
    }
    if (hasAffinity(settings)) {
      const { openAffinity } = await import("../background/open_affinity.ts");
      openAffinity(assembly, { runtime: engine.runtime, warn: (messages) => engine.warn(messages) });
    }
    return { assembly, ...(secrets && { secrets }) };
  }

  /** Restores the persisted state, and starts the background work. */
  async begin(assembly: Assembly): Promise<void> {
    const { settings, state, registry, deps } = assembly;
    this.#registry = registry;
    await this.#parts.store?.load(state);
    if (registry.instances.some(({ entry }) => isQueryEnabled(entry, "quota"))) {
      const { checkQuotas } = await import("../background/provider_queries.ts");
      await checkQuotas(registry, deps);
    }
    this.#recovery.schedule(state);
    registry.onMembersChanged = (added) => this.#engine.publishMembers(added);
    this.#engine.publishMembers();
    await this.monitoring.start({ ...deps, settings, state, registry, catalogue: this.#engine.catalogue });
    await this.relist(assembly);
    await this.#renewCatalogue(assembly);
  }

  /** Goes on asking providers for lists of models that could not be had. */
  async relist({ settings, state, registry, deps, addPools }: Assembly): Promise<void> {
    this.#catalogueRenewal?.adopt(settings);
    this.#relisting?.stop();
    if (registry.instances.every(({ listProblem }) => listProblem === undefined)) return;
    const { Relisting } = await import("../background/relisting.ts");
    const { catalogue } = this.#engine;
    this.#relisting = new Relisting({ ...deps, settings, state, registry, catalogue, addPools });
  }

  /** Traces that the engine is ready, with its numbers of providers and pools, and warnings. */
  async report({ settings, registry }: Assembly): Promise<void> {
    const { instances, pools } = registry;
    const message = `Ready with ${instances.length} providers and ${pools.length} pools`;
    this.#engine.hub.trace({ severity: "debug", component: "mesh", message });
    const retirements = await this.#retirements(settings);
    const unserved = await unservedLines(registry, settings);
    this.#engine.warn([...formatWarnings(settings), ...retirements, ...spaceWarnings(pools), ...unserved]);
  }

  /** Handles a model or provider that has entered standby or become active. */
  follow(transition: Transition, { registry, state }: Assembly): void {
    this.outages.check(registry, transition);
    if (transition.to === "standby") this.#recovery.follow(transition, state);
  }

  /** Stops probing and reporting: another engine continues this work. */
  retire(): void {
    this.monitoring.stop();
    this.#relisting?.stop();
    this.#catalogueRenewal?.stop();
    this.#reports?.stop();
  }

  /** Stops the background work, after a last report. */
  async close(): Promise<void> {
    this.#recovery.stop();
    for (const { queue } of this.#registry?.allPools ?? []) {
      queue?.close(new MeshError("The mesh is closed", { code: "shutting_down" }));
    }
    this.monitoring.stop();
    this.#relisting?.stop();
    this.#catalogueRenewal?.stop();
    await this.#reports?.close();
  }

  /** Assembles with opened providers, and with what they report about their models. */
  async #assembleOpen(plan: AssemblyPlan): Promise<Assembly> {
    const { context } = this.#parts;
    const first = assemble(plan, context);
    await openProviders(first.registry.instances, context);
    const withKnown = (reused: Known) => adoptProviders(first, assemble(plan, context, reused));
    const discovered = await discoverModels(first.registry.instances, { ...first.deps, settings: plan.settings });
    const listed = discovered.size > 0 ? withKnown({ discovered }) : first;
    const queried = await queryProviders(listed.registry.instances, listed.registry, context);
    return queried === undefined ? listed : withKnown({ discovered, queried });
  }

  /** Keys are renewed on servers, and in pages whose configuration names a secret store. */
  async #renewKeys({ secrets }: Settings): Promise<void> {
    this.#stopRenewal?.();
    this.#stopRenewal = undefined;
    if (!secrets?.reloadOnRotation) return;
    const { KeyRenewal } = await import("../background/key_renewal.ts");
    const renewal = new KeyRenewal(this.#engine);
    this.#stopRenewal = this.#engine.hub.on("event", (event) => renewal.follow(event));
  }

  /** Goes on fetching the catalogue, if that is configured. */
  async #renewCatalogue({ settings, state, registry, deps, addPools }: Assembly): Promise<void> {
    this.#catalogueRenewal?.stop();
    if (settings.catalogue === undefined) return;
    const { CatalogueRenewal } = await import("../background/catalogue_renewal.ts");
    const { catalogue } = this.#engine;
    const isRetained = settings.storage !== undefined && settings.storage.policy !== "in-memory";
    const storage = isRetained ? this.#parts.store?.storage : undefined;
    this.#catalogueRenewal = new CatalogueRenewal({
      ...deps,
      settings,
      state,
      registry,
      catalogue,
      addPools,
      storage,
      used: this.#document,
    });
  }

  async #startReports(): Promise<void> {
    this.#reports?.stop();
    this.#reports = undefined;
    if (this.#engine.hub.statisticsOutputs.length === 0) return;
    const { StatisticsReports } = await import("../observe/statistics_reports.ts");
    this.#reports = new StatisticsReports(this.#engine);
  }

  /** Warns of models with a retirement date. Imported only when there is one to warn of. */
  async #retirements(settings: Settings): Promise<string[]> {
    const { catalogue, runtime } = this.#engine;
    const now = runtime.clock.now();
    const named = new Set([...settings.providers.values()].map(({ connector }) => connector));
    const providers = catalogue.all.filter(isProvider).filter(({ id }) => named.has(id)); // no other lists are loaded
    if (!providers.some(({ models }) => models.some(({ retires }) => isRetiring(retires, now)))) return [];
    const { retirementWarnings } = await import("../config/check/retirement.ts");
    return formatWarnings({ warnings: retirementWarnings(settings, { providers, now }) });
  }
}

/** Whether a pool has prompt-cache affinity, or each that is created on demand. */
function hasAffinity({ pools, defaultRouting }: Settings): boolean {
  return defaultRouting.affinity !== undefined ||
    [...pools.values()].some(({ routing }) => routing.affinity !== undefined);
}

/** Moves the opened providers of an assembly into a new one. */
function adoptProviders(before: Assembly, next: Assembly): Assembly {
  next.registry.instances.forEach((instance, index) => {
    adoptOpened(instance, before.registry.instances[index]!);
  });
  return next;
}

/** Warns of pools and endpoints without a model, and of names without one. Imported only when there may be one. */
async function unservedLines(registry: Registry, settings: Settings): Promise<string[]> {
  const mayBeUnserved = registry.pools.some(({ members }) => members.length === 0) ||
    settings.proxy?.endpoints !== undefined ||
    [...settings.pools.values()].some(({ models }) =>
      models.some((name) => findNamedModels(name, registry) === undefined)
    );
  if (!mayBeUnserved) return [];
  const { unservedWarnings } = await import("../registry/unserved.ts");
  return formatWarnings({ warnings: unservedWarnings(registry, settings) });
}

/** Dependencies of sinks. */
interface SinkOwner {
  readonly catalogue: ConnectorCatalogue;
  readonly runtime: Runtime;
  readonly statistics: Pick<Statistics, "instanceId">;
  warn(messages: readonly string[]): void;
  /** The storage of the state, once it is open. */
  readonly storage: Storage | undefined;
}

/**
 * Creates the sinks that settings name.
 *
 * @param settings Settings.
 * @param owner Dependencies.
 * @throws {ConnectorError} When a sink's code cannot be imported.
 */
async function createSinks(settings: Settings, owner: SinkOwner): Promise<ConfiguredSink[]> {
  if (settings.observability.length === 0) return [];
  const { loadSinks } = await import("../registry/sinks.ts");
  return await loadSinks(settings, {
    catalogue: owner.catalogue,
    runtime: owner.runtime,
    mesh: {
      storage: () => owner.storage,
      version,
      instanceId: owner.statistics.instanceId,
      warn: (message) => owner.warn([message]),
    },
  });
}
