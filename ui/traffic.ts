/**
 * The figures, charts and table of the traffic.
 * @module
 */
import { Chart, type ChartData, type Line } from "./chart.ts";
import { byId, choice, el, setText } from "./dom.ts";
import { count, duration, none, percent, rate, shortDuration, usd } from "./format.ts";
import { type Group, type Grouping, type Series, type Totals, type View } from "./series.ts";

/** Windows that can be chosen, by their length in s, and the length of a point. */
const windows = { "60": ["1 min", 2], "300": ["5 min", 5], "900": ["15 min", 15], "3600": ["1 h", 60] } as const;

type WindowLength = keyof typeof windows;

/** What one chart shows of each point. */
interface Measure {
  readonly title: string;
  readonly format: (value: number) => string;
  readonly formatAxis?: (value: number) => string;
  readonly minTop: number;
  /** Lines of one group; without groups, all of them are drawn, else the first one. */
  readonly lines: readonly { readonly name: string; readonly of: (totals: Totals, seconds: number) => number | null }[];
  /** Whether a point without a request is zero, and not nothing. */
  readonly isCount: boolean;
}

const measures: readonly Measure[] = [
  {
    title: "Requests per second",
    format: rate,
    minTop: 1,
    lines: [{ name: "requests/s", of: ({ requests }, seconds) => requests / seconds }],
    isCount: true,
  },
  {
    title: "Latency, p95 and p50",
    format: duration,
    formatAxis: shortDuration,
    minTop: 10,
    lines: [
      { name: "p95", of: ({ latency }) => latency.percentile(0.95) ?? null },
      { name: "p50", of: ({ latency }) => latency.percentile(0.5) ?? null },
    ],
    isCount: false,
  },
  {
    title: "Time to first token, p95 and p50",
    format: duration,
    formatAxis: shortDuration,
    minTop: 10,
    lines: [
      { name: "p95", of: ({ firstToken }) => firstToken.percentile(0.95) ?? null },
      { name: "p50", of: ({ firstToken }) => firstToken.percentile(0.5) ?? null },
    ],
    isCount: false,
  },
  {
    title: "Error rate",
    format: percent,
    minTop: 0.05,
    lines: [{ name: "errors", of: ({ failed, requests }) => failed / requests }],
    isCount: true,
  },
  {
    title: "Tokens per second, out and in",
    format: rate,
    minTop: 1,
    lines: [
      { name: "out", of: ({ tokensOut }, seconds) => tokensOut / seconds },
      { name: "in", of: ({ tokensIn }, seconds) => tokensIn / seconds },
    ],
    isCount: true,
  },
  {
    title: "Cost per minute",
    format: usd,
    minTop: 0.000_001,
    lines: [{ name: "USD/min", of: ({ costUsd }, seconds) => costUsd / seconds * 60 }],
    isCount: true,
  },
];

/** The traffic part of the page. */
export class Traffic {
  readonly #series: Series;
  readonly #charts = measures.map((measure) => new Chart(measure));
  readonly #tiles = new Map<string, HTMLElement>();
  #length: WindowLength = "300";
  #grouping: Grouping = "none";

