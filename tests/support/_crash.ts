/**
 * Processes that share a state on the real disk, killed at moments of chance or left to run.
 * @module
 */
import { LocalFileStorage } from "../../connectors/storage/local_file.ts";
import { denoRuntime } from "../../src/runtime/deno.ts";
import { fakeClock } from "../../src/runtime/test.ts";
import { MeshState } from "../../src/state/mesh_state.ts";
import { SnapshotMapper } from "../../src/state/persistence/snapshot_mapper.ts";
import { CodedStorage } from "../../src/storage/coded_storage.ts";

const root = new URL("../../", import.meta.url);

/** A process of `_state_program.ts`. */
export class StateProcess {
  /** The updates that it has said to be on the disk. */
  done = 0;
  readonly #child: Deno.ChildProcess;
  readonly #reading: Promise<void>;
  #whenReady = () => {};
  /** It has read the state. */
  readonly ready: Promise<void> = new Promise((resolve) => this.#whenReady = resolve);

  /** @param args Its path, count and kind. */
  constructor(...args: readonly string[]) {
    const program = new URL("tests/support/_state_program.ts", root).pathname;
    const config = new URL("deno.json", root).pathname;
    this.#child = new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", "--no-check", "--no-npm", "--config", config, program, ...args],
      stdin: "null",
      stdout: "piped",
      stderr: "inherit",
    }).spawn();
    this.#reading = this.#read();
  }

  /** Ends it without a chance to do anything about it. */
  async kill(): Promise<void> {
    try {
      this.#child.kill("SIGKILL");
    } catch {
      // it had ended by itself
    }
    await this.end();
  }

  /** Waits for its end; its exit code. */
  async end(): Promise<number> {
    await this.#reading;
    return (await this.#child.status).code;
  }

  async #read(): Promise<void> {
    const lines = this.#child.stdout.pipeThrough(new TextDecoderStream());
    let rest = "";
    for await (const text of lines) {
      const whole = (rest + text).split("\n");
      rest = whole.pop()!;
      if (whole.length > 0) this.#whenReady();
      this.done = Number(whole.filter((line) => /^\d+$/.test(line)).at(-1) ?? this.done);
    }
    this.#whenReady();
  }
}

/**
 * What is on the disk.
 *
 * @param path The state's file.
 * @returns Nano-dollars spent; undefined when there is no state that could be taken up.
 */
export async function spentAt(path: string): Promise<number | undefined> {
  const { clock, disk } = denoRuntime();
  const file = new LocalFileStorage({ clock, disk }, { path });
  try {
    const bytes = await new CodedStorage(file, { format: "json", isCompressed: false }).load("state");
    const snapshot = JSON.parse(new TextDecoder().decode(bytes));
    const fake = fakeClock();
    const state = new MeshState({ settings: {}, clock: fake, onTransition: () => {} });
    new SnapshotMapper(state, fake).restore(snapshot);
    const all = snapshot.spending.find(({ budget }: { budget: string }) => budget === "all");
    return all?.months.reduce(
      (sum: number, one: { spent: number; reserved: number }) => sum + one.spent + one.reserved,
      0,
    ) ??
      0;
  } catch {
    return undefined;
  }
}

/** What came of killing. */
export interface CrashReport {
  /** Kills that left no state that loads. */
  corrupt: number;
  /** Kills after which an update was missing that had been said to be on the disk, or one was there twice. */
  lost: number;
  /** Updates in all. */
  updates: number;
}

/**
 * Kills a process that writes a state, again and again, each time at another moment.
 *
 * @param path The state's file.
 * @param kills How often.
 * @param options `naive`: one that writes over the file; chance.
 */
export async function killAgainAndAgain(
  path: string,
  kills: number,
  options: { readonly naive?: boolean; readonly random?: () => number } = {},
): Promise<CrashReport> {
  const { naive = false, random = Math.random } = options;
  const report: CrashReport = { corrupt: 0, lost: 0, updates: 0 };
  let before = 0;
  for (let kill = 0; kill < kills; kill++) {
    const child = new StateProcess(path, "100000", ...(naive ? ["naive"] : []));
    await child.ready;
    await new Promise((resolve) => setTimeout(resolve, random() * 40));
    await child.kill();
    const after = await spentAt(path);
    if (after === undefined) {
      report.corrupt++;
      await Deno.remove(path, { recursive: true }).catch(() => {});
    }
    // what was done is there, and what was under way is there whole or not at all
    const isExact = after !== undefined && after >= before + child.done && after <= before + child.done + costUnderWay;
    if (after !== undefined && !isExact) report.lost++;
    report.updates += child.done;
    before = after ?? 0;
  }
  return report;
}

/** One update may have been written and not yet reported. */
const costUnderWay = 1;
