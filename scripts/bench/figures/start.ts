/**
 * Startup time, shutdown time, and import time of the library.
 * @module
 */
import type { Bench, Figure } from "../kit/bench.ts";
import { writeConfiguration } from "../contestants/ours.ts";
import { ownPackage, temporaryFolder } from "../kit/packages.ts";
import { freePort, output, type Running, startProgram, untilListening, untilRefusing } from "../kit/process.ts";
import { denoCommand, nodePath, programPath, root } from "../kit/runtimes.ts";
import { median } from "../kit/statistics.ts";
import type { Row } from "../kit/table.ts";

const tries = 9;

/** Ways to start the proxy. A warm start is never the first. */
const starts: readonly { name: string; title: string; command(): Promise<string[]>; must?: number; aim?: number }[] = [
  { name: "deno", title: "Deno", command: () => Promise.resolve(denoCommand(`${root}cli.ts`)), must: 150, aim: 80 },
  {
    name: "node20",
    title: "Node 20",
    command: async () => [await nodePath("20"), await ownPackage()],
    must: 300,
    aim: 220,
  },
  { name: "node24", title: "Node 24", command: async () => [await nodePath("24"), await ownPackage()] },
];

/** A proxy that is listening. */
interface Started {
  readonly program: Running;
  readonly port: number;
  /** Time from spawning the process to its first accepted connection, ms. */
  readonly ms: number;
}

async function startProxy(bench: Bench, command: readonly string[]): Promise<Started> {
  const folder = await Deno.makeTempDir({ dir: await temporaryFolder() });
  const port = freePort();
  const config = await writeConfiguration({ port, upstream: bench.upstream.url(false), folder });
  const from = performance.now();
  const whole = [...command, "proxy", "--config", config];
  const program = await startProgram({ command: whole, core: "gateway", folder, log: `${folder}/log` });
  try {
    await untilListening(program, port, 20_000, 1);
  } catch (error) {
    await program.kill();
    throw error;
  }
  return { program, port, ms: performance.now() - from };
}

async function startOnce(bench: Bench, command: readonly string[]): Promise<number> {
  const { program, ms } = await startProxy(bench, command);
  await program.kill();
  return ms;
}

/** Time from SIGTERM to the first refused connection, ms. Open connections do not delay it. */
async function stopOnce(bench: Bench, command: readonly string[]): Promise<number> {
  const { program, port } = await startProxy(bench, command);
  try {
    using _open = await Deno.connect({ hostname: "127.0.0.1", port });
    const from = performance.now();
    program.child.kill("SIGTERM");
    await untilRefusing(port, 5_000);
    return performance.now() - from;
  } finally {
    await program.kill();
  }
}

/** Startup time. */
export const start: Figure = {
  name: "start",
  title: "modelmesh proxy --config, to listening",
  isQuick: true,
  async run(bench) {
    const { contestants } = bench.options;
    const ways = [];
    for (const one of starts.filter(({ name }) => contestants.length === 0 || contestants.includes(name))) {
      try {
        const command = await one.command();
        await startOnce(bench, command);
        ways.push({ ...one, command, times: [] as number[] });
      } catch (error) {
        bench.problem(`start, ${one.title}: ${(error as Error).message}`);
      }
    }
    for (let round = 0; round < tries; round++) {
      for (const { command, times } of ways) times.push(await startOnce(bench, command));
    }
    for (const { title, must, aim, times } of ways) {
      bench.raw[`start ${title}`] = times;
      const figure = `modelmesh proxy --config to listening: ${title}`;
      bench.rows.push({ figure, measured: median(times), unit: "ms", better: "less", must, aim });
    }
    const none = await timesOf([...denoCommand(programPath("nothing.ts"))]);
    bench.rows.push({ figure: "the same for an empty program: Deno", measured: none, unit: "ms", better: "less" });
  },
};

/** Time during which new connections are accepted after SIGTERM. */
export const stop: Figure = {
  name: "stop",
  title: "modelmesh proxy, from SIGTERM to refusing connections",
  isQuick: true,
  async run(bench) {
    const { contestants } = bench.options;
    for (const { name, title, command } of starts) {
      if (contestants.length > 0 && !contestants.includes(name)) continue;
      const times: number[] = [];
      try {
        const whole = await command();
        for (let round = 0; round < tries; round++) times.push(await stopOnce(bench, whole));
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

/** Median run time of a process, ms. */
async function timesOf(command: readonly string[]): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round < tries; round++) {
    const from = performance.now();
    await output({ command, core: "gateway" });
    times.push(performance.now() - from);
  }
  return median(times);
}

/** Import time of `mod.ts`. */
export const importing: Figure = {
  name: "import",
  title: "importing mod.ts",
  isQuick: true,
  async run(bench) {
    const times: number[] = [];
    const command = [...denoCommand(programPath("import_time.ts")), `file://${root}mod.ts`];
    await output({ command });
    for (let round = 0; round < tries; round++) times.push(Number(await output({ command, core: "gateway" })));
    bench.raw.import = times;
    const row: Row = { figure: "importing mod.ts: Deno", measured: median(times), better: "less", must: 40, aim: 20 };
    bench.rows.push({ ...row, unit: "ms" });
  },
};
