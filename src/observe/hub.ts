/**
 * Passes records to all sinks and events to listeners. A sink that throws affects no request and no other sink.
 * @module
 */
import type { LogRecord, MeshEvent, Severity, TraceEntry } from "../contracts/events.ts";
import type { Observability } from "../contracts/observability.ts";
import type { Clock } from "../contracts/runtime.ts";
import { newId } from "../util/request_id.ts";
import type { FinishedRequest, HubEvents } from "./hub_events.ts";
import { notifySafely } from "./notify.ts";

type Listeners = { readonly [Kind in keyof HubEvents]: ((event: HubEvents[Kind]) => void)[] };

/** An event before its id and time are added. */
export type EventFacts = Omit<MeshEvent, "type" | "id" | "timestamp">;

/** A line of the request log before its time is added. */
export type LogFacts = Omit<LogRecord, "type" | "timestamp">;

/** A trace entry before its time is added. */
export interface TraceFacts {
  readonly severity: Severity;
  readonly component: string;
  readonly message: string;
  readonly [key: string]: unknown;
}

/** The sinks and listeners of a mesh. */
export class Hub {
  readonly #clock: Clock;
  readonly #own: Observability[] = [];
  #sinks: readonly Observability[] = [];
  readonly #listeners: Listeners = {
    event: [],
    request_started: [],
    request_finished: [],
    request_refused: [],
    members_changed: [],
  };

  /** @param clock For the records' times. */
  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Adds a sink of the program. */
  add(sink: Observability): void {
    this.#own.push(sink);
    this.#sinks = [...this.#sinks, sink];
  }

  /** Replaces the sinks of the configuration. */
  configure(sinks: readonly Observability[]): void {
    this.#sinks = [...this.#own, ...sinks];
  }

  /**
   * Adds a listener of the engine itself.
   *
   * @param kind Kind of event it listens to.
   * @param listener Called within the publishing call; it must not throw.
   */
  on<Kind extends keyof HubEvents>(kind: Kind, listener: (event: HubEvents[Kind]) => void): void {
    this.#listeners[kind].push(listener);
  }

  /** Publishes an event to listeners; sinks do not get it. */
  publish<Kind extends keyof HubEvents>(kind: Kind, event: HubEvents[Kind]): void {
    for (const listener of this.#listeners[kind]) listener(event);
  }

  /** Emits an event to all sinks. */
  event(facts: EventFacts): void {
    const { event, ...details } = facts;
    const record: MeshEvent = { type: "event", event, id: newId(), timestamp: this.timestamp(), ...details };
    this.#each((sink) => sink.emit(record));
    this.publish("event", record);
  }

  /** Emits the routing record of a request that is over. */
  requestFinished(request: FinishedRequest): void {
    this.#each((sink) => sink.emit(request.record));
    this.publish("request_finished", request);
  }

  /** Writes a line of the request log to all sinks. */
  log(facts: LogFacts): void {
    const record: LogRecord = { type: "log", timestamp: this.timestamp(), ...facts };
    this.#each((sink) => sink.log?.(record));
  }

  /** Writes a trace entry to all sinks. */
  trace(facts: TraceFacts): void {
    const entry: TraceEntry = { type: "trace", timestamp: this.timestamp(), ...facts };
    this.#each((sink) => sink.trace(entry));
  }

  /** Resolves when every sink has written its records. */
  async flush(): Promise<void> {
    await Promise.allSettled(this.#sinks.map(async (sink) => await sink.flush()));
  }

  /** The present time in the form of records. */
  timestamp(): string {
    return new Date(this.#clock.now()).toISOString();
  }

  /** A failing sink is not reported: the report would go to sinks. It gets the next record all the same. */
  #each(write: (sink: Observability) => void): void {
    for (const sink of this.#sinks) notifySafely(() => write(sink));
  }
}
