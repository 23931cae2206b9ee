/**
 * Cost of selecting a model, from `selection_bench.ts`.
 * @module
 */
import type { Figure } from "../kit/bench.ts";
import { output } from "../kit/process.ts";
import { root } from "../kit/runtimes.ts";

/** The members of a `deno bench` report that are used. */
interface Report {
  readonly benches: readonly {
    readonly name: string;
    readonly group: string;
    readonly results: readonly { readonly ok?: { readonly avg: number } }[];
  }[];
}

const benchMs = 180_000;

/** The slowest strategy over ten models. */
export const routing: Figure = {
  name: "routing",
  title: "choosing among 10 models, the dearest strategy",
  async run(bench) {
    const path = `${root}scripts/bench/selection_bench.ts`;
    const text = await output({ command: [Deno.execPath(), "bench", "-A", "--no-npm", "--json", path] }, benchMs);
    const micros = (JSON.parse(text) as Report).benches
      .filter(({ group }) => group.startsWith("10 models"))
      .map(({ name, group, results }) => ({ name, group, value: (results[0]?.ok?.avg ?? NaN) / 1000 }))
      .sort((a, b) => b.value - a.value);
    bench.raw.routing = micros;
    const slowest = micros[0];
    const figure = "choosing a model, 10 models, the dearest strategy";
    const note = slowest && `${slowest.name}, ${slowest.group.replace("10 models, ", "")}`;
    bench.rows.push({ figure, measured: slowest?.value, unit: "µs", must: 5, aim: 2, better: "less", note });
  },
};
