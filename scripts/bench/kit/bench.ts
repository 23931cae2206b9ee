/**
 * One run of the benchmark: its participants and results.
 * @module
 */
import { all } from "../contestants/all.ts";
import { type Collections, collectionsIn } from "./collections.ts";
import { type Contestant, createTarget, type RequestForm, type Stage, type Target } from "./contestant.ts";
import { Disturbance, maxRepeats } from "./disturbance.ts";
import { load, saturate } from "./load.ts";
import type { Options } from "./options.ts";
import { cores, freePort, type Running, startProgram, untilListening } from "./process.ts";
import { orderParticipants } from "./statistics.ts";
import type { Row } from "./table.ts";
import type { Upstream, UpstreamMode } from "./upstream.ts";
import { coreSeconds, cpuSeconds } from "./usage.ts";
import { untilCorrect, verifyResponse } from "./verify_response.ts";

const slowFactor = 3;

/** A running contestant. */
export interface Side {
  readonly contestant: Contestant;
  /** Its process; undefined without a gateway. */
  readonly program?: Running;
  /** Returns the request that a client sends to it. */
  target(form?: RequestForm): Target;
  /** Its log file. */
  readonly log?: string;
  /** Whether it streams the upstream's events. */
  readonly isStreaming: boolean;
  /** Whether clients connect with TLS, which is the case only without a gateway. */
  readonly isSecure: boolean;
}

/** A figure to be measured. */
export interface Figure {
  /** Its name for `--only`. */
  readonly name: string;
  /** Its title in the table. */
  readonly title: string;
  /** Whether `--quick` includes it. */
  readonly isQuick?: boolean;
  /** Measures it. */
  run(bench: Bench): Promise<void>;
}

/** Warm-up time of a contestant before its first measurement, s. */
const minWarmSeconds = 8;

/**
 * Duration of the load before each sample, s. A process is idle while others are measured, and V8 then frees memory
 * that it needs again: without load before it, a sample would measure how fast a process wakes up.
 */
const rewarmSeconds = 2;

/** What a figure measures in rounds. */
export interface Rounds<T> {
  /** The participants. */
  readonly sides: readonly Side[];
  /** Behaviour of the upstream during a measurement; the usual one by default. */
  readonly mode?: UpstreamMode;
  /** Whether requests ask for a stream, also those of the load before a measurement. */
  readonly isStream?: boolean;
  /** Number of rounds; by default that of the command line. */
  readonly rounds?: number;
  /** Idle time of all participants before each round, s, in place of the load before each measurement. */
  readonly idleSeconds?: number;
  /** One measurement. */
  readonly measure: (side: Side) => Promise<T>;
}

/** A measurement with the resources that the contestant used. */
export type Used<T> = T & { readonly cpuSeconds: number; readonly collections?: Collections };

/** One run. */
export class Bench {
  readonly options: Options;
  readonly upstream: Upstream;
  readonly rows: Row[] = [];
  readonly tables: string[] = [];
  readonly raw: Record<string, unknown> = {};
  /** What other programs did to the measurements. */
  readonly disturbance: Disturbance = new Disturbance();
  /** Problems, one line each. */
  readonly problems: Set<string> = new Set();
  readonly #folder: string;
  readonly #sides = new Map<string, Promise<Side | undefined>>();
  #count = 0;

  /**
   * @param options Command-line options.
   * @param upstream The mock upstream.
   * @param folder Folder for configurations and logs.
   */
  constructor(options: Options, upstream: Upstream, folder: string) {
    this.options = options;
    this.upstream = upstream;
    this.#folder = folder;
  }

  /** Prints progress. */
  say(text: string): void {
    console.error(text);
  }

  /**
   * Returns the participants of a figure, started and warmed up.
   *
   * @param names Names of the contestants.
   * @param isSecure Whether the upstream uses TLS.
   */
  async sides(names: readonly string[], isSecure = false): Promise<Side[]> {
    const sides: Side[] = [];
    for (const name of this.chosen(names)) {
      const key = `${name}${isSecure ? " over TLS" : ""}`;
      if (!this.#sides.has(key)) this.#sides.set(key, this.#start(name, key, isSecure));
      const side = await this.#sides.get(key);
      if (side !== undefined) sides.push(side);
    }
    return sides;
  }

  /**
   * Returns the participants of a figure that stream.
   *
   * @param names Names of the contestants.
   */
  async streamSides(names: readonly string[]): Promise<Side[]> {
    return (await this.sides(names)).filter(({ isStreaming }) => isStreaming);
  }

  /** Filters contestants by the command line. */
  chosen(names: readonly string[]): string[] {
    const { contestants, isQuick } = this.options;
    if (contestants.length > 0) return names.filter((name) => contestants.includes(name));
    return names.filter((name) => !isQuick || !/portkey|litellm|deno-node|20$/.test(name));
  }

  /**
   * Starts a contestant in a separate process.
   *
   * @param name Name of the contestant.
   * @param isSecure Whether the upstream uses TLS.
   * @throws {Error} When it does not start.
   */
  async fresh(name: string, isSecure = false): Promise<Side> {
    const contestant = all.find((candidate) => candidate.name === name)!;
    const folder = `${this.#folder}/${name}-${this.#count++}`;
    await Deno.mkdir(folder);
    if (name === "direct") return this.#straight(contestant, folder, isSecure);
    const certificate = isSecure ? { certificate: this.upstream.certificate } : {};
    const stage: Stage = {
      port: freePort(),
      upstream: this.upstream.url(isSecure),
      folder,
      ...certificate,
      isTraced: true,
    };
    const log = `${folder}/log`;
    const program = await startProgram({ folder, ...await contestant.start(stage), core: "gateway", log });
    try {
      await untilListening(program, stage.port, { limitMs: contestant.startMs });
    } catch (error) {
      await program.kill();
      throw new Error(`${(error as Error).message}: ${(await Deno.readTextFile(log)).trim().slice(-500)}`);
    }
    const target = (form?: RequestForm) => createTarget(contestant, stage, form);
    return { contestant, program, log, target, isStreaming: true, isSecure: false };
  }

  #straight(contestant: Contestant, folder: string, isSecure: boolean): Side {
    const { plain, secure } = this.upstream.ports;
    const stage: Stage = { port: isSecure ? secure : plain, upstream: "", folder };
    const target = (form?: RequestForm) => createTarget(contestant, stage, form);
    return { contestant, target, isStreaming: true, isSecure };
  }

