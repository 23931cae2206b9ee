/**
 * What a proxy shows of itself: of one process, or of several that serve one port.
 * @module
 */
import type { MetricFamily } from "../../contracts/metrics.ts";
import type { Observability } from "../../contracts/observability.ts";
import type { Clock } from "../../contracts/runtime.ts";
import type { Engine } from "../../engine/engine.ts";
import { type ClientTotals, RequestMetrics } from "../../observe/request_metrics.ts";
import { RecordRing, type RecordSource } from "./record_ring.ts";

/** What is true right now, and was counted until now. */
export interface Overview {
  /** Since the proxy was started, ms. */
  readonly uptimeMs: number;
  /** Requests that have begun and are not over. */
  readonly inFlight: number;
  readonly clients: readonly ClientTotals[];
  /** Of requests, by label. */
  readonly families: readonly MetricFamily[];
  /** Records that sinks could not deliver, by connector id. */
  readonly lost: readonly (readonly [sink: string, count: number])[];
}

/** What is wanted of an overview beside single numbers: other lists are empty. */
export type OverviewPart = "clients" | "families" | "uptime";

/** Sees what a proxy does, and says what all of its processes have done. */
export interface ProxyOverview {
  /** Sink of every record. */
  readonly sink: Observability;
  /** The records of all processes. */
  readonly records: RecordSource;
  /** Follows a mesh from now on, in place of one before it. */
  follow(mesh: Engine): void;
  /** How all processes do. */
  read(part: OverviewPart): Overview | Promise<Overview>;
}

/** Of a process that is alone. */
export class OwnOverview implements ProxyOverview {
  readonly sink: Observability;
  readonly records: RecordSource;
  readonly #clock: Clock;
  readonly #startedAt: number;
  #mesh: Engine;

  constructor(mesh: Engine) {
    this.#mesh = mesh;
    this.#clock = mesh.runtime.clock;
    this.#startedAt = mesh.startedAt;
    this.sink = this.records = new RecordRing(this.#clock);
  }

  follow(mesh: Engine): void {
    this.#mesh = mesh;
    mesh.statistics.metrics ??= new RequestMetrics();
  }

  read(part: OverviewPart): Overview {
    const { statistics: { metrics, inFlight }, hub } = this.#mesh;
    return {
      uptimeMs: this.#clock.monotonic() - this.#startedAt,
      inFlight,
      clients: part === "clients" ? metrics?.clients() ?? [] : [],
      families: part === "families" ? metrics?.families() ?? [] : [],
      lost: [...hub.lost],
    };
  }
}
