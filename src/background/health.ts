/**
 * Health monitor: active health checks. A provider that fails its probes enters standby, and recovers when a probe
 * succeeds. Probes are evidence of reachability: a provider that answers them with a refusal of its list is reachable.
 * @module
 */
import type { HealthMonitoring, ProviderHealth } from "../contracts/discovery.ts";
import type { ProviderDeactivation } from "../config/settings/routing.ts";
import type { StandbyReason } from "../contracts/rotation.ts";
import type { Cancel, Clock } from "../contracts/runtime.ts";
import type { Hub } from "../observe/hub.ts";
import type { ProviderInstance, Registry } from "../registry/registry.ts";
import type { MeshState } from "../state/model/mesh_state.ts";
import type { CircuitBreaker } from "../state/breaker/circuit_breaker.ts";
import type { Failure } from "../pipeline/failure.ts";
import type { ProbeResult } from "./probe.ts";

/** Dependencies of a health monitor. */
interface HealthParts {
  readonly clock: Clock;
  readonly hub: Hub;
  readonly registry: Registry;
  readonly state: MeshState;
  /** Probes a provider, with a timeout in ms. */
  readonly probe: (instance: ProviderInstance, timeoutMs: number) => Promise<ProbeResult>;
  /** Decides when a provider is unhealthy. */
  readonly monitoring: HealthMonitoring;
}

/** Reasons of standby that a successful probe clears. */
const disproved: ReadonlySet<StandbyReason> = new Set([
  "retry_limit",
  "error_rate",
  "error_code",
  "provider_auth_failure",
  "provider_outage",
  "health_probe",
]);

/** Statuses that refuse the list of models, and say nothing about other requests. */
const refusals: ReadonlySet<number> = new Set([401, 403, 404, 405, 429, 501]);

/** Statuses that refuse the API key. */
const keyRefusals: ReadonlySet<number> = new Set([401, 403]);

/** The trigger of `provider_deactivation` for each reason. */
const triggers: Partial<Record<StandbyReason, ProviderDeactivation>> = {
  provider_auth_failure: "on_auth_failure",
  provider_outage: "on_api_outage",
};

/** Probes providers, each at most once at a time. */
export class HealthProbes {
  readonly #parts: HealthParts;
  /** Ids of providers in standby because of failed probes. */
  readonly #unhealthy: Set<string>;
  readonly #underWay = new Map<string, Promise<ProviderHealth | undefined>>();
  /** Ids of providers whose latest probe refused the API key. */
  readonly #refused = new Set<string>();
  readonly #cancels: Cancel[] = [];

  constructor(parts: HealthParts) {
    this.#parts = parts;
    const report = parts.monitoring.getHealthReport();
    this.#unhealthy = new Set(report.flatMap(({ provider, status }) => status === "unhealthy" ? provider : []));
  }

