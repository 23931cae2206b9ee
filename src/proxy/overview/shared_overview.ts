/**
 * The overview of several processes of one proxy. Each reports to the supervisor, which aggregates.
 * @module
 */
import type { Observability } from "../../contracts/observability.ts";
import type { EntryStats } from "../../contracts/storage.ts";
import type { Clock } from "../../contracts/runtime.ts";
import type { Engine } from "../../engine/engine.ts";
import type { CacheLookup, FinishedRequest, RefusedRequest } from "../../observe/hub_events.ts";
import {
  countedMembers,
  type CountedRequest,
  type GuardAction,
  RequestMetrics,
} from "../../observe/request_metrics.ts";
import type { Overview, OverviewPart, ProxyOverview } from "./overview.ts";
import { type OwnedRecord, type RecordPage, RecordRing, type RecordSource } from "./record_ring.ts";

/** Minimum interval of reports, ms. */
const reportMs = 10;

/** The changes since the last report. */
export interface OverviewReport {
  readonly records: readonly OwnedRecord[];
  readonly finished: readonly CountedRequest[];
  readonly refused: readonly RefusedRequest[];
  readonly rotations: readonly (readonly [pool: string, reason: string])[];
  readonly guarded: readonly GuardAction[];
  readonly lookups: readonly CacheLookup[];
  /** Current values. */
  readonly inFlight: number;
  /** Entries of the cache in the memory of the process. */
  readonly held: EntryStats | undefined;
  /** Counters since the start of the process. */
  readonly lost: Overview["lost"];
}

/** A request to the supervisor. */
export type OverviewQuestion = { readonly after: number | null; readonly waitMs: number } | {
  readonly part: OverviewPart;
  readonly owner?: string;
};

