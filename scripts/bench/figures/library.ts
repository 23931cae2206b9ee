/**
 * The library within a program, against `fetch`, the `openai` package and Vercel's `ai`.
 * @module
 */
import { fileURLToPath } from "node:url";
import type { Bench, Figure } from "../kit/bench.ts";
import { installed, ownPackage, temporaryFolder } from "../kit/packages.ts";
import { output } from "../kit/process.ts";
import { nodePath, programPath, root } from "../kit/runtimes.ts";
import { median, orderParticipants, summarizePairs, type Summary } from "../kit/statistics.ts";
import { formatNumber, formatTable } from "../kit/table.ts";

const kinds = ["fetch", "modelmesh", "openai", "ai"] as const;
type Kind = typeof kinds[number];

/** CPU time per call, µs; one sample per round. */
type Samples = ReadonlyMap<Kind, number[]>;

/** Writes the program and installs the packages it imports, for both runtimes. */
async function prepare(): Promise<string> {
  const clients = await installed("clients");
  const folder = `${await temporaryFolder()}/library`;
  await Deno.mkdir(folder);
  await Deno.copyFile(`${clients}/package.json`, `${folder}/package.json`);
  await Deno.symlink(`${clients}/node_modules`, `${folder}/node_modules`);
  await Deno.copyFile(programPath("library.js"), `${folder}/library.mjs`);
  return `${folder}/library.mjs`;
}

/** Returns the command of each runtime, and the library's path for it. */
async function runtimes(script: string): Promise<Map<string, { command: string[]; library: string }>> {
  const deno = [Deno.execPath(), "run", "-A", "--no-lock", "--node-modules-dir=manual", script];
  const found = new Map([["Deno", { command: deno, library: `file://${root}mod.ts` }]]);
  try {
    const mod = new URL(`file://${(await ownPackage()).replace(/[^/]*$/, "dist/mod.js")}`);
    found.set("Node 24", { command: [await nodePath("24"), script], library: mod.href });
  } catch {
    // the contestants on Node report why
  }
  return found;
}

async function measure(bench: Bench, command: readonly string[], library: string): Promise<Samples> {
  const samples = new Map<Kind, number[]>(kinds.map((kind) => [kind, []]));
  for (let round = 0; round < bench.options.rounds; round++) {
    for (const kind of orderParticipants(kinds, round)) {
      const settings = JSON.stringify({ kind, library, url: bench.upstream.url(false), warm: 1500, calls: 3000 });
      const folder = fileURLToPath(new URL(".", `file://${command.at(-1)}`));
      const own = samples.get(kind)!;
      if (own.length < round) continue; // it has failed before
      try {
        const text = await output({ command: [...command, settings], core: "gateway", folder });
        own.push((JSON.parse(text.trim().split("\n").at(-1)!) as { cpuMicros: number }).cpuMicros);
      } catch (error) {
        bench.problem(`library, ${kind}: ${(error as Error).message}`);
      }
    }
  }
  return samples;
}

function added(samples: Samples, kind: Kind): Summary {
  return summarizePairs(samples.get(kind)!, samples.get("fetch")!, (a, b) => a - b);
}

/** CPU time added per call. */
export const library: Figure = {
  name: "library",
  title: "the library in a program: CPU added to a call",
  async run(bench) {
    const lines: string[][] = [];
    await bench.upstream.set({});
    for (const [runtime, { command, library }] of await runtimes(await prepare())) {
      bench.say(`  ${runtime}`);
      const samples = await measure(bench, command, library);
      bench.raw[`library ${runtime}`] = Object.fromEntries(samples);
      for (const [kind, own] of samples) {
        lines.push([runtime, kind, formatNumber(median(own)), formatNumber(added(samples, kind).measured)]);
      }
      const isDeno = runtime === "Deno";
      const [ours, openai] = [added(samples, "modelmesh"), added(samples, "openai")];
      const figure = `library, CPU added a call over bare fetch: ${runtime}`;
      bench.rows.push({ figure, ...ours, unit: "µs", better: "less", ...(isDeno ? { must: 40, aim: 25 } : {}) });
      if (!isDeno) continue;
      bench.rows.push({
        figure: "library, CPU added a call, less what the openai package adds",
        measured: ours.measured - openai.measured,
        unit: "µs",
        better: "less",
        must: 0,
      });
    }
    const head = ["runtime", "client", "CPU a call, µs", "added, µs"];
    bench.tables.push(`Library, one call after the other\n${formatTable(head, lines)}`);
  },
};
