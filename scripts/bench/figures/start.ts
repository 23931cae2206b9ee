/**
 * Startup time, shutdown time, and import time of the library.
 * @module
 */
import type { Bench, Figure } from "../kit/bench.ts";
import { denoPass, nodePass } from "../contestants/bare.ts";
import { ownDeno, ownNode } from "../contestants/ours.ts";
import { type Contestant, createTarget, type Target } from "../kit/contestant.ts";
import { temporaryFolder } from "../kit/packages.ts";
import { freePort, output, type Running, startProgram, untilListening, untilRefusing } from "../kit/process.ts";
import { denoCommand, programPath, root } from "../kit/runtimes.ts";
import { orderParticipants, summarize, summarizePairs } from "../kit/statistics.ts";

const tries = 9;
const startMs = 20_000;

/** The project's proxy, with a configuration file. */
const proxies: readonly Contestant[] = [ownDeno, ownNode("20"), ownNode("24")];

/** Contestants whose startup is measured. */
const starters: readonly Contestant[] = [
  denoPass,
  ownDeno,
  nodePass("20"),
  ownNode("20"),
  nodePass("24"),
  ownNode("24"),
];

/** A started contestant. */
interface Started {
  readonly program: Running;
  readonly target: Target;
  /** Start time of its process, monotonic ms. */
  readonly from: number;
}

async function startOne(bench: Bench, contestant: Contestant): Promise<Started> {
  const folder = await Deno.makeTempDir({ dir: await temporaryFolder() });
  const stage = { port: freePort(), upstream: bench.upstream.url(false), folder };
  const how = await contestant.start(stage);
  const from = performance.now();
  const program = await startProgram({ ...how, core: "gateway", folder, log: `${folder}/log` });
  return { program, target: createTarget(contestant, stage), from };
}

/** Measures the time from the start of the process to the end of its first response, ms. */
async function startOnce(bench: Bench, contestant: Contestant): Promise<number> {
  const { program, target, from } = await startOne(bench, contestant);
  try {
    await untilResponding(program, target);
    return performance.now() - from;
  } finally {
    await program.kill();
  }
}

/** Starts a contestant and stops it with SIGTERM, so that it writes its caches for later starts. */
async function startFirst(bench: Bench, contestant: Contestant): Promise<void> {
  const { program, target } = await startOne(bench, contestant);
  try {
    await untilResponding(program, target);
    program.child.kill("SIGTERM");
    await program.ended;
  } finally {
    await program.kill();
  }
}

