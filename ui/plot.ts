/**
 * Lines over time as SVG, with axes and a mark at one time. Colours come from the style sheet, so that a change of the
 * scheme needs no drawing.
 * @module
 */
import { timeOfDay } from "./format.ts";
import { createScale, type Point, toLonelyPoints, toRuns, toTimeTicks, toValueTicks } from "./scale.ts";

/** Space of the drawing and its margins, CSS px; the left one has room for the longest label. */
const height = 132;
const [top, right, bottom] = [8, 16, 22];

/** One line. */
export interface PlotLine {
  /** Which of the page's colours of series. */
  readonly color: number;
  readonly values: readonly (number | null)[];
  readonly isFilled?: boolean;
  readonly isDashed?: boolean;
}

/** What is drawn. */
export interface PlotData {
  /** s since 1970. */
  readonly times: readonly number[];
  readonly lines: readonly PlotLine[];
}

/** How values are drawn. */
export interface PlotOptions {
  readonly formatAxis: (value: number) => string;
  /** The axis reaches at least this value. */
  readonly minTop: number;
}

/** A drawing. Its width is that of its parent. */
export class Plot {
  readonly element: SVGSVGElement = svg("svg", { class: "plot", height: `${height}` });
  readonly #options: PlotOptions;
  readonly #mark = svg("g");
  /** The positions of each line. */
  #points: readonly (readonly (Point | null)[])[] = [];
  #xs: readonly number[] = [];
  #colors: readonly number[] = [];
  #marked = -1;

  constructor(options: PlotOptions) {
    this.#options = options;
  }

  /** Replaces what is drawn. */
  draw({ times, lines }: PlotData): void {
    const { formatAxis, minTop } = this.#options;
    const highest = Math.max(0, ...lines.flatMap(({ values }) => values.map((value) => value ?? 0)));
    const maximum = Math.max(minTop, highest * 1.1);
    const ticks = toValueTicks(maximum, { length: height - top - bottom, space: 34 });
    const labels = ticks.map(formatAxis);
    const left = Math.max(40, ...labels.map((label) => 12 + 6 * label.length));
    const end = Math.max(left + 20, this.element.clientWidth - right);
    const span = [times[0] ?? 0, times.at(-1) ?? 0] as const;
    const [toX, toY] = [createScale(span, [left, end]), createScale([0, maximum], [height - bottom, top])];
    this.#xs = times.map(toX);
    this.#colors = lines.map(({ color }) => color);
    this.#points = lines.map(({ values }) =>
      values.map((value, index) => value === null ? null : [this.#xs[index]!, toY(value)])
    );
    this.element.replaceChildren(
      ...ticks.flatMap((tick, index) => drawValue(labels[index]!, { y: toY(tick), left, end })),
      ...toTimeTicks(span, end - left).map((time) =>
        text(axisTime(time), { x: toX(time), y: height - 6, at: "middle" })
      ),
      ...lines.flatMap((line, index) => drawLine(line, { points: this.#points[index]!, gap: (end - left) / 8 })),
      this.#mark,
    );
    this.mark(this.#marked);
  }

  /** Returns the index of the time at a position, CSS px from the left edge; -1 without times. */
  findIndex(x: number): number {
    return this.#xs.reduce(
      (best, other, index) => Math.abs(other - x) < Math.abs(this.#xs[best]! - x) ? index : best,
      this.#xs.length === 0 ? -1 : 0,
    );
  }

  /** Marks the values at a time, by its index; -1 removes the mark. */
  mark(index: number): void {
    this.#marked = index;
    const x = this.#xs[index];
    if (x === undefined) return this.#mark.replaceChildren();
    const values = this.#points.map((points) => points[index] ?? null);
    this.#mark.replaceChildren(
      svg("path", { class: "cursor", d: `M${x} ${top}V${height - bottom}` }),
      ...values.flatMap((point, line) => point === null ? [] : [dot(point, { color: this.#colors[line]!, radius: 3 })]),
    );
  }
}

function drawLine(
  { color, isFilled, isDashed }: PlotLine,
  { points, gap }: { readonly points: readonly (Point | null)[]; readonly gap: number },
): SVGElement[] {
  const runs = toRuns(points, gap);
  const paths = runs.map((run) => `M${run.map((point) => point.map((px) => px.toFixed(1)).join(" ")).join("L")}`);
  const areas = paths.map((path, index) => `${path}V${height - bottom}H${runs[index]![0]![0].toFixed(1)}Z`);
  return [
    ...(isFilled ? [colored(svg("path", { class: "area", d: areas.join("") }), color)] : []),
    colored(svg("path", { class: isDashed ? "line dashed" : "line", d: paths.join("") }), color),
    ...toLonelyPoints(points).map((point) => dot(point, { color, radius: 2 })),
  ];
}

function drawValue(label: string, { y, left, end }: Record<"y" | "left" | "end", number>): SVGElement[] {
  return [
    svg("path", { class: "grid", d: `M${left} ${Math.round(y) + 0.5}H${end}` }),
    text(label, { x: left - 8, y: y + 4, at: "end" }),
  ];
}

function dot([x, y]: Point, { color, radius }: { readonly color: number; readonly radius: number }): SVGElement {
  return colored(svg("circle", { cx: `${x}`, cy: `${y}`, r: `${radius}` }), color);
}

function text(
  content: string,
  { x, y, at }: { readonly x: number; readonly y: number; readonly at: string },
): SVGElement {
  const element = svg("text", { x: `${x}`, y: `${y}`, "text-anchor": at });
  element.append(content);
  return element;
}

/** Sets a colour through CSSOM: the page's policy forbids style attributes. */
function colored(element: SVGElement, color: number): SVGElement {
  element.style.setProperty("--key", `var(--c${color})`);
  return element;
}

function svg<Tag extends keyof SVGElementTagNameMap>(
  tag: Tag,
  attributes: Readonly<Record<string, string>> = {},
): SVGElementTagNameMap[Tag] {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}

function axisTime(seconds: number): string {
  const time = timeOfDay(seconds * 1000);
  return time.endsWith(":00") ? time.slice(0, 5) : time;
}
