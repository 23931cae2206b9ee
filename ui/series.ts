/**
 * Requests over time, by pool, model and client, in bounded memory: a cell per second for five minutes, and one per
 * 15 seconds for an hour.
 * @module
 */
import type { RoutingRecord } from "../src/contracts/events.ts";
import type { Coverage } from "./coverage.ts";
import { Totals } from "./totals.ts";

/** What requests are grouped by in charts. */
export type Grouping = "none" | "pool" | "model" | "client";

/** Groups that are shown by name; the others are shown as one more. */
const maxGroups = 7;

const resolutions = [{ stepMs: 1000, cells: 300 }, { stepMs: 15_000, cells: 240 }] as const;

/** The labels of a cell. */
interface Labels {
  readonly pool: string;
  readonly model: string;
  readonly client: string;
}

interface Cell {
  readonly labels: Labels;
  readonly totals: Totals;
}

/** Cells of one resolution, by step; steps are numbered since 1970. */
class Layer {
  readonly stepMs: number;
  readonly cells: number;
  readonly #steps = new Map<number, Map<string, Cell>>();

  constructor(stepMs: number, cells: number) {
    this.stepMs = stepMs;
    this.cells = cells;
  }

  add(at: number, labels: Labels, count: (totals: Totals) => void): void {
    const step = Math.floor(at / this.stepMs);
    let cells = this.#steps.get(step);
    if (cells === undefined) this.#steps.set(step, cells = new Map());
    const key = `${labels.pool}\n${labels.model}\n${labels.client}`;
    let cell = cells.get(key);
    if (cell === undefined) cells.set(key, cell = { labels, totals: new Totals() });
    count(cell.totals);
    if (this.#steps.size > this.cells + 60) this.#forget(step);
  }

  cellsAt(step: number): Iterable<Cell> {
    return this.#steps.get(step)?.values() ?? [];
  }

  /** Records may arrive late: the oldest step is not always the first of the map. */
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
  /** How much of each point is covered by records; its rate is over this time, s. */
  readonly seconds: readonly number[];
  /** Length of a point, s. */
  readonly stepSeconds: number;
  /** How much of the window is covered by records, s. */
  readonly totalSeconds: number;
  readonly total: Totals;
  /** By number of requests, or of attempts where these are more. */
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

/** A group while it is added up. */
interface Sum {
  readonly name: string;
  readonly total: Totals;
  readonly points: (Totals | undefined)[];
}

/** The requests of the last hour. */
export class Series {
  readonly #layers = resolutions.map(({ stepMs, cells }) => new Layer(stepMs, cells));
  readonly #coverage: Pick<Coverage, "seconds">;

  /** @param coverage Which time the added records cover. */
  constructor(coverage: Pick<Coverage, "seconds">) {
    this.#coverage = coverage;
  }

  /** Counts a request that is over. */
  add(record: RoutingRecord): void {
    const at = Date.parse(record.timestamp);
    if (Number.isNaN(at)) return;
    const model = record.cached ? "the cache" : record.model ?? "no model";
    const labels = { pool: record.pool, model, client: record.client ?? "no name" };
    for (const layer of this.#layers) {
      layer.add(at, labels, (totals) => totals.addRecord(record));
      for (const step of record.fallback_chain) {
        layer.add(at, { ...labels, model: step.model }, (totals) => totals.addAttempt(step));
      }
    }
  }

  /** A window of time, in points. */
  view({ now, seconds: length, stepSeconds, grouping }: ViewOptions): View {
    const stepMs = stepSeconds * 1000;
    const end = Math.floor(now / stepMs) + 1;
    const start = end - Math.ceil(length / stepSeconds);
    const starts = Array.from({ length: end - start }, (_, index) => (start + index) * stepMs);
    const seconds = starts.map((at) => this.#coverage.seconds(at, Math.min(at + stepMs, now)));
    const layer = this.#layers.find(({ stepMs, cells }) => stepMs * cells >= length * 1000) ?? this.#layers.at(-1)!;
    const groups = groupCells(layer, { starts, stepMs, grouping });
    const total = new Totals();
    for (const group of groups) total.add(group.total);
    return {
      times: starts.map((at) => at / 1000),
      seconds,
      stepSeconds,
      totalSeconds: seconds.reduce((sum, value) => sum + value, 0),
      total,
      groups: limited(groups, starts.length),
    };
  }
}

/** Adds the cells of a layer up, by group and point. */
function groupCells(
  layer: Layer,
  { starts, stepMs, grouping }: {
    readonly starts: readonly number[];
    readonly stepMs: number;
    readonly grouping: Grouping;
  },
): readonly Group[] {
  const groups = new Map<string, Sum>();
  const perPoint = Math.max(1, Math.round(stepMs / layer.stepMs));
  starts.forEach((at, point) => {
    const first = Math.round(at / layer.stepMs);
    for (let step = first; step < first + perPoint; step++) {
      for (const { labels, totals } of layer.cellsAt(step)) {
        const name = grouping === "none" ? "all" : labels[grouping];
        let group = groups.get(name);
        if (group === undefined) groups.set(name, group = { name, total: new Totals(), points: [] });
        (group.points[point] ??= new Totals()).add(totals);
      }
    }
  });
  for (const { total, points } of groups.values()) points.forEach((point) => point && total.add(point));
  return [...groups.values()];
}

function limited(groups: readonly Group[], length: number): readonly Group[] {
  const busyness = ({ total: { requests, attempts } }: Group) => Math.max(requests, attempts);
  const sorted = groups.toSorted((first, second) => busyness(second) - busyness(first));
  if (sorted.length <= maxGroups + 1) return sorted;
  const other = { name: "others", total: new Totals(), points: new Array<Totals | undefined>(length) };
  for (const { total, points } of sorted.slice(maxGroups)) {
    other.total.add(total);
    points.forEach((point, index) => point && (other.points[index] ??= new Totals()).add(point));
  }
  return [...sorted.slice(0, maxGroups), other];
}
