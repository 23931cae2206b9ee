/**
 * The figures, charts and table of the traffic.
 * @module
 */
import { Breakdown } from "./breakdown.ts";
import { Chart, type ChartData, type Line } from "./chart.ts";
import { byId, choice, el } from "./dom.ts";
import { count, duration, none, percent, rate, span, usd } from "./format.ts";
import { type Measure, type MeasureLine, measures } from "./measures.ts";
import type { Group, Grouping, Series, View } from "./series.ts";
import { showTiles } from "./tiles.ts";

/** Windows that can be chosen, by their length in s, and the length of a point. */
const windows = { "60": ["1 min", 2], "300": ["5 min", 5], "900": ["15 min", 15], "3600": ["1 h", 60] } as const;

/** Charts and table are drawn once in this time at most, ms: adding up an hour of busy traffic takes a while. */
const intervalMs = 950;

type WindowLength = keyof typeof windows;

/** The traffic part of the page. */
export class Traffic {
  readonly #series: Series;
  readonly #charts = measures.map((measure) => new Chart(measure, (index) => this.#mark(index)));
  readonly #breakdown = new Breakdown();
  #length: WindowLength = "300";
  #grouping: Grouping = "none";
  #drawnAt = -Infinity;

  constructor(series: Series, redraw: () => void) {
    this.#series = series;
    const changed = () => (this.#drawnAt = -Infinity, redraw());
    const names = Object.fromEntries(Object.entries(windows).map(([length, [name]]) => [length, name]));
    choice<WindowLength>("window", {
      options: names as Record<WindowLength, string>,
      selected: this.#length,
      onChange: (length) => (this.#length = length, changed()),
    });
    choice<Grouping>("group", {
      options: { none: "All", pool: "Pool", model: "Model", client: "Client" },
      selected: this.#grouping,
      onChange: (grouping) => (this.#grouping = grouping, changed()),
    });
    byId("charts").append(...this.#charts.map(({ element }) => element));
  }

  /**
   * Draws the window that ends now.
   *
   * @param now ms since 1970.
   */
  draw(now: number): void {
    if (Math.abs(now - this.#drawnAt) < intervalMs) return;
    this.#drawnAt = now;
    const [name, stepSeconds] = windows[this.#length];
    const options = { now, seconds: Number(this.#length), stepSeconds };
    const grouping = this.#grouping;
    const by = grouping === "none" ? "model" : grouping;
    const grouped = this.#series.view({ ...options, grouping: by });
    const view = grouping === "none" ? this.#series.view({ ...options, grouping }) : grouped;
    drawTiles(view, view.totalSeconds > options.seconds - 2 * stepSeconds ? name : span(view.totalSeconds * 1000));
    this.#charts.forEach((chart, index) => chart.set(toChartData(measures[index]!, view, grouping)));
    drawLegend(grouping === "none" ? [] : view.groups);
    this.#breakdown.draw(grouped.groups, by);
  }

  /** Marks the same time in all charts. */
  #mark(index: number): void {
    for (const chart of this.#charts) chart.mark(index);
  }
}

function drawTiles({ total, totalSeconds }: View, length: string): void {
  const { requests, failed, saved, tokensIn, tokensOut, costUsd, latency, firstToken } = total;
  const seconds = Math.max(1, totalSeconds);
  const p95 = (ms: number | undefined) => `p95 ${duration(ms)}`;
  const share = (part: number) => requests === 0 ? none : percent(part / requests);
  showTiles({
    "Requests per second": { value: rate(requests / seconds), detail: `${count(requests)} in ${length}` },
    "Error rate": {
      value: share(failed),
      detail: requests === 0 ? "no request" : `${count(failed)} of ${count(requests)}`,
      tone: failed > 0 ? "bad" : undefined,
    },
    "Saved by failover": {
      value: count(saved),
      detail: requests === 0 ? "no request" : `${share(saved)} of requests`,
      tone: saved > 0 ? "good" : undefined,
    },
    "Latency p50": { value: duration(latency.percentile(0.5)), detail: p95(latency.percentile(0.95)) },
    "First token p50": { value: duration(firstToken.percentile(0.5)), detail: p95(firstToken.percentile(0.95)) },
    "Tokens": { value: count(tokensIn + tokensOut), detail: `${count(tokensIn)} in, ${count(tokensOut)} out` },
    "Cost": { value: usd(costUsd), detail: `${usd(costUsd / seconds * 3600)} per hour` },
  });
}

function toChartData(measure: Measure, view: View, grouping: Grouping): ChartData {
  const { total, totalSeconds, groups, times } = view;
  const figure = ({ of }: MeasureLine) => {
    const value = total.requests === 0 ? null : of(total, totalSeconds);
    return value === null || !Number.isFinite(value) ? none : measure.format(value);
  };
  const isGrouped = grouping !== "none";
  const ofModels = grouping === "model" ? measure.ofModels : undefined;
  const first = ofModels?.line ?? measure.lines[0];
  const title = ofModels?.title ?? measure.title;
  const lines: Line[] = isGrouped
    ? groups.map((group, color) => ({
      name: group.name,
      color,
      values: toPointValues(first, { measure, view, group }),
    }))
    : measure.lines.map((line, color) => ({
      name: line.name,
      color,
      values: toPointValues(line, { measure, view, group: groups[0] }),
      figure: figure(line),
      isFilled: color === 0,
      isDashed: color > 0,
    }));
  const isOne = isGrouped && measure.lines.length > 1;
  return {
    title: isOne ? `${title}, ${first.name}` : title,
    figure: figure(first),
    times,
    lines,
  };
}

/** A point's values; null where it is covered for less than half of its length. */
function toPointValues(
  { of }: MeasureLine,
  { measure, view, group }: { readonly measure: Measure; readonly view: View; readonly group: Group | undefined },
): (number | null)[] {
  return view.seconds.map((seconds, index) => {
    if (seconds < view.stepSeconds / 2) return null;
    const point = group?.points[index];
    return point === undefined ? (measure.isCount ? 0 : null) : of(point, seconds);
  });
}

function drawLegend(groups: readonly Group[]): void {
  const keys = groups.map(({ name }, index) => {
    const key = el("span", { class: "key", title: name }, el("span", {}, el("bdi", {}, name)));
    key.style.setProperty("--key", `var(--c${index})`);
    return key;
  });
  byId("legend").replaceChildren(...keys);
}