  async #start(name: string, key: string, isSecure: boolean): Promise<Side | undefined> {
    this.say(`  ${key}: starting`);
    let side: Side | undefined;
    try {
      side = await this.fresh(name, isSecure);
      await untilCorrect(side, this.upstream);
      const isStreaming = await this.#canStream(side, key);
      const seconds = this.secondsFor(side);
      // warm-up until the code is compiled, which takes longer the more a program does per request
      for (let warm = 0; warm < minWarmSeconds; warm += seconds) {
        await saturate(side.target(), 64, { seconds, isSecure: side.isSecure });
      }
      return { ...side, isStreaming };
    } catch (error) {
      const written = side?.log === undefined ? "" : (await Deno.readTextFile(side.log)).trim().slice(-500);
      this.problem(`${key} takes no part: ${(error as Error).message} ${written}`);
      await side?.program?.kill();
      return undefined;
    }
  }

  async #canStream(side: Side, key: string): Promise<boolean> {
    try {
      await verifyResponse(side, this.upstream, true);
      return true;
    } catch (error) {
      this.problem(`${key} takes no part in streams: ${(error as Error).message}`);
      return false;
    }
  }

  /**
   * Measures all sides in each round, in a different order each time, each after some load.
   *
   * @returns One sample per round for each side.
   */
  async rounds<T>(
    { sides, mode = {}, isStream = false, rounds = this.options.rounds, idleSeconds, measure }: Rounds<T>,
  ): Promise<Map<string, T[]>> {
    const samples = new Map<string, T[]>(sides.map(({ contestant }) => [contestant.name, []]));
    for (let round = 0; round < rounds; round++) {
      if (idleSeconds !== undefined) await idle(idleSeconds);
      for (const side of orderParticipants(sides, round)) {
        const prepare = async (repeats: number) => {
          await this.upstream.set({});
          if (idleSeconds === undefined) await this.#rewarm(side, isStream);
          else if (repeats > 0) await idle(idleSeconds);
          await this.upstream.set(mode);
        };
        samples.get(side.contestant.name)!.push(await this.disturbance.avoid(prepare, () => measure(side)));
      }
    }
    return samples;
  }

  /** Measures a figure. Its rows are not judged if other programs have disturbed it. */
  async run(figure: Figure): Promise<void> {
    const [rows, disturbed] = [this.rows.length, this.disturbance.kept];
    await figure.run(this);
    const count = this.disturbance.kept - disturbed;
    if (count === 0) return;
    this.problem(
      `${figure.name}: others disturbed ${count} measurements, each of which was repeated ${maxRepeats} times`,
    );
    for (const row of this.rows.splice(rows)) this.rows.push({ ...row, isDisturbed: true });
  }

  async #rewarm({ program, target, isSecure }: Side, isStream: boolean): Promise<void> {
    if (program === undefined) return;
    if (!isStream) return void await saturate(target(), 64, { seconds: rewarmSeconds, isSecure });
    await load(target({ isStream: true }), { mode: "closed", connections: 64, seconds: rewarmSeconds }, isSecure);
  }

  /**
   * Measures the CPU time that a contestant uses during a task, NaN when it has no process, and its garbage
   * collections. Records CPU time of other processes on its core as well.
   */
  async withUsage<T>({ program, log }: Side, run: () => Promise<T>): Promise<Used<T>> {
    if (program === undefined) return { ...await run(), cpuSeconds: NaN };
    const logged = (await Deno.stat(log!)).size;
    const [from, own, core] = [performance.now(), await cpuSeconds(program.pid), await coreSeconds(cores.gateway)];
    const result = await run();
    const used = await cpuSeconds(program.pid) - own;
    const seconds = (performance.now() - from) / 1000;
    this.disturbance.add((await coreSeconds(cores.gateway) - core - used) / seconds);
    const collections = collectionsIn(await textFrom(log!, logged));
    return { ...result, cpuSeconds: used, collections };
  }

  /** Duration of a measurement of a contestant, s. */
  secondsFor({ contestant }: Side): number {
    return this.options.seconds * (contestant.isSlow ? slowFactor : 1);
  }

  /** Reports a problem. */
  problem(text: string): void {
    const line = text.replaceAll(/\s+/g, " ").trim();
    if (!this.problems.has(line)) this.say(`  ! ${line}`);
    this.problems.add(line);
  }
}

function idle(seconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, seconds * 1000));
}

/** Reads a file from a position to its end. */
async function textFrom(path: string, position: number): Promise<string> {
  using file = await Deno.open(path);
  await file.seek(position, Deno.SeekMode.Start);
  return await new Response(file.readable).text();
}
