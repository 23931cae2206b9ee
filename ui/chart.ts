/**
 * One chart over time: its latest value beside the title, the values under the pointer in a tip.
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
  readonly isFilled?: boolean;
  readonly isDashed?: boolean;
}

/** What a chart shows. */
export interface ChartData {
  /** s since 1970. */
  readonly times: readonly number[];
  readonly lines: readonly Line[];
  /** Beside the title. */
  readonly figure: string;
}

/** How a chart is made. */
interface ChartOptions {
  readonly title: string;
  readonly format: (value: number) => string;
  /** The same for its axis. @default format */
  readonly formatAxis?: ((value: number) => string) | undefined;
  /** The greatest value that its axis reaches at least. */
  readonly minTop: number;
}

/** A chart of the page. */
export class Chart {
  readonly element: HTMLElement;
  readonly #options: ChartOptions;
  readonly #figure = el("b");
  readonly #plotHost = el("div", { class: "plot", role: "img" });
  readonly #tip = el("div", { class: "tip", hidden: true, "aria-hidden": "true" });
  #plot: uPlot | undefined;
  #data: ChartData | undefined;
  #shape = "";
  #isHovered = false;

  constructor(options: ChartOptions) {
    this.#options = options;
    const title = el("h3", {}, el("span", {}, options.title), this.#figure);
    this.element = el("div", { class: "chart card" }, title, this.#plotHost, this.#tip);
    this.element.addEventListener("pointerenter", () => this.#isHovered = true);
    this.element.addEventListener("pointerleave", () => this.#isHovered = false);
    new ResizeObserver(() => this.#plot?.setSize({ width: this.#plotHost.clientWidth, height })).observe(
      this.#plotHost,
    );
  }

  /** Draws. */
  set(data: ChartData): void {
    this.#data = data;
    setText(this.#figure, data.figure);
    this.#plotHost.setAttribute("aria-label", `${this.#options.title}: ${data.figure}`);
    const shape = data.lines.map(({ color, isFilled, isDashed }) => `${color}${isFilled}${isDashed}`).join();
    const columns = [data.times, ...data.lines.map(({ values }) => values)] as unknown as uPlot.AlignedData;
    if (this.#plot !== undefined && shape === this.#shape) return this.#plot.setData(columns);
    this.#shape = shape;
    this.#plot?.destroy();
    this.#plot = new uPlot(this.#uplotOptions(data), columns, this.#plotHost);
  }

  /** Draws anew in the page's present colours. */
  recolor(): void {
    this.#shape = "";
    if (this.#data !== undefined) this.set(this.#data);
  }

  #uplotOptions({ lines }: ChartData): uPlot.Options {
    const { format, formatAxis = format, minTop } = this.#options;
    const [muted, grid] = [colorOf("--muted"), colorOf("--line")];
    const axis: uPlot.Axis = {
      stroke: muted,
      grid: { stroke: grid, width: 1 },
      ticks: { show: false },
      font: "11px system-ui, sans-serif",
    };
    return {
      width: Math.max(this.#plotHost.clientWidth, 60),
      height,
      padding: [8, 6, 0, 0],
      legend: { show: false },
      cursor: { y: false, drag: { x: false, y: false }, sync: { key: "modelmesh" }, points: { size: 6 } },
      scales: { y: { range: (_plot, _low, high) => [0, Math.max(minTop, (high ?? 0) * 1.1)] } },
      axes: [
        { ...axis, size: 22, space: 52, grid: { show: false }, values: (_plot, times) => times.map(axisTime) },
        { ...axis, size: 48, space: 34, gap: 4, values: (_plot, values) => values.map(formatAxis) },
      ],
      series: [{}, ...lines.map((line) => seriesOf(line))],
      hooks: { setCursor: [(plot) => this.#showTip(plot)] },
    };
  }

  #showTip(plot: uPlot): void {
    const { idx, left = -1 } = plot.cursor;
    const data = this.#data;
    this.#tip.hidden = !this.#isHovered || idx === null || idx === undefined || left < 0;
    if (this.#tip.hidden || data === undefined) return;
    const rows = data.lines.map(({ name, color, values }) => {
      const value = values[idx!] ?? null;
      const key = el("span", { class: "key" }, name);
      key.style.setProperty("--key", `var(--c${color})`);
      return el("div", {}, key, el("b", {}, value === null ? none : this.#options.format(value)));
    });
    this.#tip.replaceChildren(timeOfDay(data.times[idx!]! * 1000), ...rows);
    const isRight = left > plot.over.clientWidth / 2;
    this.#tip.style.left = isRight ? "56px" : "auto";
    this.#tip.style.right = isRight ? "auto" : "12px";
  }
}

function seriesOf({ color, isFilled, isDashed }: Line): uPlot.Series {
  const stroke = colorOf(`--c${color}`);
  return {
    stroke,
    width: 1.6,
    spanGaps: true,
    points: { size: 4, width: 0, fill: stroke, show: showsPoint },
    ...(isFilled ? { fill: stroke.replace(/^rgb\((.*)\)$/, "rgba($1, 0.13)") } : {}),
    ...(isDashed ? { dash: [4, 4] } : {}),
  };
}

/** A value without neighbours would have no line. */
function showsPoint(plot: uPlot, series: number): boolean {
  const values: ArrayLike<number | null | undefined> = plot.data[series]!;
  return Array.from(values).filter((value) => value !== null).length < 4;
}

function axisTime(seconds: number): string {
  const time = timeOfDay(seconds * 1000);
  return time.endsWith(":00") ? time.slice(0, 5) : time;
}

/** A colour of the page's as a canvas takes it. */
function colorOf(variable: string): string {
  const probe = el("span");
  probe.style.color = `var(${variable})`;
  document.body.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}
