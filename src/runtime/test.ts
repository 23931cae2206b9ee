/**
 * A runtime for tests: a fake clock, seeded random numbers, no network and no disk.
 * @module
 */
import type { Cancel, Clock, Runtime, UpstreamRequest, UpstreamResponse } from "../contracts/runtime.ts";
import { NetworkError } from "../errors.ts";
import { MemoryFiles } from "./_memory_files.ts";
import { sleepOn } from "./_timers.ts";

export { MemoryFiles };

/** Options of a {@linkcode FakeClock}. */
export interface FakeClockOptions {
  /**
   * Wall clock at the start, ms since 1970.
   * @default 2026-01-01T00:00:00Z
   */
  readonly now?: number;
  /**
   * Whether `sleep` advances the clock to its end, firing timers that are due, and resolves. For tests over real
   * sockets that must not wait.
   */
  readonly skipSleeps?: boolean;
}

interface FakeTimer {
  readonly due: number;
  readonly order: number;
  readonly isRepeated: boolean;
  readonly task: () => unknown;
}

const maxFirings = 10_000;

/** A clock that advances only on request. */
export class FakeClock implements Clock {
  /** The durations of all `sleep` calls so far, in order. */
  readonly sleeps: number[] = [];
  readonly #timers = new Set<FakeTimer>();
  readonly #stepListeners = new Set<{ readonly notify: () => void }>();
  readonly #skipSleeps: boolean;
  readonly #sleep = sleepOn((ms, task) => this.after(ms, task));
  #wallTimeMs: number;
  #monotonic = 0;
  #order = 0;

  constructor(options: FakeClockOptions = {}) {
    this.#wallTimeMs = options.now ?? Date.UTC(2026, 0, 1);
    this.#skipSleeps = options.skipSleeps ?? false;
  }

  /** Wall-clock time, integer ms, as on a real machine. */
  now(): number {
    return Math.floor(this.#wallTimeMs);
  }

  /** Time advanced since the start, ms. */
  monotonic(): number {
    return this.#monotonic;
  }

  /** The number of active timers: calls of `after`, `sleep` and `every` that have neither ended nor been cancelled. */
  get pending(): number {
    return this.#timers.size;
  }

  /** Calls `task` when the clock has advanced by `ms`. */
  after(ms: number, task: () => void): Cancel {
    return this.#arm(ms, false, task);
  }

  /** Resolves when the clock has advanced by `ms`; see {@linkcode FakeClockOptions.skipSleeps}. */
  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted) return Promise.reject(signal.reason);
    this.sleeps.push(ms);
    const slept = this.#sleep(ms, signal);
    if (this.#skipSleeps) this.#skipTo(this.#monotonic + ms).catch(raise);
    return slept;
  }

