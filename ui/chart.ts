/**
 * One chart over time. Its header names the lines and their values over the whole window; the values at one time are
 * shown in a tooltip.
 * @module
 */
import { el, setText } from "./dom.ts";
import { none, timeOfDay } from "./format.ts";
import { uPlot } from "./uplot.ts";

/** Height of the drawing, CSS px. */
const height = 132;

/** One line of a chart. */
export interface Line {
  readonly name: string;
  /** Which of the page's colours of series. */
  readonly color: number;
  readonly values: readonly (number | null)[];
  /** Its value over the whole window, for the header; without it the header does not name the line. */
  readonly figure?: string;
  readonly isFilled?: boolean;
  readonly isDashed?: boolean;
}

/** What a chart shows. */
export interface ChartData {
  readonly title: string;
  /** The value of the first line over the whole window. */
  readonly figure: string;
  /** s since 1970. */
  readonly times: readonly number[];
  readonly lines: readonly Line[];
}

/** How a chart is made. */
interface ChartOptions {
  /** Is shown where no line has a value. */
  readonly empty: string;
  readonly format: (value: number) => string;
  /** The same for its axis. @default format */
  readonly formatAxis?: ((value: number) => string) | undefined;
  /** The axis reaches at least this value. */
  readonly minTop: number;
}

/** A chart of the page. */
export class Chart {
  readonly element: HTMLElement;
  readonly #options: ChartOptions;
  readonly #title = el("span");
  readonly #keys = el("span", { class: "keys" });
  readonly #plotHost = el("div", { class: "plot", role: "img" });
  readonly #empty = el("p", { class: "nothing muted", "aria-hidden": "true" });
  readonly #tip = el("div", { class: "tip", hidden: true, "aria-hidden": "true" });
  #plot: uPlot | undefined;
  #data: ChartData | undefined;
  #shape = "";
  #isHovered = false;

