/**
 * A sink, and which records it receives.
 * @module
 */
import type { SinkOutput } from "../config/settings/observability.ts";
import type { MeshEvent, Severity } from "../contracts/events.ts";
import type { Observability } from "../contracts/observability.ts";

/** Ranks of severities; 0 is the least severe. */
export const severityRanks: Readonly<Record<Severity, number>> = {
  debug: 0,
  info: 1,
  warning: 2,
  error: 3,
  critical: 4,
};

/** Kinds of records that a program's own sink may receive. */
export type RecordKind = "event" | "log" | "trace";

/** A configured sink. */
export interface ConfiguredSink extends SinkOutput {
  /** Id of its connector. */
  readonly id: string;
  /** The sink. Entries with the same connector and attributes share one. */
  readonly sink: Observability;
}

/** Maximum number of pending calls of a sink. */
export const maxPending = 10_000;

/** Counts records that a sink could not deliver. */
export class SinkLosses {
  readonly id: string;
  /** Records for which the sink threw, or which it was not given while it was overloaded. */
  thrown = 0;
  /** Calls whose promises have not settled. */
  pending = 0;
  /** Number of losses reported, and the time of the last report in monotonic ms. */
  reported = 0;
  reportedAt: number = -Infinity;
  readonly #sink: Observability;

  /** @param id The connector's id. */
  constructor(id: string, sink: Observability) {
    this.id = id;
    this.#sink = sink;
  }

  /** Counts a call as pending until its promise settles, and as lost if it rejects. */
  follow(result: PromiseLike<unknown>): void {
    this.pending++;
    Promise.resolve(result).catch(() => this.thrown++).finally(() => this.pending--);
  }

  /** Total number of lost records. */
  get count(): number {
    return this.thrown + (this.#sink.lost ?? 0);
  }
}

/** A sink, the records it receives, and its losses. */
export class LineOutput {
  readonly sink: Observability;
  readonly losses: SinkLosses;
  readonly takes: SinkOutput;
  /** Whether it logs rejected requests. */
  readonly takesRefused: boolean;
  /** Rank of the least severe trace it receives; above all severities if it receives none. */
  readonly minRank: number;

  /**
   * @param sink The sink, and the records it receives.
   * @param losses Losses, shared by all outputs of the sink.
   */
  constructor({ sink, ...takes }: Omit<ConfiguredSink, "id">, losses: SinkLosses) {
    this.sink = sink;
    this.losses = losses;
    this.takes = takes;
    this.takesRefused = takes.logging !== undefined;
    const { tracing } = takes;
    this.minRank = tracing === undefined ? Infinity : severityRanks[sink.minSeverity ?? tracing.minSeverity] ?? 0; // a program may state another one
  }

  /** Returns the event as this sink receives it; undefined if it does not. */
  eventFor(event: MeshEvent): MeshEvent | undefined {
    const { routing } = this.takes;
    if (routing === undefined || !(routing.filter?.includes(event.event) ?? true)) return undefined;
    return routing.includeMetadata ? event : { ...event, metadata: {} };
  }
}
