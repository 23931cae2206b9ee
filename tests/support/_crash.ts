/**
 * Processes that share state on disk, and are killed at random times or run to their end.
 * @module
 */
import { LocalFileStorage } from "../../connectors/storage/local_file.ts";
import { denoRuntime } from "../../src/runtime/deno.ts";
import { fakeClock } from "../../src/runtime/test.ts";
import { MeshState } from "../../src/state/model/mesh_state.ts";
import { SnapshotMapper } from "../../src/state/persistence/snapshot_mapper.ts";
import { CodedStorage } from "../../src/storage/coded_storage.ts";

const root = new URL("../../", import.meta.url);

/** A process running `_state_program.ts`. */
export class StateProcess {
  /** Number of updates that it has reported as persisted. */
  done = 0;
  readonly #child: Deno.ChildProcess;
  readonly #reading: Promise<void>;
  #whenReady = () => {};
  /** Resolves when it has read the state. */
  readonly ready: Promise<void> = new Promise((resolve) => this.#whenReady = resolve);

  /** @param args Path, number of updates and kind. */
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

  /** Kills it with SIGKILL. */
  async kill(): Promise<void> {
    try {
      this.#child.kill("SIGKILL");
    } catch {
      // it has already exited
    }
    await this.end();
  }

  /** Waits for its exit, and returns the exit code. */
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
 * Reads the state on disk.
 *
 * @param path The state's file.
 * @returns Nano-dollars spent; undefined when there is no valid state.
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
      (sum: number, month: { spent: number; reserved: number }) => sum + month.spent + month.reserved,
      0,
    ) ??
      0;
  } catch {
    return undefined;
  }
}

/** Result of the crash test. */
export interface CrashReport {
  /** Number of kills that left no valid state. */
  corrupt: number;
  /** Number of kills after which a reported update was missing or counted twice. */
  lost: number;
  /** Total number of updates. */
  updates: number;
}

/**
 * Kills a process that writes state, repeatedly and at random times.
 *
 * @param path The state's file.
 * @param kills Number of kills.
 * @param options `naive` for a process that overwrites the file in place; random number generator.
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
    // reported updates are persisted, and an update in flight is persisted completely or not at all
    const isExact = after !== undefined && after >= before + child.done && after <= before + child.done + costUnderWay;
    if (after !== undefined && !isExact) report.lost++;
    report.updates += child.done;
    before = after ?? 0;
  }
  return report;
}

/** One update may be written but not reported. */
const costUnderWay = 1;
