/**
 * Scales of a chart: from values and times to px, and back to what its axes name.
 * @module
 */

/** A position in a drawing, px. */
export type Point = readonly [x: number, y: number];

/** Steps between labels of times, s. */
const timeSteps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600] as const;

/** Maps `from` to `first` px and `until` to `last` px; everything to `first` if both are equal. */
export function createScale(
  [from, until]: readonly [number, number],
  [first, last]: readonly [number, number],
): (value: number) => number {
  const factor = until === from ? 0 : (last - first) / (until - from);
  return (value) => first + (value - from) * factor;
}

/** Returns the values that an axis from 0 names, at least `space` px apart: multiples of 1, 2 or 5 times a power of ten. */
export function toValueTicks(top: number, { length, space }: { length: number; space: number }): number[] {
  const least = top * space / length;
  const power = 10 ** Math.floor(Math.log10(least));
  const step = power * [1, 2, 5, 10].find((factor) => factor * power >= least * (1 - 1e-9))!;
  return Array.from({ length: Math.floor(top / step) + 1 }, (_, index) => index * step);
}

/** Returns the times, s since 1970, that an axis of so many px names; labels with seconds need more space. */
export function toTimeTicks([from, until]: readonly [number, number], length: number): number[] {
  if (until <= from) return [];
  const perSecond = length / (until - from);
  const step = timeSteps.find((step) => step * perSecond >= (step % 60 === 0 ? 40 : 60)) ?? 3600;
  const first = Math.ceil(from / step);
  return Array.from({ length: Math.floor(until / step) - first + 1 }, (_, index) => (first + index) * step);
}

/** Splits points into runs, where two that follow each other are more than `gap` px apart. */
export function toRuns(points: readonly (Point | null)[], gap: number): readonly Point[][] {
  const runs: Point[][] = [];
  let last = -Infinity;
  for (const point of points) {
    if (point === null) continue;
    if (point[0] - last > gap) runs.push([]);
    runs.at(-1)!.push(point);
    last = point[0];
  }
  return runs;
}

/** Returns the points without neighbours, which no line would show. */
export function toLonelyPoints(points: readonly (Point | null)[]): Point[] {
  const has = (index: number) => (points[index] ?? null) !== null;
  return points.filter((point, index): point is Point => point !== null && !has(index - 1) && !has(index + 1));
}
