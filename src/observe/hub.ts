/**
 * Delivers records to sinks, and events to listeners in the process. A sink that throws or hangs affects neither
 * requests nor other sinks.
 * @module
 */
import type { LogRecord, MeshEvent, NoticeRecord, Severity, TraceEntry } from "../contracts/events.ts";
import type { Observability, TraceContext } from "../contracts/observability.ts";
import type { Cancel, Clock } from "../contracts/runtime.ts";
import { newId } from "../util/request_id.ts";
import type { FinishedRequest, HubEvents } from "./hub_events.ts";
import { isThenable, notifySafely } from "../util/once.ts";
import { type ConfiguredSink, LineOutput, maxPending, type RecordKind, severityRanks, SinkLosses } from "./output.ts";
import { redactAll } from "./redact.ts";
import type { toRequestLog } from "./request_log.ts";

type Listeners = { readonly [Kind in keyof HubEvents]: ((event: HubEvents[Kind]) => void)[] };

/** Interval at which losses of a sink are reported, ms. */
const lossIntervalMs = 60_000;

/** Timeout of a flush, ms. */
const flushLimitMs = 5_000;

/** An event without its id and time. */
type EventFacts = Omit<MeshEvent, "type" | "id" | "timestamp">;

/** A line of the request log without its time. */
export type LogFacts = Omit<LogRecord, "type" | "timestamp">;

/** A trace entry without its time. */
interface TraceFacts {
  readonly severity: Severity;
  readonly component: string;
  readonly message: string;
  readonly [key: string]: unknown;
}

