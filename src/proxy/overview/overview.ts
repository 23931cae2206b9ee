/**
 * The overview of a proxy: of one process, or of several on one port.
 * @module
 */
import type { MetricFamily } from "../../contracts/metrics.ts";
import type { Observability } from "../../contracts/observability.ts";
import type { EntryStats } from "../../contracts/storage.ts";
import type { Clock } from "../../contracts/runtime.ts";
import type { Engine } from "../../engine/engine.ts";
import { type CacheTotals, type ClientTotals, RequestMetrics } from "../../observe/request_metrics.ts";
import { RecordRing, type RecordSource } from "./record_ring.ts";

/** Current values and counters. */
export interface Overview {
  /** Time since the proxy was started, ms. */
  readonly uptimeMs: number;
  /** Requests in progress. */
  readonly inFlight: number;
  readonly clients: readonly ClientTotals[];
  /** Absent unless it was requested. */
  readonly cache?: CacheTotals | undefined;
  /** Entries in the memory of several processes; undefined with one process, and if the cache has another storage. */
  readonly held?: EntryStats | undefined;
  /** Metrics of requests, by label. */
  readonly families: readonly MetricFamily[];
  /** Records that sinks could not deliver, by connector id. */
  readonly lost: readonly (readonly [sink: string, count: number])[];
}

/** The requested lists of an overview; others are empty. */
export type OverviewPart = "clients" | "families" | "cache" | "uptime";

/** Receives the records of a proxy, and reports those of all its processes. */
export interface ProxyOverview {
  /** Sink for all records. */
  readonly sink: Observability;
  /** The records of all processes. */
  readonly records: RecordSource;
  /** Switches from the previous mesh to another one. */
  follow(mesh: Engine): void;
  /**
   * Returns the overview of all processes.
   *
   * @param owner Restricts metrics of requests to this client.
   */
  read(part: OverviewPart, owner?: string): Overview | Promise<Overview>;
}

/** The overview of a single process. */
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

  read(part: OverviewPart, owner?: string): Overview {
    const { statistics: { metrics, inFlight }, hub } = this.#mesh;
    return {
      uptimeMs: this.#clock.monotonic() - this.#startedAt,
      inFlight,
      clients: part === "clients" ? metrics?.clients() ?? [] : [],
      ...(part === "cache" && { cache: metrics?.cache() }),
      families: part === "families" ? metrics?.families(owner) ?? [] : [],
      lost: [...hub.lost],
    };
  }
}
