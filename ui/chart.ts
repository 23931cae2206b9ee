/**
 * One chart over time. Its header names the lines and their values over the whole window; the values at one time are
 * shown in a tooltip.
 * @module
 */
import { el, setText } from "./dom.ts";
import { none, timeOfDay } from "./format.ts";
import { Plot, type PlotData, type PlotLine } from "./plot.ts";

/** One line of a chart. */
export interface Line extends PlotLine {
  readonly name: string;
  /** Its value over the whole window, for the header; without it the header does not name the line. */
  readonly figure?: string;
}

/** What a chart shows. */
export interface ChartData extends PlotData {
  readonly title: string;
  /** The value of the first line over the whole window. */
  readonly figure: string;
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
  readonly #plot: Plot;
  readonly #plotHost = el("div", { role: "img" });
  readonly #empty = el("p", { class: "nothing muted", "aria-hidden": "true" });
  readonly #tip = el("div", { class: "tip", hidden: true, "aria-hidden": "true" });
  #data: ChartData | undefined;
  /** The time under the pointer, by its index; -1 for none. */
  #pointed = -1;

  /** @param onPoint Called with the index of the time under the pointer, -1 when it leaves. */
  constructor(options: ChartOptions, onPoint: (index: number) => void) {
    const { format, formatAxis = format, minTop } = this.#options = options;
    this.#plot = new Plot({ formatAxis, minTop });
    this.#plotHost.append(this.#plot.element);
    setText(this.#empty, options.empty);
    const header = el("h3", {}, this.#title, this.#keys);
    this.element = el("div", { class: "chart card" }, header, this.#plotHost, this.#empty, this.#tip);
    const point = (index: number) => {
      this.#pointed = index;
      this.#showTip();
      onPoint(index);
    };
    this.#plotHost.addEventListener("pointermove", ({ clientX }) => {
      point(this.#plot.findIndex(clientX - this.#plotHost.getBoundingClientRect().left));
    });
    this.#plotHost.addEventListener("pointerleave", () => point(-1));
    new ResizeObserver(() => this.#data && this.#plot.draw(this.#data)).observe(this.#plotHost);
  }

  /** Draws. */
  set(data: ChartData): void {
    this.#data = data;
    this.#drawHeader(data);
    this.#empty.hidden = data.lines.some(({ values }) => values.some((value) => value !== null));
    this.#plot.draw(data);
    this.#showTip();
  }

  /** Marks a time, by its index; -1 removes the mark. */
  mark(index: number): void {
    this.#plot.mark(index);
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

  #showTip(): void {
    const [data, index] = [this.#data, this.#pointed];
    this.#tip.hidden = data?.times[index] === undefined;
    if (data === undefined || this.#tip.hidden) return;
    const rows = data.lines.map(({ name, color, values, isDashed }) => {
      const value = values[index] ?? null;
      const key = el(
        "span",
        { class: "key", "data-line": isDashed ? "dashed" : "solid" },
        el("span", {}, el("bdi", {}, name)),
      );
      key.style.setProperty("--key", `var(--c${color})`);
      return el("div", {}, key, el("b", {}, value === null ? none : this.#options.format(value)));
    });
    this.#tip.replaceChildren(timeOfDay(data.times[index]! * 1000), ...rows);
    const isRight = index > data.times.length / 2;
    this.#tip.style.left = isRight ? "56px" : "auto";
    this.#tip.style.right = isRight ? "auto" : "12px";
  }
}