/** The overview in the supervisor. */
export class OverviewOwner {
  readonly #clock: Clock;
  readonly #startedAt: number;
  readonly #records: RecordRing;
  readonly #metrics = new RequestMetrics();
  /** Current values by process. */
  readonly #processes = new Map<number, Pick<OverviewReport, "inFlight" | "lost" | "held">>();
  /** Counters of processes that have ended. */
  readonly #lost = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#startedAt = clock.monotonic();
    this.#records = new RecordRing(clock);
  }

  /** Adds a report. */
  receive(process: number, report: OverviewReport): void {
    const { records, finished, refused, rotations, guarded, lookups, inFlight, lost, held } = report;
    for (const record of records) this.#records.emit(record);
    for (const request of finished) this.#metrics.addRequest(request);
    for (const request of refused) this.#metrics.addRefused(request);
    for (const [pool, reason] of rotations) this.#metrics.addRotation(pool, reason);
    for (const action of guarded) this.#metrics.addGuardAction(action);
    for (const lookup of lookups) this.#metrics.addLookup(lookup);
    this.#processes.set(process, { inFlight, lost, held });
  }

  /** Removes a process that has ended; its counters remain. */
  end(process: number): void {
    addLost(this.#lost, this.#processes.get(process)?.lost ?? []);
    this.#processes.delete(process);
  }

  /** Responds to a request. */
  async respond(question: OverviewQuestion): Promise<RecordPage | Overview> {
    if ("after" in question) return await this.#records.next(question.after, question);
    const lost = new Map(this.#lost);
    let inFlight = 0;
    for (const worker of this.#processes.values()) {
      inFlight += worker.inFlight;
      addLost(lost, worker.lost);
    }
    return {
      uptimeMs: this.#clock.monotonic() - this.#startedAt,
      inFlight,
      clients: question.part === "clients" ? this.#metrics.clients() : [],
      ...(question.part === "cache" && { cache: this.#metrics.cache(), held: this.#countHeld() }),
      families: question.part === "families" ? this.#metrics.families(question.owner) : [],
      lost: [...lost],
    };
  }

  #countHeld(): EntryStats | undefined {
    const held = [...this.#processes.values()].flatMap((worker) => worker.held ?? []);
    if (held.length === 0) return undefined;
    return held.reduce((sum, { entries, bytes }) => ({ entries: sum.entries + entries, bytes: sum.bytes + bytes }));
  }
}

function addLost(sums: Map<string, number>, lost: Overview["lost"]): void {
  for (const [sink, count] of lost) sums.set(sink, (sums.get(sink) ?? 0) + count);
}

/** The connection of a process to the supervisor. */
interface OverviewLine {
  readonly clock: Clock;
  readonly report: (report: OverviewReport) => void;
  readonly ask: (question: OverviewQuestion) => Promise<unknown>;
}

/** The overview in a worker. */
export class SharedOverview implements ProxyOverview {
  readonly sink: Observability;
  readonly records: RecordSource;
  readonly #line: OverviewLine;
  #mesh: Engine | undefined;
  #isReporting = false;
  #seen = nothingSeen();

  constructor(line: OverviewLine) {
    this.#line = line;
    const add = (record: OwnedRecord) => this.#see("records", record);
    this.sink = { emit: add, log: add, trace: add, flush: () => Promise.resolve() };
    this.records = {
      next: async (after, { waitMs }) => {
        this.#report();
        return await line.ask({ after, waitMs }) as RecordPage;
      },
    };
  }

  follow(mesh: Engine): void {
    this.#mesh = mesh;
    const { hub, statistics } = mesh;
    hub.on("request_started", () => this.#reportSoon());
    if (statistics.metrics instanceof ReportingMetrics) return;
    statistics.metrics = new ReportingMetrics({
      finished: (request) => this.#see("finished", request),
      refused: (request) => this.#see("refused", request),
      rotated: (pool, reason) => this.#see("rotations", [pool, reason]),
      guarded: (action) => this.#see("guarded", action),
      lookedUp: (lookup) => this.#see("lookups", lookup),
    });
  }

  async read(part: OverviewPart, owner?: string): Promise<Overview> {
    this.#report();
    return await this.#line.ask({ part, ...(owner !== undefined && { owner }) }) as Overview;
  }

  #see<Kind extends keyof Seen>(kind: Kind, what: Seen[Kind][number]): void {
    (this.#seen[kind] as unknown[]).push(what);
    this.#reportSoon();
  }

  #reportSoon(): void {
    if (this.#isReporting) return;
    this.#isReporting = true;
    this.#line.clock.after(reportMs, () => {
      this.#isReporting = false;
      this.#report();
    });
  }

  /** Reports are received before later requests. */
  #report(): void {
    const seen = this.#seen;
    this.#seen = nothingSeen();
    const { statistics, hub, cacheMemory } = this.#mesh!;
    const held = cacheMemory.findEntries?.().held;
    this.#line.report({ ...seen, inFlight: statistics.inFlight, lost: [...hub.lost], held });
  }
}

interface Seen {
  readonly records: OwnedRecord[];
  readonly finished: CountedRequest[];
  readonly refused: RefusedRequest[];
  readonly rotations: (readonly [pool: string, reason: string])[];
  readonly guarded: GuardAction[];
  readonly lookups: CacheLookup[];
}

function nothingSeen(): Seen {
  return { records: [], finished: [], refused: [], rotations: [], guarded: [], lookups: [] };
}

/** Receives metrics. */
interface CountReceiver {
  readonly finished: (request: CountedRequest) => void;
  readonly refused: (request: RefusedRequest) => void;
  readonly rotated: (pool: string, reason: string) => void;
  readonly guarded: (action: GuardAction) => void;
  readonly lookedUp: (lookup: CacheLookup) => void;
}

/** Aggregates metrics for local sinks, and reports them. */
class ReportingMetrics extends RequestMetrics {
  readonly #receiver: CountReceiver;

  constructor(receiver: CountReceiver) {
    super();
    this.#receiver = receiver;
  }

  override addRequest(request: FinishedRequest): void {
    super.addRequest(request);
    const { record, tries, tokensIn, tokensOut, tokensCached, costNanoUsd, callerCostNanoUsd } = request;
    const counted = Object.fromEntries(countedMembers.map((name) => [name, record[name]])) as CountedRequest["record"];
    const cost = callerCostNanoUsd === undefined ? { costNanoUsd } : { callerCostNanoUsd };
    this.#receiver.finished({ record: counted, tries, tokensIn, tokensOut, tokensCached, ...cost });
  }

  override addRefused(request: RefusedRequest): void {
    super.addRefused(request);
    this.#receiver.refused(request);
  }

  override addRotation(pool: string, reason: string): void {
    super.addRotation(pool, reason);
    this.#receiver.rotated(pool, reason);
  }

  override addGuardAction(action: GuardAction): void {
    super.addGuardAction(action);
    this.#receiver.guarded(action);
  }

  override addLookup(lookup: CacheLookup): void {
    super.addLookup(lookup);
    this.#receiver.lookedUp(lookup);
  }
}