  constructor(series: Series, redraw: () => void) {
    this.#series = series;
    const names = Object.fromEntries(Object.entries(windows).map(([length, [name]]) => [length, name]));
    choice<WindowLength>("window", {
      options: names as Record<WindowLength, string>,
      selected: this.#length,
      onChange: (length) => (this.#length = length, redraw()),
    });
    choice<Grouping>("group", {
      options: { none: "All", pool: "Pool", model: "Model", client: "Client" },
      selected: this.#grouping,
      onChange: (grouping) => (this.#grouping = grouping, redraw()),
    });
    byId("charts").append(...this.#charts.map(({ element }) => element));
  }

  /**
   * Draws the window that ends now.
   *
   * @param now ms since 1970.
   * @param uptimeSeconds Rates are over this time at most.
   */
  draw(now: number, uptimeSeconds: number): void {
    const [name, stepSeconds] = windows[this.#length];
    const options = { now, seconds: Number(this.#length), stepSeconds };
    const view = this.#series.view({ ...options, grouping: this.#grouping });
    const seconds = Math.max(1, Math.min(options.seconds, uptimeSeconds));
    this.#drawTiles(view.total, { name, seconds });
    const grouping = this.#grouping;
    this.#charts.forEach((chart, index) => chart.set(dataOf(measures[index]!, view, { grouping, seconds })));
    drawLegend(this.#grouping === "none" ? [] : view.groups);
    const shown = this.#grouping === "none" ? this.#series.view({ ...options, grouping: "model" }) : view;
    drawTable(shown, this.#grouping === "none" ? "model" : this.#grouping);
  }

  /** After a change of colours. */
  recolor(): void {
    for (const chart of this.#charts) chart.recolor();
  }

  #drawTiles(total: Totals, { name, seconds }: { name: string; seconds: number }): void {
    const { requests, failed, saved, tokensIn, tokensOut, costUsd, latency, firstToken } = total;
    const p95 = (ms: number | undefined) => `p95 ${duration(ms)}`;
    this.#tile("Requests per second", rate(requests / seconds), `${count(requests)} in ${name}`);
    this.#tile("Latency, median", duration(latency.percentile(0.5)), p95(latency.percentile(0.95)));
    this.#tile("First token, median", duration(firstToken.percentile(0.5)), p95(firstToken.percentile(0.95)));
    const share = requests === 0 ? none : percent(failed / requests);
    this.#tile("Errors", share, `${count(failed)} of ${count(requests)}`, failed > 0 ? "bad" : "");
    const kept = requests === 0 ? "no request yet" : `${percent(saved / requests)} of requests`;
    this.#tile("Saved by failover", count(saved), kept, saved > 0 ? "good" : "");
    this.#tile("Tokens", count(tokensIn + tokensOut), `${count(tokensIn)} in, ${count(tokensOut)} out`);
    this.#tile("Cost", usd(costUsd), `${usd(costUsd / seconds * 3600)} per hour`);
  }

  #tile(title: string, value: string, detail: string, tone = ""): void {
    let tile = this.#tiles.get(title);
    if (tile === undefined) {
      tile = el("div", { class: "tile" }, el("h3", {}, title), el("strong"), el("small"));
      this.#tiles.set(title, tile);
      byId("tiles").append(tile);
    }
    tile.dataset.tone = tone;
    setText(tile.children[1]!, value);
    setText(tile.children[2]!, detail);
  }
}

function dataOf(
  { lines, isCount, format }: Measure,
  { times, stepSeconds, total, groups }: View,
  { grouping, seconds }: { readonly grouping: Grouping; readonly seconds: number },
): ChartData {
  const valuesOf = (group: Group | undefined, of: Measure["lines"][number]["of"]) =>
    times.map((_, index) => {
      const point = group?.points[index];
      return point === undefined || point.requests === 0 ? (isCount ? 0 : null) : of(point, stepSeconds);
    });
  const whole = lines[0]!.of(total, seconds);
  const figure = total.requests === 0 || whole === null ? none : format(whole);
  const drawn: Line[] = grouping === "none"
    ? lines.map(({ name, of }, color) => ({
      name,
      color,
      values: valuesOf(groups[0], of),
      isFilled: color === 0,
      isDashed: color > 0,
    }))
    : groups.map((group, color) => ({ name: group.name, color, values: valuesOf(group, lines[0]!.of) }));
  return { times, lines: drawn, figure };
}

function drawLegend(groups: readonly Group[]): void {
  const keys = groups.map(({ name }, index) => {
    const key = el("span", { class: "key" }, name);
    key.style.setProperty("--key", `var(--c${index})`);
    return key;
  });
  byId("legend").replaceChildren(...keys);
}

const columns = ["Requests", "Errors", "Saved", "p50", "p95", "First token", "Tokens in", "Tokens out", "Cost"];

function drawTable({ groups }: View, by: Grouping): void {
  const title = by.charAt(0).toUpperCase() + by.slice(1);
  const header = [title, ...columns].map((name) => el("th", { scope: "col" }, name));
  const rows = groups.map(({ name, total }) => {
    const cells = [
      count(total.requests),
      percent(total.failed / total.requests),
      count(total.saved),
      duration(total.latency.percentile(0.5)),
      duration(total.latency.percentile(0.95)),
      duration(total.firstToken.percentile(0.5)),
      count(total.tokensIn),
      count(total.tokensOut),
      usd(total.costUsd),
    ];
    return el("tr", {}, el("th", { scope: "row", title: name }, name), ...cells.map((text) => el("td", {}, text)));
  });
  const nothing = el("tr", {}, el("th", { scope: "row" }, none), ...columns.map(() => el("td", {}, none)));
  byId("table").replaceChildren(
    el("thead", {}, el("tr", {}, ...header)),
    el("tbody", {}, ...(rows.length === 0 ? [nothing] : rows)),
  );
}
