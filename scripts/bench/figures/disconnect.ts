/**
 * Time from a client's disconnect to the end of the upstream's call.
 * @module
 */
import type { Bench, Figure, Side } from "../kit/bench.ts";
import { load } from "../kit/load.ts";
import { median } from "../kit/statistics.ts";
import { formatNumber, formatTable } from "../kit/table.ts";
import type { UpstreamMode } from "../kit/upstream.ts";

const tries = 10;
const afterMs = 100;
const waitMs = 150;

/** When the client disconnects. */
const scenes: readonly { title: string; isStream: boolean; mode: UpstreamMode }[] = [
  { title: "in a stream", isStream: true, mode: { events: 10_000, paceMs: 20 } },
  { title: "before the answer", isStream: false, mode: { delayMs: 20_000 } },
];

/** Returns the times until the upstream's connection was closed, ms; Infinity for each that was not. */
async function leave(
  bench: Bench,
  side: Side,
  { isStream, mode }: { readonly isStream: boolean; readonly mode: UpstreamMode },
): Promise<number[]> {
  await bench.upstream.set(mode);
  const leaving = { mode: "leave", tries, afterMs, waitMs } as const;
  const target = side.target({ isStream });
  const { left, failed } = await load<{ left: number[]; failed: number }>(target, leaving, side.isSecure);
  if (failed > 0) bench.problem(`${side.contestant.name}: ${failed} answers ended before the client left`);
  const seen = await bench.upstream.seen();
  return left.map((at, index) => {
    const next = left[index + 1] ?? Infinity;
    const closed = seen.left.find((time) => time >= at && time < next + afterMs);
    return closed === undefined ? Infinity : closed - at;
  });
}

/** Both scenes, for all contestants. */
export const disconnect: Figure = {
  name: "disconnect",
  title: "upstream closed after the client left",
  isQuick: true,
  async run(bench) {
    const lines: string[][] = [];
    for (const { title, isStream, mode } of scenes) {
      for (const name of ["pass", "deno", "deno-node", "node20", "node24", "portkey24", "litellm"]) {
        const [side] = await bench.sides([name]);
        if (side === undefined || isStream && !side.isStreaming) continue;
        const times = await leave(bench, side, { isStream, mode });
        const lost = times.filter((time) => !Number.isFinite(time)).length;
        const most = Math.max(...times);
        const note = lost === 0 ? "" : `${lost} of ${tries} were not closed within ${afterMs + waitMs} ms`;
        lines.push([title, name, formatNumber(median(times)), formatNumber(most), note]);
        bench.raw[`disconnect ${title} ${name}`] = times;
        if (!name.startsWith("deno") && !name.startsWith("node")) continue;
        const figure = `upstream closed after the client left ${title}, slowest of ${tries}: ${name}`;
        bench.rows.push({ figure, measured: most, unit: "ms", must: 100, aim: 50, better: "less", note });
      }
    }
    const head = ["client leaves", "contestant", "median, ms", "slowest, ms", "note"];
    bench.tables.push(`Upstream closed after the client left\n${formatTable(head, lines)}`);
  },
};
