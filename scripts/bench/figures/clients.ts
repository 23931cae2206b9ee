/**
 * The upstream client: ours over the runtime's sockets, compared with `fetch`.
 * @module
 */
import type { Figure } from "../kit/bench.ts";
import { output } from "../kit/process.ts";
import { denoCommand, nodePath, programPath } from "../kit/runtimes.ts";
import { median, summarizePairs } from "../kit/statistics.ts";
import { formatNumber, formatTable } from "../kit/table.ts";

const connections = 16;
const roundMs = 700;

/** CPU time of a call, µs, by round. */
interface Samples {
  readonly own: number[];
  readonly fetch: number[];
}

const goals = { must: 1.5 };

/** CPU time of calls, without a gateway around them. */
export const clients: Figure = {
  name: "clients",
  title: "the upstream client: fetch over ours, CPU a call",
  async run(bench) {
    const { upstream, options: { rounds } } = bench;
    const program = programPath("clients.ts");
    const commands = [["Deno", denoCommand(program)], ["Node 24", [await nodePath("24"), program]]] as const;
    const lines: string[][] = [];
    await upstream.set({});
    for (const [runtime, command] of commands) {
      for (const isSecure of [false, true]) {
        for (const isStream of [false, true]) {
          const what = `${isStream ? "streams of 50 events" : "whole responses"}${isSecure ? ", TLS" : ""}`;
          bench.say(`  ${runtime}, ${what}`);
          const settings = JSON.stringify({ url: upstream.url(isSecure), isStream, connections, rounds, roundMs });
          const env = isSecure ? trusting(upstream.certificate) : {};
          const text = await output({ command: [...command, settings], core: "gateway", env });
          const samples = JSON.parse(text.trim().split("\n").at(-1)!) as Samples;
          bench.raw[`clients ${runtime} ${what}`] = samples;
          const { own, fetch } = samples;
          lines.push([runtime, what, ...[own, fetch].map((micros) => formatNumber(median(micros)))]);
          const figure = `fetch over our client, CPU a call: ${runtime}, ${what}`;
          bench.rows.push({ figure, ...summarizePairs(fetch, own, (a, b) => a / b), better: "less", ...goals });
        }
      }
    }
    bench.tables.push(`Upstream clients\n${formatTable(["runtime", "calls", "ours, µs", "fetch, µs"], lines)}`);
  },
};

function trusting(certificate: string): Record<string, string> {
  return { DENO_CERT: certificate, NODE_EXTRA_CA_CERTS: certificate };
}
