/**
 * Side-by-side benchmark: `deno task bench`; see docs/performance.md.
 * @module
 */
import { all, names } from "./contestants/all.ts";
import { figures } from "./figures/all.ts";
import { Bench, type Figure } from "./kit/bench.ts";
import { hasWrk } from "./kit/load.ts";
import { describeMachine } from "./kit/machine.ts";
import { help, type Options, readOptions } from "./kit/options.ts";
import { removeTemporary, temporaryFolder, usedVersions } from "./kit/packages.ts";
import { isPinning, killAll, pinSelf } from "./kit/process.ts";
import { scriptRuntime, usedNodes } from "./kit/runtimes.ts";
import { formatRows, judgeFigure } from "./kit/table.ts";
import { startUpstream } from "./kit/upstream.ts";

async function cleanUp(): Promise<void> {
  await killAll();
  await removeTemporary();
}

/** Cleans up when this program receives a signal. */
function cleanUpOnSignals(): void {
  for (const [signal, code] of [["SIGINT", 130], ["SIGTERM", 143], ["SIGHUP", 129]] as const) {
    Deno.addSignalListener(signal, () => {
      cleanUp().catch(console.error).finally(() => Deno.exit(code));
    });
  }
}

function checkNames(names: readonly string[], allowed: readonly string[]): void {
  const unknown = names.filter((name) => !allowed.includes(name));
  if (unknown.length > 0) throw new TypeError(`Unknown: ${unknown.join(", ")}; there are ${allowed.join(", ")}`);
}

async function circumstances(): Promise<string[]> {
  const pinning = await isPinning()
    ? "gateway pinned to core 0, load and upstream to core 1"
    : "NOT PINNED: no taskset or one core only, so that these numbers say little";
  const load = await hasWrk() ? "wrk, and a driver of ours where it cannot tell" : "a driver of ours: wrk is not there";
  return [
    `${new Date().toISOString().slice(0, 10)}: deno task bench ${Deno.args.join(" ")}`.trimEnd(),
    await describeMachine(),
    `Deno ${Deno.version.deno}, V8 ${Deno.version.v8}`,
    pinning,
    `load: ${load}; upstream: bare sockets on ${await scriptRuntime()}`,
  ];
}

async function measure(options: Options): Promise<Bench> {
  const folder = await temporaryFolder();
  const bench = new Bench(options, await startUpstream(folder), folder);
  const isChosen = ({ name, isQuick = false }: Figure) =>
    options.only.length > 0 ? options.only.includes(name) : isQuick || !options.isQuick;
  const chosen = figures.filter(isChosen);
  const from = performance.now();
  for (const figure of chosen) {
    bench.say(`[${Math.round((performance.now() - from) / 1000)} s] ${figure.name}: ${figure.title}`);
    try {
      await bench.run(figure);
    } catch (error) {
      bench.problem(`${figure.name} was not measured: ${(error as Error).message}`);
      bench.rows.push({ figure: figure.title, measured: undefined, better: "less" });
    }
  }
  return bench;
}

function print(bench: Bench, about: readonly string[]): void {
  const { rows, tables, problems, raw, options } = bench;
  const [usual, most] = [0.5, 1].map((share) => Math.round(bench.disturbance.share(share) * 100));
  const noise = Number.isNaN(usual)
    ? []
    : [`other programs used ${usual} % of the gateway's core in the median measurement, and ${most} % in the worst`];
  const write = options.isJson ? console.error : console.log;
  write(`\n${[[...about, ...noise].join("\n"), ...tables, formatRows(rows)].join("\n\n")}`);
  if (problems.size > 0) write(`\nWhat did not work:\n${[...problems].map((line) => `- ${line}`).join("\n")}`);
  if (!options.isJson) return;
  const judged = rows.map((row) => ({ ...row, verdict: judgeFigure(row) }));
  const date = new Date().toISOString();
  console.log(
    JSON.stringify({ date, about: [...about, ...noise], options, rows: judged, raw, problems: [...problems] }, null, 2),
  );
}

async function main(args: readonly string[]): Promise<number> {
  const options = readOptions(args);
  if (options === undefined) {
    const list = figures.map(({ name, title, isQuick }) => `  ${name.padEnd(12)}${title}${isQuick ? " (quick)" : ""}`)
      .join("\n");
    const contestantList = all.map(({ name, title }) => `  ${name.padEnd(12)}${title}`).join("\n");
    console.log(`${help}\nFigures:\n${list}\n\nContestants:\n${contestantList}`);
    return 0;
  }
  checkNames(options.only, figures.map(({ name }) => name));
  checkNames(options.contestants, names);
  cleanUpOnSignals();
  try {
    await pinSelf();
    const about = await circumstances();
    for (const line of about) console.error(line);
    const bench = await measure(options);
    const versions = [...await usedNodes(), ...await usedVersions()];
    print(bench, versions.length === 0 ? about : [...about, versions.join(", ")]);
    return 0;
  } finally {
    await cleanUp();
  }
}

if (import.meta.main) {
  try {
    Deno.exit(await main(Deno.args));
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    console.error(error.message);
    Deno.exit(2);
  }
}
