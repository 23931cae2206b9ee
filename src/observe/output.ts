/**
 * A sink with what it takes.
 * @module
 */
import type { SinkOutput } from "../config/settings/observability.ts";
import type { MeshEvent, Severity } from "../contracts/events.ts";
import type { Observability } from "../contracts/observability.ts";

/** Severities, the least severe first. */
const severities: readonly Severity[] = ["debug", "info", "warning", "error", "critical"];

/** The position of a severity, the least severe at 0. */
export function rankOf(severity: Severity): number {
  return severities.indexOf(severity);
}

/** Kinds of records that a program's own sink may take. */
export type RecordKind = "event" | "log" | "trace";

/** A sink of the configuration. */
export interface ConfiguredSink extends SinkOutput {
  /** Its connector's id. */
  readonly id: string;
  /** One for all entries that are the same. */
  readonly sink: Observability;
}

/** Calls of a sink that may be under way at once. */
const maxPending = 10_000;

/** Records that a sink could not deliver. */
export class SinkLosses {
  readonly id: string;
  /** Records at which it threw, and those that it was not given since it was behind. */
  thrown = 0;
  /** Calls whose promises have yet to settle. */
  #pending = 0;
  /** How many of its losses were reported, and when, monotonic ms. */
  reported = 0;
  reportedAt: number = -Infinity;
  readonly #sink: Observability;

  /**
   * @param id The connector's id.
   * @param sink Whose losses.
   */
  constructor(id: string, sink: Observability) {
    this.id = id;
    this.#sink = sink;
  }

  /** Whether so many of its promises are open that it is given nothing until some settle. */
  get isBehind(): boolean {
    return this.#pending >= maxPending;
  }

  /** Counts a call as pending until its promise settles, where it returned one. */
  follow(result: unknown): unknown {
    if (!(result instanceof Promise)) return result;
    this.#pending++;
    return result.finally(() => this.#pending--);
  }

  /** All of them. */
  get count(): number {
    return this.thrown + (this.#sink.lost ?? 0);
  }
}

/** One sink, what it takes, and what it lost. */
export class Output {
  readonly sink: Observability;
  readonly losses: SinkLosses;
  readonly takes: SinkOutput;
  /** Whether it takes lines about refused requests. */
  readonly takesRefused: boolean;
  /** The least severe trace that it takes; above all severities for one that takes none. */
  readonly minRank: number;

  /**
   * @param sink The sink, and what it takes.
   * @param losses Shared by all outputs of one sink.
   */
  constructor({ sink, ...takes }: Omit<ConfiguredSink, "id">, losses: SinkLosses) {
    this.sink = sink;
    this.losses = losses;
    this.takes = takes;
    this.takesRefused = takes.logging !== undefined;
    const { tracing } = takes;
    this.minRank = tracing === undefined ? severities.length : rankOf(sink.minSeverity ?? tracing.minSeverity);
  }

  /** The event as this sink gets it; undefined for one that it does not get. */
  eventFor(event: MeshEvent): MeshEvent | undefined {
    const { routing } = this.takes;
    if (routing === undefined || !(routing.filter?.includes(event.event) ?? true)) return undefined;
    return routing.includeMetadata ? event : { ...event, metadata: {} };
  }
}
