/**
 * Requests over time, by pool, model and client, in bounded memory: a cell per second for five minutes, and one per
 * 15 seconds for an hour.
 * @module
 */
import type { RoutingRecord } from "../src/contracts/events.ts";
import { Durations } from "./durations.ts";
import { isFailed, isSaved } from "./records.ts";

/** What requests are grouped by in charts. */
export type Grouping = "none" | "pool" | "model" | "client";

/** Groups that are shown by their names; what is beyond them is one more group. */
const maxGroups = 7;

const resolutions = [{ stepMs: 1000, cells: 300 }, { stepMs: 15_000, cells: 240 }] as const;

/** Requests of a span of time. */
export class Totals {
  requests = 0;
  failed = 0;
  saved = 0;
  tokensIn = 0;
  tokensOut = 0;
  costUsd = 0;
  readonly latency: Durations = new Durations();
  readonly firstToken: Durations = new Durations();

  /** Counts one request. */
  addRecord(record: RoutingRecord): void {
    this.requests++;
    if (isFailed(record)) this.failed++;
    if (isSaved(record)) this.saved++;
    this.tokensIn += record.tokens_in ?? 0;
    this.tokensOut += record.tokens_out ?? 0;
    this.costUsd += record.cost_usd ?? 0;
    if (!isFailed(record) && record.duration_ms !== undefined) this.latency.add(record.duration_ms);
    if (record.ttft_ms !== undefined) this.firstToken.add(record.ttft_ms);
  }

  /** Adds those of another span. */
  add(other: Totals): void {
    this.requests += other.requests;
    this.failed += other.failed;
    this.saved += other.saved;
    this.tokensIn += other.tokensIn;
    this.tokensOut += other.tokensOut;
    this.costUsd += other.costUsd;
    this.latency.addAll(other.latency);
    this.firstToken.addAll(other.firstToken);
  }
}

/** What requests have in common that are counted in one cell. */
interface Labels {
  readonly pool: string;
  readonly model: string;
  readonly client: string;
}

interface Cell {
  readonly labels: Labels;
  readonly totals: Totals;
}

/** Cells of one resolution, by the number of their step since 1970. */
class Layer {
  readonly #steps = new Map<number, Map<string, Cell>>();

  constructor(readonly stepMs: number, readonly cells: number) {}

  add(at: number, labels: Labels, record: RoutingRecord): void {
    const step = Math.floor(at / this.stepMs);
    let cells = this.#steps.get(step);
    if (cells === undefined) this.#steps.set(step, cells = new Map());
    const key = `${labels.pool}\n${labels.model}\n${labels.client}`;
    let cell = cells.get(key);
    if (cell === undefined) cells.set(key, cell = { labels, totals: new Totals() });
    cell.totals.addRecord(record);
    if (this.#steps.size > this.cells + 60) this.#forget(step);
  }

  cellsAt(step: number): Iterable<Cell> {
    return this.#steps.get(step)?.values() ?? [];
  }

  /** Records may arrive late, so the oldest step is not the first one. */
  #forget(latest: number): void {
    for (const step of this.#steps.keys()) if (step < latest - this.cells) this.#steps.delete(step);
  }
}

/** One group of a view. */
export interface Group {
  readonly name: string;
  /** Of the whole window. */
  readonly total: Totals;
  /** Of each point. */
  readonly points: readonly (Totals | undefined)[];
}

/** A window of time as it is shown. */
export interface View {
  /** The start of each point, s since 1970. */
  readonly times: readonly number[];
  /** Length of a point, s. */
  readonly stepSeconds: number;
  readonly total: Totals;
  /** By number of requests. */
  readonly groups: readonly Group[];
}

/** What is viewed. */
interface ViewOptions {
  /** The end of the window, ms since 1970. */
  readonly now: number;
  /** Its length, s. */
  readonly seconds: number;
  /** Length of a point, s. */
  readonly stepSeconds: number;
  readonly grouping: Grouping;
}

/** The requests of the last hour. */
export class Series {
  readonly #layers = resolutions.map(({ stepMs, cells }) => new Layer(stepMs, cells));

  /** Counts a request that is over. */
  add(record: RoutingRecord): void {
    const at = Date.parse(record.timestamp);
    if (Number.isNaN(at)) return;
    const labels = { pool: record.pool, model: record.model ?? "no model", client: record.client ?? "no name" };
    for (const layer of this.#layers) layer.add(at, labels, record);
  }

  /** A window of time, in points. */
  view({ now, seconds, stepSeconds, grouping }: ViewOptions): View {
    const layer = this.#layers.find(({ stepMs, cells }) => stepMs * cells >= seconds * 1000) ?? this.#layers.at(-1)!;
    const perPoint = Math.max(1, Math.round(stepSeconds * 1000 / layer.stepMs));
    const end = Math.floor(now / layer.stepMs / perPoint) + 1;
    const start = end - Math.ceil(seconds / stepSeconds);
    const times: number[] = [];
    const total = new Totals();
    const groups = new Map<string, { name: string; total: Totals; points: (Totals | undefined)[] }>();
    for (let point = start; point < end; point++) {
      times.push(point * perPoint * layer.stepMs / 1000);
      for (let step = point * perPoint; step < (point + 1) * perPoint; step++) {
        for (const { labels, totals } of layer.cellsAt(step)) {
          const name = grouping === "none" ? "all" : labels[grouping];
          let group = groups.get(name);
          if (group === undefined) groups.set(name, group = { name, total: new Totals(), points: [] });
          (group.points[point - start] ??= new Totals()).add(totals);
          group.total.add(totals);
          total.add(totals);
        }
      }
    }
    return { times, stepSeconds, total, groups: limited([...groups.values()], times.length) };
  }
}

function limited(groups: readonly Group[], length: number): readonly Group[] {
  const sorted = groups.toSorted((one, other) => other.total.requests - one.total.requests);
  if (sorted.length <= maxGroups + 1) return sorted;
  const other = { name: "others", total: new Totals(), points: new Array<Totals | undefined>(length) };
  for (const { total, points } of sorted.slice(maxGroups)) {
    other.total.add(total);
    points.forEach((point, index) => point && (other.points[index] ??= new Totals()).add(point));
  }
  return [...sorted.slice(0, maxGroups), other];
}