/** The sinks and listeners of a mesh. */
export class Hub {
  /** Whether any sink logs requests. */
  logsRequests = false;
  /** Maximum number of payload bytes that a sink logs. */
  payloadBytes = 0;
  /** Whether any sink exports spans. */
  exportsSpans = false;
  readonly #clock: Clock;
  readonly #redact: (text: string) => string;
  readonly #own: LineOutput[] = [];
  #outputs: readonly LineOutput[] = [];
  #minRank = Infinity;
  /** The latest timestamp, and its time, ms since the epoch. */
  #stamp = "";
  #stampedAt = NaN;
  #logged: readonly LineOutput[] = [];
  #requestLogOf: typeof toRequestLog | undefined;
  /** The sink that creates spans. */
  #spans: LineOutput | undefined;
  readonly #listeners: Listeners = {
    event: [],
    request_started: [],
    request_finished: [],
    cache_lookup: [],
    request_refused: [],
    members_changed: [],
    members_added: [],
  };

  /**
   * @param clock Clock for timestamps.
   * @param redact Replaces secrets in a string.
   */
  constructor(clock: Clock, redact: (text: string) => string = (text) => text) {
    this.#clock = clock;
    this.#redact = redact;
  }

  /**
   * Adds a sink of the program.
   *
   * @param sink The sink. It receives every event, regardless of the configuration.
   * @param kinds Kinds of records it receives; `log` means lines about rejected requests.
   */
  add(sink: Observability, kinds: readonly RecordKind[] = ["event", "log", "trace"]): void {
    const takes = {
      ...(kinds.includes("event") ? { routing: { includeMetadata: true } } : {}),
      ...(kinds.includes("trace") ? { tracing: { minSeverity: "info" as const } } : {}),
    };
    const output = new LineOutput({ sink, ...takes }, new SinkLosses("program", sink));
    this.#own.push(kinds.includes("log") ? Object.assign(output, { takesRefused: true }) : output);
    this.#use([...this.#outputs, this.#own.at(-1)!]);
  }

  /** Replaces the configured sinks. The request log is imported if a sink logs requests. */
  async configure(sinks: readonly ConfiguredSink[]): Promise<void> {
    if (sinks.some(({ logging }) => logging !== undefined)) {
      this.#requestLogOf = (await import("./request_log.ts")).toRequestLog;
    }
    const losses = new Map<Observability, SinkLosses>();
    const outputs = sinks.map(({ id, ...output }) => {
      const existing = losses.get(output.sink) ?? new SinkLosses(id, output.sink);
      losses.set(output.sink, existing);
      return new LineOutput(output, existing);
    });
    this.#use([...this.#own, ...outputs]);
  }

  /** Sinks that receive statistics. */
  get statisticsOutputs(): readonly LineOutput[] {
    return this.#outputs.filter(({ takes }) => takes.statistics !== undefined);
  }

  /**
   * Returns the trace context of a new span. Several sinks share the spans of the first.
   *
   * @param parent The context above it; without one, a trace begins.
   * @returns Undefined if no sink exports spans, or if it failed.
   */
  beginSpan(parent?: TraceContext): TraceContext | undefined {
    if (this.#spans === undefined) return undefined;
    const { sink, losses } = this.#spans;
    try {
      return sink.beginSpan?.(parent);
    } catch {
      losses.thrown++;
      return undefined;
    }
  }

  /** Number of records that sinks could not deliver, by connector id. */
  get lost(): ReadonlyMap<string, number> {
    const lost = new Map<string, number>();
    for (const { id, count } of new Set(this.#outputs.map(({ losses }) => losses))) {
      if (count > 0) lost.set(id, (lost.get(id) ?? 0) + count);
    }
    return lost;
  }

  /**
   * Adds a listener.
   *
   * @param kind Kind of event.
   * @param listener Called synchronously by `publish`. It must not throw.
   * @returns Removes the listener.
   */
  on<Kind extends keyof HubEvents>(kind: Kind, listener: (event: HubEvents[Kind]) => void): Cancel {
    const listeners = this.#listeners[kind];
    listeners.push(listener);
    return () => {
      const index = listeners.indexOf(listener);
      if (index >= 0) listeners.splice(index, 1);
    };
  }

  /** Publishes an event to listeners. Sinks do not receive it. */
  publish<Kind extends keyof HubEvents>(kind: Kind, event: HubEvents[Kind]): void {
    for (const listener of this.#listeners[kind]) listener(event);
  }

  /** Emits an event to all sinks. */
  event(facts: EventFacts): void {
    const { event, ...details } = facts;
    const plain = redactAll(details, this.#redact);
    const record: MeshEvent = { type: "event", event, id: newId(), timestamp: this.timestamp(), ...plain };
    for (const output of this.#outputs) {
      const taken = output.eventFor(record);
      if (taken !== undefined) this.#write(output, (sink) => sink.emit(taken));
    }
    this.publish("event", record);
  }

  /** Emits the routing record and the log line of a request that has ended. */
  requestFinished(request: FinishedRequest): void {
    for (const output of this.#outputs) {
      if (output.takes.routing !== undefined) this.#write(output, (sink) => sink.emit(request.record, request.tries));
    }
    for (const output of this.#logged) {
      this.#write(output, (sink) => sink.log?.(this.#requestLogOf!(request, output.takes.logging!, this.#redact)));
    }
    this.publish("request_finished", request);
  }

  /** Logs a request that was rejected before routing. */
  log(facts: LogFacts): void {
    const record: LogRecord = { type: "log", timestamp: this.timestamp(), ...facts };
    for (const output of this.#outputs) if (output.takesRefused) this.#write(output, (sink) => sink.log?.(record));
  }

  /** Logs a notice, which concerns no request, to all sinks with a log, and traces it. */
  notice({ level, component, message, ...facts }: Omit<NoticeRecord, "type" | "timestamp">): void {
    const details = redactAll({ message, ...facts }, this.#redact);
    const record: NoticeRecord = { type: "log", timestamp: this.timestamp(), level, component, ...details };
    for (const output of this.#outputs) if (output.takesRefused) this.#write(output, (sink) => sink.log?.(record));
    this.trace({ severity: level, component, ...details });
  }

  /** Whether any sink receives traces of a severity. Check it before building a trace in the request path. */
  isTraced(severity: Severity): boolean {
    return severityRanks[severity] >= this.#minRank;
  }

  /** Emits a trace entry to all sinks that receive its severity. */
  trace(facts: TraceFacts): void {
    if (this.isTraced(facts.severity)) this.#trace(facts, this.#outputs);
  }

  /**
   * Resolves when sinks have written their records, or after 5 s.
   *
   * @param takes Selects the sinks to flush.
   * @default all
   */
  async flush(takes: (sink: Observability) => boolean = () => true): Promise<void> {
    const sinks = new Map(this.#outputs.filter(({ sink }) => takes(sink)).map((output) => [output.sink, output]));
    await Promise.all([...sinks.values()].map((output) => this.flushSink(output, () => output.sink.flush())));
  }

  /**
   * Flushes one sink.
   *
   * @param flush Flushes it.
   * @returns Resolves when the flush has succeeded or failed, or after 5 s.
   */
  async flushSink({ losses }: LineOutput, flush: () => Promise<void>): Promise<void> {
    await new Promise<void>((resolve) => {
      const fail = () => {
        losses.thrown++;
        resolve();
      };
      const cancel = this.#clock.after(flushLimitMs, fail, true);
      const succeed = () => {
        cancel();
        resolve();
      };
      notifySafely(async () => {
        await flush();
        succeed();
      }, () => {
        cancel();
        fail();
      });
    });
    if (losses.count !== losses.reported) this.#reportLosses(losses);
  }

  /** Returns the current time as an ISO 8601 timestamp. */
  timestamp(): string {
    const now = this.#clock.now();
    if (now === this.#stampedAt) return this.#stamp; // several requests end in one millisecond
    this.#stampedAt = now;
    return this.#stamp = new Date(now).toISOString();
  }

  #use(outputs: readonly LineOutput[]): void {
    this.#outputs = outputs;
    this.#minRank = Math.min(Infinity, ...outputs.map(({ minRank }) => minRank));
    this.#spans = outputs.find(({ sink, takes }) => sink.beginSpan !== undefined && takes.routing !== undefined);
    this.#logged = outputs.filter(({ takes }) => takes.logging !== undefined);
    this.exportsSpans = this.#spans !== undefined;
    this.logsRequests = this.#logged.length > 0;
    this.payloadBytes = Math.max(
      0,
      ...this.#logged.map(({ takes }) => takes.logging!.level === "metadata" ? 0 : takes.logging!.maxPayloadSize),
    );
  }

  #trace(facts: TraceFacts, outputs: readonly LineOutput[]): void {
    const rank = severityRanks[facts.severity];
    const entry: TraceEntry = { type: "trace", timestamp: this.timestamp(), ...redactAll(facts, this.#redact) };
    for (const output of outputs) if (rank >= output.minRank) this.#write(output, (sink) => sink.trace(entry));
  }

  /** Writes a record, unless the sink is overloaded. Counts it as lost if the sink fails. */
  #write({ sink, losses }: LineOutput, write: (sink: Observability) => unknown): void {
    try {
      if (losses.pending >= maxPending) losses.thrown++;
      else {
        const result = write(sink);
        if (isThenable(result)) losses.follow(result);
      }
    } catch {
      losses.thrown++;
    }
    if (losses.count !== losses.reported) this.#reportLosses(losses);
  }

  /** Reports new losses of a sink to the other sinks, at most once per minute. */
  #reportLosses(losses: SinkLosses): void {
    const { count, id } = losses;
    const now = this.#clock.monotonic();
    if (now - losses.reportedAt < lossIntervalMs) return;
    const lost = count - losses.reported;
    Object.assign(losses, { reported: count, reportedAt: now });
    const message = `The sink "${id}" lost ${lost} ${lost === 1 ? "record" : "records"}`;
    const others = this.#outputs.filter((output) => output.losses !== losses);
    this.#trace({ severity: "error", component: "observability", message, sink: id, lost, lost_total: count }, others);
  }
}