  /**
   * Starts probing providers. A provider that fails too often enters standby.
   *
   * @param intervalMs Interval, ms.
   */
  monitor(intervalMs: number, instances: readonly ProviderInstance[]): void {
    const probeAll = async () =>
      void await Promise.all(instances.map(async (instance) => {
        const health = await this.check(instance);
        if (health?.status === "unhealthy") this.#fail(instance, health.failure ?? "probe");
      }));
    const { clock, hub } = this.#parts;
    const byId = new Map(instances.map((instance) => [instance.entry.id, instance]));
    this.#cancels.push(
      clock.every(intervalMs, probeAll),
      hub.on("request_finished", ({ tries }) => {
        for (const { provider, outcome } of tries) if (outcome === "ok" && byId.has(provider)) this.#serve(provider);
      }),
    );
  }

  /**
   * Starts probing the providers of a pool's models in standby.
   *
   * @param pool Name of the pool.
   * @param intervalMs Interval, ms.
   */
  recover(pool: string, intervalMs: number): void {
    this.#cancels.push(this.#parts.clock.every(intervalMs, () => this.recoverOnce(pool)));
  }

  /**
   * Probes the providers of a pool's models in standby, once.
   *
   * @param pool Name of the pool.
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

  /** Stops probing. */
  stop(): void {
    for (const cancel of this.#cancels) cancel();
  }

  /**
   * Probes one provider. A response ends its standby; failure does not extend it.
   *
   * @param instance The opened provider.
   * @returns Its health; undefined when the connector has failed, which is traced.
   */
  async check(instance: ProviderInstance): Promise<ProviderHealth | undefined> {
    const { id } = instance.entry;
    const underWay = this.#underWay.get(id);
    if (underWay !== undefined) return await underWay;
    const pending = this.#probe(instance);
    this.#underWay.set(id, pending);
    const health = await pending;
    this.#underWay.delete(id);
    if (health !== undefined && health.failure === undefined) this.#succeed(instance);
    return health;
  }

  async #probe(instance: ProviderInstance): Promise<ProviderHealth | undefined> {
    const { monitoring, probe, hub } = this.#parts;
    const query = async (_id: string, timeoutMs: number) => {
      const result = await probe(instance, timeoutMs);
      const { kind, status = 0 }: Partial<Failure> = "failure" in result ? result.failure : {};
      if (keyRefusals.has(status)) this.#refused.add(instance.entry.id);
      else this.#refused.delete(instance.entry.id);
      return refusals.has(status) ? undefined : kind;
    };
    try {
      return await monitoring.probe(instance.entry.id, { ask: query });
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
    this.#emit(entry.id, { from: "healthy", to: "unhealthy", reason: kind });
    const override = state.overrides.get({ provider: entry.id }, "health_probe");
    state.report(override.open("health_probe", clock.monotonic(), Infinity));
  }

  /** A served request proves that the provider is reachable. */
  #serve(provider: string): void {
    const { monitoring, state } = this.#parts;
    monitoring.clearFailures?.(provider);
    if (!this.#unhealthy.delete(provider)) return;
    this.#emit(provider, { from: "unhealthy", to: "healthy", reason: "request" });
    state.report(state.overrides.get({ provider }, "health_probe").close(undefined, true));
  }

  #succeed(instance: ProviderInstance): void {
    const { state } = this.#parts;
    const { entry } = instance;
    if (this.#unhealthy.delete(entry.id)) this.#emit(entry.id, { from: "unhealthy", to: "healthy", reason: "probe" });
    for (const breaker of state.breakers) {
      if (this.#isOver(breaker, instance)) state.report(breaker.close(undefined, true));
    }
  }

  /** Whether the standby is over. One for a refused key is not while the response to the probe refuses it, too. */
  #isOver({ owner, standby }: CircuitBreaker, instance: ProviderInstance): boolean {
    if (owner.provider !== instance.entry.id || standby === undefined) return false;
    const isRefusedAgain = standby.reason === "provider_auth_failure" && this.#refused.has(owner.provider);
    return !isRefusedAgain && this.#ends(instance, standby.reason, standby.until);
  }

  /** Whether an answered probe can end a standby. One that the pool requires to be ended manually is kept. */
  #ends({ entry }: ProviderInstance, reason: StandbyReason, until: number): boolean {
    const trigger = triggers[reason];
    const isByHand = trigger !== undefined && until === Infinity &&
      this.#parts.registry.allPools.some(({ members, routing: { providerDeactivation, providerRecovery } }) =>
        providerRecovery === "on_manual" && providerDeactivation?.has(trigger) &&
        members.some(({ model }) => model.instance.entry === entry)
      );
    return disproved.has(reason) && !isByHand;
  }

  #emit(
    provider: string,
    { from, to, reason }: { readonly from: string; readonly to: string; readonly reason: string },
  ): void {
    this.#parts.hub.event({ event: "health", provider, from, to, reason, metadata: {} });
  }
}
