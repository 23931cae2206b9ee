/**
 * Health monitoring by consecutive failed probes.
 * @module
 */
import type { Connector } from "../../src/contracts/connector.ts";
import type { HealthMonitoring, ProbeHost, ProviderHealth } from "../../src/contracts/discovery.ts";
import type { Clock } from "../../src/contracts/runtime.ts";
import { healthMonitorDeclaration } from "../guards/declarations.ts";

/** When a provider counts as unhealthy. */
interface HealthRules {
  /** Timeout of a probe, ms. */
  readonly timeout: number;
  /** Consecutive failed probes after which the provider is unhealthy. */
  readonly failure_threshold: number;
}

/** `mesh.health-monitor.v1`. */
export const healthMonitor: Connector<"discovery"> = {
  ...healthMonitorDeclaration,
  create: (settings, { clock }) => new FailureCount(settings as unknown as HealthRules, clock),
};

/** Counts consecutive failed probes per provider. */
class FailureCount implements HealthMonitoring {
  readonly #rules: HealthRules;
  readonly #clock: Clock;
  readonly #latest = new Map<string, ProviderHealth>();

  constructor(rules: HealthRules, clock: Clock) {
    this.#rules = rules;
    this.#clock = clock;
  }

  async probe(provider: string, host: ProbeHost): Promise<ProviderHealth> {
    const from = this.#clock.monotonic();
    const failure = await host.ask(provider, this.#rules.timeout);
    const failures = failure === undefined ? 0 : (this.#latest.get(provider)?.failures ?? 0) + 1;
    const health: ProviderHealth = {
      provider,
      status: failures >= this.#rules.failure_threshold ? "unhealthy" : "healthy",
      failures,
      at: this.#clock.now(),
      latencyMs: this.#clock.monotonic() - from,
      ...(failure === undefined ? {} : { failure }),
    };
    this.#latest.set(provider, health);
    return health;
  }

  clearFailures(provider: string): void {
    const health = this.#latest.get(provider);
    if (health !== undefined) this.#latest.set(provider, { ...health, status: "healthy", failures: 0 });
  }

  getHealthReport(): readonly ProviderHealth[] {
    return [...this.#latest.values()];
  }
}
