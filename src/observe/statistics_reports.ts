/**
 * Periodic reports of statistics to sinks with `observability.statistics`.
 * @module
 */
import type { StatisticsReport } from "../contracts/observability.ts";
import type { Cancel, Clock } from "../contracts/runtime.ts";
import type { Hub } from "./hub.ts";
import { type MeasuredMesh, metricFamilies } from "./metric_families.ts";
import type { LineOutput } from "./output.ts";
import { RequestMetrics } from "./request_metrics.ts";
import type { Statistics } from "./statistics.ts";

/** The mesh whose statistics are reported. */
export interface ReportedMesh extends MeasuredMesh {
  readonly statistics: Statistics;
  readonly hub: Hub;
  readonly runtime: { readonly clock: Clock };
  readonly registry: {
    readonly instances: readonly { readonly entry: { readonly id: string }; readonly telemetryName: string }[];
  };
}

/** Reports statistics to each sink at its interval. */
export class StatisticsReports {
  readonly #mesh: ReportedMesh;
  readonly #outputs: readonly LineOutput[];
  readonly #timers: readonly Cancel[];

  /** @param mesh A mesh whose sinks are configured. */
  constructor(mesh: ReportedMesh) {
    mesh.statistics.metrics ??= new RequestMetrics();
    const { hub, runtime: { clock } } = mesh;
    this.#mesh = mesh;
    this.#outputs = hub.statisticsOutputs;
    this.#timers = this.#outputs.map((output) =>
      clock.every(output.takes.statistics!.flushIntervalMs, () => this.#report(output))
    );
  }

  /** Stops reporting. */
  stop(): void {
    this.#timers.forEach((cancel) => cancel());
  }

  /** Stops reporting, after a last report. */
  async close(): Promise<void> {
    this.stop();
    await Promise.all(this.#outputs.map((output) => this.#report(output)));
  }

  async #report(output: LineOutput): Promise<void> {
    const mesh = this.#mesh;
    const { scopes } = output.takes.statistics!;
    const report: StatisticsReport = {
      records: mesh.statistics.records().filter(({ scope }) => scopes?.includes(scope) ?? true),
      families: () => metricFamilies(mesh),
      since: mesh.statistics.since,
      vendors: new Map(mesh.registry.instances.map(({ entry, telemetryName }) => [entry.id, telemetryName])),
    };
    await mesh.hub.flushSink(output, () => output.sink.flush(report));
  }
}
