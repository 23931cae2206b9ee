/**
 * Hands records to every sink. A sink that throws hurts no request and no other sink.
 * @module
 */
import type { LogRecord, MeshEvent, Severity, TraceEntry } from "../contracts/events.ts";
import type { Observability } from "../contracts/observability.ts";
import type { Clock } from "../contracts/runtime.ts";
import { newId } from "../util/request_id.ts";
import type { FinishedRequest, HubEvents } from "./hub_events.ts";
import { notifySafely } from "./notify.ts";

type Listeners = { readonly [Kind in keyof HubEvents]: ((event: HubEvents[Kind]) => void)[] };

/** What an event is made of; id and time are added. */
export type EventFacts = Omit<MeshEvent, "type" | "id" | "timestamp">;

/** What a line of the request log is made of; time is added. */
export type LogFacts = Omit<LogRecord, "type" | "timestamp">;

/** A note of a component; time is added. */
export interface TraceFacts {
  readonly severity: Severity;
  readonly component: string;
  readonly message: string;
  readonly [key: string]: unknown;
}

/** All sinks of a mesh. */
export class Hub {
  readonly #clock: Clock;
  readonly #own: Observability[] = [];
  #sinks: readonly Observability[] = [];
  readonly #listeners: Listeners = { event: [], request_finished: [], members_changed: [] };

  /** @param clock For the records' times. */
  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Adds a sink of the program's own. */
  add(sink: Observability): void {
    this.#own.push(sink);
    this.#sinks = [...this.#sinks, sink];
  }

  /** Takes the sinks of a configuration, in place of those of the one before. */
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
    const { event, ...rest } = facts;
    const record: MeshEvent = { type: "event", event, id: newId(), timestamp: this.timestamp(), ...rest };
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

  /** Resolves when every sink has written what it got. */
  async flush(): Promise<void> {
    await Promise.allSettled(this.#sinks.map(async (sink) => await sink.flush()));
  }

  /** The time, as records carry it. */
  timestamp(): string {
    return new Date(this.#clock.now()).toISOString();
  }

  /** A sink that fails has nobody to complain to but the others, and they may be it; it is asked again next time. */
  #each(write: (sink: Observability) => void): void {
    for (const sink of this.#sinks) notifySafely(() => write(sink));
  }
}
