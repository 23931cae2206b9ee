/**
 * A run of an engine: its start, what performs requests, and what goes on beside them from then on. Imported when it
 * starts.
 * @module
 */
import { askProviders } from "../background/ask_providers.ts";
import { discoverModels } from "../background/discover.ts";
import { Monitoring } from "../background/monitoring.ts";
import { openProviders } from "../background/open_provider.ts";
import { Outages } from "../background/outages.ts";
import { RecoveryTimer } from "../background/recovery.ts";
import { isRetiring } from "../config/check/is_retiring.ts";
import type { SettingsSecrets } from "../config/secrets/settings_secrets.ts";
import { isProvider } from "../config/settings/known.ts";
import type { Settings } from "../config/settings/settings.ts";
import type { Runtime } from "../contracts/runtime.ts";
import type { Hub } from "../observe/hub.ts";
import type { ReportedMesh, StatisticsReports } from "../observe/statistics_reports.ts";
import { perform } from "../pipeline/perform.ts";
import { spaceWarnings } from "../registry/embedding_spaces.ts";
import { loadConnectors } from "../registry/load_connectors.ts";
import type { Transition } from "../state/breaker/circuit_breaker.ts";
import type { StateStore } from "../state/persistence/state_store.ts";
import { assemble, type Assembly, type AssemblyContext, type AssemblyPlan, type Known } from "./assembly.ts";
import { resolveSettings, type ResolvingParts } from "./resolve.ts";
import { type SinkOwner, sinksOf } from "./sinks.ts";
import { warningsOf } from "./warnings.ts";

/** The engine that runs. */
interface RunningEngine extends SinkOwner, ReportedMesh, ResolvingParts {
  readonly runtime: Runtime;
  readonly hub: Hub;
  publishMembers(): void;
  warn(messages: readonly string[]): void;
}

/** What a run is made of. */
interface RunParts {
  readonly context: AssemblyContext;
  /** Keeps the state. */
  readonly store: StateStore | undefined;
}

/** One engine from its start to its end. Started again, under other settings, it goes on with its outages. */
export class EngineRun {
  readonly #engine: RunningEngine;
  readonly #parts: RunParts;
  /** What probes and syncs. */
  readonly monitoring: Monitoring = new Monitoring();
  /** Pools without an active model. */
  readonly outages: Outages;
  /** Answers a request. */
  readonly perform: typeof perform = perform;
  readonly #recovery: RecoveryTimer;
  #reports: StatisticsReports | undefined;

  constructor(engine: RunningEngine, parts: RunParts) {
    const { hub, runtime: { clock } } = engine;
    this.#engine = engine;
    this.#parts = parts;
    this.outages = new Outages(hub, clock);
    this.#recovery = new RecoveryTimer(clock);
  }

  /**
   * Reads secrets, makes sinks and providers, asks local servers for their models.
   *
   * @param plan Settings as written, and pools.
   * @returns What the engine works with, and where its secrets are looked up.
   */
  async open(
    { settings: written, addPools }: AssemblyPlan,
  ): Promise<{ assembly: Assembly; secrets?: SettingsSecrets }> {
    const engine = this.#engine;
    const { settings, secrets } = await resolveSettings(written, engine);
    await engine.hub.configure(await sinksOf(settings, engine));
    await this.#startReports();
    await loadConnectors(settings, engine.catalogue);
    const assembly = await this.#assembleOpen({ settings, addPools });
    return { assembly, ...(secrets && { secrets }) };
  }

  /** Takes up the state of the last process, and begins what goes on beside requests. */
  async begin({ settings, state, registry, deps }: Assembly): Promise<void> {
    await this.#parts.store?.load(state);
    if (registry.instances.some(({ entry }) => entry.queries?.quota)) {
      const { checkQuotas } = await import("../background/provider_queries.ts");
      await checkQuotas(registry, deps);
    }
    this.#recovery.schedule(state);
    registry.onMembersChanged = () => this.#engine.publishMembers();
    this.#engine.publishMembers();
    await this.monitoring.start({ ...deps, settings, state, registry, catalogue: this.#engine.catalogue });
  }

  /** Says that it is ready, and with what. */
  async report({ settings, registry: { instances, pools } }: Assembly): Promise<void> {
    const message = `Ready with ${instances.length} providers and ${pools.length} pools`;
    this.#engine.hub.trace({ severity: "debug", component: "mesh", message });
    const retirements = await this.#retirements(settings);
    this.#engine.warn([...warningsOf(settings), ...retirements, ...spaceWarnings(pools)]);
  }

  /** A model or a provider has moved to standby or become active. */
  follow(transition: Transition, { registry, state }: Assembly): void {
    this.outages.check(registry, transition);
    if (transition.to === "standby") this.#recovery.schedule(state);
  }

  /** Another engine goes on with its work: it probes and reports nothing any more. */
  retire(): void {
    this.monitoring.stop();
    this.#reports?.stop();
  }

  /** Ends it, with a last report. */
  async close(): Promise<void> {
    this.#recovery.stop();
    this.monitoring.stop();
    await this.#reports?.close();
  }

  /** With open providers, and with what they know of their models. */
  async #assembleOpen(plan: AssemblyPlan): Promise<Assembly> {
    const { context } = this.#parts;
    const open = async (known: Known) => {
      const made = assemble(plan, context, known);
      await openProviders(made.registry.instances, context);
      return made;
    };
    const first = await open({});
    const discovered = await discoverModels(first.registry.instances, { ...first.deps, settings: plan.settings });
    const listed = discovered.size > 0 ? await open({ discovered }) : first;
    const answers = await askProviders(listed.registry.instances, listed.registry, context);
    return answers === undefined ? listed : withProvidersOf(listed, assemble(plan, context, { discovered, answers }));
  }

  async #startReports(): Promise<void> {
    this.#reports?.stop();
    this.#reports = undefined;
    if (this.#engine.hub.statisticsOutputs.length === 0) return;
    const { StatisticsReports } = await import("../observe/statistics_reports.ts");
    this.#reports = new StatisticsReports(this.#engine);
  }

  /** What to warn of is imported on the day on which there is something. */
  async #retirements(settings: Settings): Promise<string[]> {
    const { catalogue, runtime } = this.#engine;
    const now = runtime.clock.now();
    const named = new Set([...settings.providers.values()].map(({ connector }) => connector));
    const providers = catalogue.all.filter(isProvider).filter(({ id }) => named.has(id)); // others' lists stay unmade
    if (!providers.some(({ models }) => models.some(({ retires }) => isRetiring(retires, now)))) return [];
    const { retirementWarnings } = await import("../config/check/retirement.ts");
    return warningsOf({ warnings: retirementWarnings(settings, { providers, now }) });
  }
}

/** The assembly over the open providers of the one before. */
function withProvidersOf(before: Assembly, made: Assembly): Assembly {
  made.registry.instances.forEach((instance, index) => {
    const { provider, credential } = before.registry.instances[index]!;
    Object.assign(instance, { provider, credential });
  });
  return made;
}