  /** Calls `task` each time the clock has advanced by `ms`, one call at a time. */
  every(ms: number, task: () => Promise<void>): Cancel {
    const period = Math.max(1, ms);
    let isStopped = false;
    let cancel: Cancel = () => {};
    const arm = (wait: number) => {
      cancel = this.#arm(wait, true, run);
    };
    const run = async () => {
      const started = this.#monotonic;
      await task().catch(() => {}); // as with the real clock, a task reports its own failures
      if (!isStopped) arm(period - (this.#monotonic - started) % period);
    };
    arm(period);
    return () => {
      isStopped = true;
      cancel();
    };
  }

  /**
   * Advances the clock. Timers fire in order, each at its own time, and promises settle in between.
   *
   * @param ms Duration, ms.
   */
  async advance(ms: number): Promise<void> {
    const end = this.#monotonic + ms;
    await settle();
    for (let timer = this.#next(end); timer !== undefined; timer = this.#next(end)) {
      this.#fire(timer);
      await settle();
    }
    this.#moveTo(end);
  }

  /** Advances the clock until only repeating timers are left. */
  async runAll(): Promise<void> {
    await settle();
    for (let firings = 0; this.#hasOnce(); firings++) {
      if (firings === maxFirings) throw new Error(`Timers go on setting new ones: ${maxFirings} have fired`);
      this.#fire(this.#next(Infinity)!);
      await settle();
    }
  }

  /**
   * Changes the wall clock, as when it is set, or (forwards) when the machine has slept. Timers and durations are not
   * affected.
   */
  jumpWallTime(ms: number): void {
    this.#wallTimeMs += ms;
    for (const { notify } of [...this.#stepListeners]) notify();
  }

  /** Calls `listener` after each change of the wall clock, immediately. */
  onStep(notify: () => void): Cancel {
    const listener = { notify };
    this.#stepListeners.add(listener);
    return () => void this.#stepListeners.delete(listener);
  }

  /**
   * Lets time pass on both clocks while the process is stopped: no timer fires. The next `advance` fires those that are
   * due, late.
   *
   * @param ms Duration, ms.
   */
  stop(ms: number): void {
    this.#moveTo(this.#monotonic + ms);
  }

  /**
   * Suspends the process, as SIGSTOP does: time passes, and timers that became due fire late, when the clock is advanced
   * next.
   */
  suspend(ms: number): void {
    this.#moveTo(this.#monotonic + ms);
  }

  async #skipTo(end: number): Promise<void> {
    await settle(); // a loop that sleeps must not starve sockets
    for (let timer = this.#next(end); timer !== undefined; timer = this.#next(end)) this.#fire(timer);
  }

  #arm(ms: number, isRepeated: boolean, task: () => unknown): Cancel {
    const timer = { due: this.#monotonic + (ms > 0 ? ms : 0), order: this.#order++, isRepeated, task };
    this.#timers.add(timer);
    return () => void this.#timers.delete(timer);
  }

  #next(end: number): FakeTimer | undefined {
    let next: FakeTimer | undefined;
    for (const timer of this.#timers) {
      if (timer.due > end) continue;
      if (next === undefined || timer.due < next.due || timer.due === next.due && timer.order < next.order) {
        next = timer;
      }
    }
    return next;
  }

  #hasOnce(): boolean {
    for (const timer of this.#timers) if (!timer.isRepeated && timer.due < Infinity) return true;
    return false;
  }

  #fire(timer: FakeTimer): void {
    this.#timers.delete(timer);
    this.#moveTo(timer.due);
    timer.task();
  }

  #moveTo(monotonic: number): void {
    if (monotonic <= this.#monotonic) return; // another call of `advance` has passed this time
    this.#wallTimeMs += monotonic - this.#monotonic;
    this.#monotonic = monotonic;
  }
}

export function fakeClock(options?: FakeClockOptions): FakeClock {
  return new FakeClock(options);
}

/** Throws what a timer's task has thrown, as a real timer does. */
function raise(error: unknown): void {
  queueMicrotask(() => {
    throw error;
  });
}

/** Lets all pending promises settle, except those that wait for timers. */
export async function settle(): Promise<void> {
  // one turn of the event loop settles queued promises; streams and sockets may require another
  for (let turn = 0; turn < 2; turn++) await nextTurn();
}

function nextTurn(): Promise<void> {
  const { setImmediate } = globalThis as { setImmediate?: (task: () => void) => unknown };
  return new Promise((resolve) => setImmediate === undefined ? setTimeout(resolve, 0) : setImmediate(resolve));
}

/**
 * A deterministic random number generator (mulberry32).
 *
 * @param seed Truncated to a 32-bit integer.
 * @returns A function like `Math.random`.
 */
export function seededRandom(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = state + 0x6D2B79F5 | 0;
    let mixed = Math.imul(state ^ state >>> 15, 1 | state);
    mixed = mixed + Math.imul(mixed ^ mixed >>> 7, 61 | mixed) ^ mixed;
    return ((mixed ^ mixed >>> 14) >>> 0) / 2 ** 32;
  };
}

/** The parts of a response of a fake provider. */
export interface FakeResponse {
  /** @default 200 */
  readonly status?: number;
  /** Response headers. */
  readonly headers?: Readonly<Record<string, string>>;
  /** A string, chunks that are received one by one, or any other value as JSON; no body by default. */
  readonly body?: unknown;
}

/** Creates a response for `send` of a {@linkcode testRuntime}. */
export function createFakeResponse({ status = 200, headers = {}, body }: FakeResponse = {}): UpstreamResponse {
  const response = body === undefined ? null : toByteStream(body);
  return { status, headers: new Headers(headers), body: response, reader: () => response && response.getReader() };
}

function toByteStream(body: unknown): ReadableStream<Uint8Array> {
  const isChunked = Array.isArray(body) && body.every((chunk) => typeof chunk === "string");
  const chunks: string[] = isChunked ? [...body] : [typeof body === "string" ? body : JSON.stringify(body)];
  const encoder = new TextEncoder();
  return new ReadableStream({
    pull(controller) {
      const chunk = chunks.shift();
      return chunk === undefined ? controller.close() : controller.enqueue(encoder.encode(chunk));
    },
  }, { highWaterMark: 0 });
}

/** Options of a {@linkcode testRuntime}. */
export interface TestRuntimeOptions<Time extends Clock = FakeClock> {
  /** Environment variables; none by default. */
  readonly env?: Readonly<Record<string, string>>;
  /** The clock; a {@linkcode fakeClock} by default. */
  readonly clock?: Time;
  /** A seed, or a random number generator; seed 1 by default. */
  readonly random?: number | (() => number);
  /** The network; rejects every connection by default. */
  readonly send?: (request: UpstreamRequest) => Promise<UpstreamResponse>;
  /** File contents by path; no files by default. */
  readonly files?: Readonly<Record<string, string>>;
}

/** A {@linkcode Runtime} whose parts are visible to tests. */
export interface TestRuntime<Time extends Clock = FakeClock> extends Runtime {
  /** Its clock. */
  readonly clock: Time;
  /** Its files. */
  readonly files: MemoryFiles;
  /** Requests sent so far. */
  readonly requests: readonly UpstreamRequest[];
}

/** Creates a runtime without side effects. */
export function testRuntime<Time extends Clock = FakeClock>(options: TestRuntimeOptions<Time> = {}): TestRuntime<Time> {
  const { env = {}, random = 1, send = refuseRequest } = options;
  const requests: UpstreamRequest[] = [];
  return {
    clock: options.clock ?? fakeClock() as Clock as Time,
    random: typeof random === "number" ? seededRandom(random) : random,
    files: new MemoryFiles(options.files),
    requests,
    send(request) {
      requests.push(request);
      return send(request);
    },
    env: (name) => Object.hasOwn(env, name) ? env[name] : undefined,
  };
}

function refuseRequest(): Promise<UpstreamResponse> {
  return Promise.reject(new NetworkError("Cannot connect to the provider: refused", { neverSent: true }));
}
