/**
 * Probes of providers: those that fail them go into standby, those that pass them again recover.
 * @module
 */
import type { HealthMonitoring, ProviderHealth } from "../contracts/discovery.ts";
import type { ProviderDeactivation } from "../config/settings/routing.ts";
import type { StandbyReason } from "../contracts/rotation.ts";
import type { Cancel, Clock } from "../contracts/runtime.ts";
import type { Hub } from "../observe/hub.ts";
import type { ProviderInstance, Registry } from "../registry/registry.ts";
import type { MeshState } from "../state/mesh_state.ts";
import type { CircuitBreaker } from "../state/breaker/circuit_breaker.ts";
import type { ProbeResult } from "./probe.ts";

/** What a health monitor needs. */
interface HealthParts {
  readonly clock: Clock;
  readonly hub: Hub;
  readonly registry: Registry;
  readonly state: MeshState;
  /** Asks a provider, with the limit given, ms. */
  readonly probe: (instance: ProviderInstance, timeoutMs: number) => Promise<ProbeResult>;
  /** Says when a provider is unhealthy. */
  readonly monitoring: HealthMonitoring;
}

/** Reasons of a standby that an answered probe disproves. */
const disproved: ReadonlySet<StandbyReason> = new Set([
  "retry_limit",
  "error_rate",
  "error_code",
  "provider_auth_failure",
  "provider_outage",
  "health_probe",
]);

/** The trigger of `provider_deactivation` for each reason. */
const triggers: Partial<Record<StandbyReason, ProviderDeactivation>> = {
  provider_auth_failure: "on_auth_failure",
  provider_outage: "on_api_outage",
};

/** Probes providers, each at most once at a time. */
export class HealthMonitor {
  readonly #parts: HealthParts;
  /** Those that are in standby for it. */
  readonly #unhealthy: Set<string>;
  readonly #underWay = new Map<string, Promise<ProviderHealth | undefined>>();
  readonly #cancels: Cancel[] = [];

  constructor(parts: HealthParts) {
    this.#parts = parts;
    const report = parts.monitoring.getHealthReport();
    this.#unhealthy = new Set(report.flatMap(({ provider, status }) => status === "unhealthy" ? provider : []));
  }

  /**
   * Probes providers from now on; those that fail too often go into standby.
   *
   * @param intervalMs How often.
   * @param instances Which.
   */
  watch(intervalMs: number, instances: readonly ProviderInstance[]): void {
    const probeAll = async () =>
      void await Promise.all(instances.map(async (instance) => {
        const health = await this.check(instance);
        if (health?.status === "unhealthy") this.#fail(instance, health.failure ?? "probe");
      }));
    this.#cancels.push(this.#parts.clock.every(intervalMs, probeAll));
  }

  /**
   * Probes, from now on, the providers of a pool's models in standby.
   *
   * @param pool The pool's name.
   * @param intervalMs How often.
   */
  recover(pool: string, intervalMs: number): void {
    this.#cancels.push(this.#parts.clock.every(intervalMs, () => this.recoverOnce(pool)));
  }

  /**
   * The same, once.
   *
   * @param pool The pool's name.
   */
  async recoverOnce(pool: string): Promise<void> {
    const { registry, clock } = this.#parts;
    const inStandby = registry.pool(pool)?.members.filter(({ state, model }) => {
      state.refresh(clock.monotonic());
      return state.status === "standby" && this.#ends(model.instance, state.reason!, state.retryAt ?? Infinity);
    });
    await Promise.all(
      [...new Set(inStandby?.map(({ model }) => model.instance))].map((instance) => this.check(instance)),
    );
  }

  /** Ends it. */
  stop(): void {
    for (const cancel of this.#cancels) cancel();
  }

  /**
   * Probes one provider, which recovers when it answers. A failed probe does not extend a standby.
   *
   * @param instance The provider, opened.
   * @returns Its health; undefined where the connector failed, which is traced.
   */
  async check(instance: ProviderInstance): Promise<ProviderHealth | undefined> {
    const { id } = instance.entry;
    const known = this.#underWay.get(id);
    if (known !== undefined) return await known;
    const asked = this.#probe(instance);
    this.#underWay.set(id, asked);
    const health = await asked;
    this.#underWay.delete(id);
    if (health !== undefined && health.failure === undefined) this.#succeed(instance);
    return health;
  }

  async #probe(instance: ProviderInstance): Promise<ProviderHealth | undefined> {
    const { monitoring, probe, hub } = this.#parts;
    const ask = async (_id: string, timeoutMs: number) => {
      const result = await probe(instance, timeoutMs);
      return "failure" in result ? result.failure.kind : undefined;
    };
    try {
      return await monitoring.probe(instance.entry.id, { ask });
    } catch {
      const message = `The health monitor failed at the provider "${instance.entry.id}"`;
      hub.trace({ severity: "error", component: "provider", message });
      return undefined;
    }
  }

  #fail({ entry }: ProviderInstance, kind: string): void {
    const { state, clock } = this.#parts;
    if (this.#unhealthy.has(entry.id)) return;
    this.#unhealthy.add(entry.id);
    this.#emit(entry.id, "healthy", "unhealthy", kind);
    const override = state.overrides.get({ provider: entry.id }, "health_probe");
    state.report(override.open("health_probe", clock.monotonic(), Infinity));
  }

  #succeed(instance: ProviderInstance): void {
    const { state } = this.#parts;
    const { entry } = instance;
    if (this.#unhealthy.delete(entry.id)) this.#emit(entry.id, "unhealthy", "healthy", "probe");
    for (const breaker of state.breakers) {
      if (this.#isOver(breaker, instance)) state.report(breaker.close(undefined, true));
    }
  }

  #isOver({ owner, standby }: CircuitBreaker, instance: ProviderInstance): boolean {
    return owner.provider === instance.entry.id && standby !== undefined &&
      this.#ends(instance, standby.reason, standby.until);
  }

  /** Whether an answered probe ends a standby; not one that a pool wants to be ended by hand. */
  #ends({ entry }: ProviderInstance, reason: StandbyReason, until: number): boolean {
    const trigger = triggers[reason];
    const isByHand = trigger !== undefined && until === Infinity &&
      this.#parts.registry.allPools.some(({ members, routing: { providerDeactivation, providerRecovery } }) =>
        providerRecovery === "on_manual" && providerDeactivation?.has(trigger) &&
        members.some(({ model }) => model.instance.entry === entry)
      );
    return disproved.has(reason) && !isByHand;
  }

  #emit(provider: string, from: string, to: string, reason: string): void {
    this.#parts.hub.event({ event: "health", provider, from, to, reason, metadata: {} });
  }
}
