/**
 * The spans of time whose records the page has: none from before the oldest record that the proxy had kept, none while
 * the proxy was out of reach. A rate is over the covered time only.
 * @module
 */

/** Spans that end earlier than this before the latest one are forgotten, ms. */
const maxAgeMs = 3_600_000;

interface Span {
  readonly from: number;
  /** Infinity while it lasts. */
  until: number;
}

/** Which time is covered; times are ms since 1970. */
export class Coverage {
  #spans: Span[] = [];

  /** Covers the time from `at` on; a gap before it remains one. */
  begin(at: number): void {
    this.end(at);
    const before = this.#spans.at(-1)?.until ?? -Infinity;
    this.#spans = this.#spans.filter(({ until }) => until > at - maxAgeMs);
    this.#spans.push({ from: Math.max(at, before), until: Infinity });
  }

  /** Goes on with the span that ended last, as if it had not ended. */
  resume(): void {
    const last = this.#spans.at(-1);
    if (last !== undefined) last.until = Infinity;
  }

  /** Ends the span that lasts. */
  end(at: number): void {
    const last = this.#spans.at(-1);
    if (last !== undefined && last.until > at) last.until = Math.max(at, last.from);
  }

  /** How much of the time between two points is covered, s. */
  seconds(from: number, until: number): number {
    const overlaps = this.#spans.map((span) => Math.min(span.until, until) - Math.max(span.from, from));
    return overlaps.reduce((sum, ms) => sum + Math.max(0, ms), 0) / 1000;
  }
}