  constructor(options: ChartOptions) {
    this.#options = options;
    setText(this.#empty, options.empty);
    const header = el("h3", {}, this.#title, this.#keys);
    this.element = el("div", { class: "chart card" }, header, this.#plotHost, this.#empty, this.#tip);
    this.element.addEventListener("pointerenter", () => this.#isHovered = true);
    this.element.addEventListener("pointerleave", () => {
      this.#isHovered = false;
      this.#tip.hidden = true;
    });
    new ResizeObserver(() => this.#plot?.setSize({ width: this.#plotHost.clientWidth, height })).observe(
      this.#plotHost,
    );
  }

  /** Draws. */
  set(data: ChartData): void {
    this.#data = data;
    this.#drawHeader(data);
    this.#empty.hidden = data.lines.some(({ values }) => values.some((value) => value !== null));
    const shape = data.lines.map(({ color, isFilled, isDashed }) => `${color}${isFilled}${isDashed}`).join();
    const columns = [data.times, ...data.lines.map(({ values }) => values)] as unknown as uPlot.AlignedData;
    if (this.#plot !== undefined && shape === this.#shape) {
      this.#plot.setData(columns);
      return this.#showTip(this.#plot);
    }
    this.#shape = shape;
    this.#plot?.destroy();
    this.#plot = new uPlot(this.#uplotOptions(data), columns, this.#plotHost);
  }

  /** Draws anew in the page's present colours. */
  recolor(): void {
    this.#shape = "";
    if (this.#data !== undefined) this.set(this.#data);
  }

  #drawHeader({ title, figure, lines }: ChartData): void {
    const named = lines.filter((line) => line.figure !== undefined);
    setText(this.#title, title);
    const keys = named.map(({ name, color, figure = "", isDashed }) => {
      const key = el("span", { class: "key", "data-line": isDashed ? "dashed" : "solid" }, name, el("b", {}, figure));
      key.style.setProperty("--key", `var(--c${color})`);
      return key;
    });
    this.#keys.replaceChildren(...(keys.length === 0 ? [el("b", {}, figure)] : keys));
    const said = named.map(({ name, figure }) => `${name} ${figure}`).join(", ");
    this.#plotHost.setAttribute("aria-label", `${title}: ${said || figure}`);
  }

  #uplotOptions({ lines }: ChartData): uPlot.Options {
    const { format, formatAxis = format, minTop } = this.#options;
    const [muted, grid] = [resolveColor("--muted"), resolveColor("--line")];
    const axis: uPlot.Axis = {
      stroke: muted,
      grid: { stroke: grid, width: 1 },
      ticks: { show: false },
      font: "11px system-ui, sans-serif",
    };
    return {
      width: Math.max(this.#plotHost.clientWidth, 60),
      height,
      padding: [8, 16, 0, 0],
      legend: { show: false },
      cursor: { y: false, drag: { x: false, y: false }, sync: { key: "modelmesh" }, points: { size: 6 } },
      scales: { y: { range: (_plot, _low, high) => [0, Math.max(minTop, (high ?? 0) * 1.1)] } },
      axes: [
        { ...axis, size: 22, space: timeSpace, grid: { show: false }, values: (_plot, times) => times.map(axisTime) },
        { ...axis, size: labelWidth, space: 34, gap: 4, values: (_plot, values) => values.map(formatAxis) },
      ],
      series: [{}, ...lines.map((line) => toSeries(line))],
      hooks: { setCursor: [(plot) => this.#showTip(plot)] },
    };
  }

  #showTip(plot: uPlot): void {
    const { idx, left = -1 } = plot.cursor;
    const data = this.#data;
    this.#tip.hidden = !this.#isHovered || idx === null || idx === undefined || left < 0;
    if (this.#tip.hidden || data === undefined) return;
    const rows = data.lines.map(({ name, color, values, isDashed }) => {
      const value = values[idx!] ?? null;
      const key = el("span", { class: "key", "data-line": isDashed ? "dashed" : "solid" }, name);
      key.style.setProperty("--key", `var(--c${color})`);
      return el("div", {}, key, el("b", {}, value === null ? none : this.#options.format(value)));
    });
    this.#tip.replaceChildren(timeOfDay(data.times[idx!]! * 1000), ...rows);
    const isRight = left > plot.over.clientWidth / 2;
    this.#tip.style.left = isRight ? "56px" : "auto";
    this.#tip.style.right = isRight ? "auto" : "12px";
  }
}

function toSeries({ color, isFilled, isDashed }: Line): uPlot.Series {
  const stroke = resolveColor(`--c${color}`);
  return {
    stroke,
    width: 1.6,
    gaps: (plot, _series, _first, _last, gaps) => gaps.filter(([from, until]) => until - from > plot.bbox.width / 8),
    points: { size: 4, width: 0, fill: stroke, show: true, filter: lonely },
    ...(isFilled ? { fill: stroke.replace(/^rgb\((.*)\)$/, "rgba($1, 0.13)") } : {}),
    ...(isDashed ? { dash: [4, 4] } : {}),
  };
}

/** The indexes of values without neighbours, which no line would show. */
function lonely(plot: uPlot, series: number): number[] {
  const values: ArrayLike<number | null | undefined> = plot.data[series]!;
  const has = (index: number) => (values[index] ?? null) !== null;
  const isLonely = (index: number) => has(index) && !has(index - 1) && !has(index + 1);
  return Array.from(values, (_, index) => index).filter(isLonely);
}

/** The width of the axis for its longest label, CSS px. */
function labelWidth(_plot: uPlot, labels: readonly string[] | null): number {
  return Math.max(40, ...(labels ?? []).map((label) => 12 + 6 * label.length));
}

/** How far apart labels of times are at least, CSS px: in a short window they have seconds. */
function timeSpace(_plot: uPlot, _axis: number, from: number, until: number): number {
  return until - from <= 120 ? 60 : 40;
}

function axisTime(seconds: number): string {
  const time = timeOfDay(seconds * 1000);
  return time.endsWith(":00") ? time.slice(0, 5) : time;
}

/** A colour of the page's as a canvas takes it. */
function resolveColor(variable: string): string {
  const probe = el("span");
  probe.style.color = `var(${variable})`;
  document.body.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}