async function untilResponding(program: Running, target: Target): Promise<void> {
  const until = performance.now() + startMs;
  let hasEnded = false;
  const end = () => void (hasEnded = true);
  program.ended.then(end, end);
  while (!await isResponding(target)) {
    if (hasEnded) throw new Error("it ended instead of answering");
    if (performance.now() > until) throw new Error(`it did not respond within ${startMs / 1000} s`);
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

/** Sends a request; returns false while connections are refused. */
async function isResponding({ port, path, headers, body }: Target): Promise<boolean> {
  let response: Response;
  try {
    response = await fetch(`http://127.0.0.1:${port}${path}`, {
      method: "POST",
      headers: { ...headers, connection: "close" },
      body,
    });
  } catch {
    return false;
  }
  const text = await response.text();
  if (response.ok) return true;
  throw new Error(`it answered ${response.status}: ${text.slice(0, 200)}`);
}

/** Startup times by contestant, ms, one per round. */
type Times = ReadonlyMap<string, number[]>;

async function startAll(bench: Bench): Promise<Times> {
  const { contestants } = bench.options;
  const times = new Map<string, number[]>();
  const sides: Contestant[] = [];
  for (const starter of starters.filter(({ name }) => contestants.length === 0 || contestants.includes(name))) {
    try {
      await startFirst(bench, starter);
      sides.push(starter);
      times.set(starter.name, []);
    } catch (error) {
      bench.problem(`start, ${starter.title}: ${(error as Error).message}`);
    }
  }
  for (let round = 0; round < tries; round++) {
    for (const participant of orderParticipants(sides, round)) {
      times.get(participant.name)!.push(await startOnce(bench, participant));
    }
  }
  return times;
}

/** Time to the first response. */
export const start: Figure = {
  name: "start",
  title: "modelmesh proxy --config, from start to first answer",
  isQuick: true,
  async run(bench) {
    const times = await startAll(bench);
    for (const { name, title } of starters.filter(({ name }) => times.has(name))) {
      bench.raw[`start ${name}`] = times.get(name);
      const figure = `start to first answer: ${title}`;
      bench.rows.push({ figure, ...summarize(times.get(name)!), unit: "ms", better: "less" });
    }
    const over = (name: string, bare: string) =>
      summarizePairs(times.get(name) ?? [], times.get(bare) ?? [], (own, other) => own / other);
    for (const { name, title, bare } of proxies.filter(({ name }) => times.has(name))) {
      const targets = name === "node20" ? {} : { must: name === "node24" ? 2.6 : 3, aim: 2 };
      const figure = `start to first answer over the bare pass-through on Deno: ${title}`;
      bench.rows.push({ figure, ...over(name, denoPass.name), better: "less", ...targets });
      if (bare === denoPass.name) continue;
      const own = `start to first answer over the bare pass-through of the same Node: ${title}`;
      bench.rows.push({ figure: own, ...over(name, bare!), better: "less" });
    }
  },
};

/** Measures the time from SIGTERM to the first refused connection, ms, while a connection is open. */
async function stopOnce(bench: Bench, contestant: Contestant): Promise<number> {
  const { program, target: { port } } = await startOne(bench, contestant);
  try {
    await untilListening(program, port, { limitMs: startMs, lookMs: 1 });
    using _open = await Deno.connect({ hostname: "127.0.0.1", port });
    const from = performance.now();
    program.child.kill("SIGTERM");
    await untilRefusing(port, 5_000);
    return performance.now() - from;
  } finally {
    await program.kill();
  }
}

/** Time for which new connections are accepted after SIGTERM. */
export const stop: Figure = {
  name: "stop",
  title: "modelmesh proxy, from SIGTERM to refusing connections",
  isQuick: true,
  async run(bench) {
    const { contestants } = bench.options;
    for (const proxy of proxies) {
      const { name, title } = proxy;
      if (contestants.length > 0 && !contestants.includes(name)) continue;
      const times: number[] = [];
      try {
        for (let round = 0; round < tries; round++) times.push(await stopOnce(bench, proxy));
      } catch (error) {
        bench.problem(`stop, ${title}: ${(error as Error).message}`);
        continue;
      }
      bench.raw[`stop ${title}`] = times;
      const figure = `SIGTERM to refusing connections, slowest of ${tries}: ${title}`;
      bench.rows.push({ figure, measured: Math.max(...times), unit: "ms", better: "less", must: 100 });
    }
  },
};

/** Import time of the main entry, compared with the startup time of an empty program. */
export const importing: Figure = {
  name: "import",
  title: "importing the main entry on Deno",
  isQuick: true,
  async run(bench) {
    const empty = denoCommand(programPath("nothing.ts"));
    const command = [...denoCommand(programPath("import_time.ts")), `file://${root}mod.ts`];
    await output({ command }); // fills the caches
    const [imports, starts]: [number[], number[]] = [[], []];
    for (let round = 0; round < tries; round++) {
      imports.push(Number(await output({ command, core: "gateway" })));
      const from = performance.now();
      await output({ command: empty, core: "gateway" });
      starts.push(performance.now() - from);
    }
    bench.raw.import = { imports, starts };
    const better = "less";
    const ratio = summarizePairs(imports, starts, (first, second) => first / second);
    bench.rows.push(
      { figure: "importing mod.ts: Deno", ...summarize(imports), unit: "ms", better },
      { figure: "start of an empty program: Deno", ...summarize(starts), unit: "ms", better },
      { figure: "importing mod.ts over the start of an empty program", ...ratio, better },
    );
  },
};
