/**
 * Measures how fast a stream is (`execution.min_rate`). Imported with the first stream of a provider that has a minimum.
 * @module
 */
import type { CompletionChunk } from "../contracts/provider.ts";
import type { Cancel, Clock } from "../contracts/runtime.ts";
import { SlidingWindow } from "../util/sliding_window.ts";
import type { Connection } from "./connection.ts";
import { OutputEstimate } from "./estimate.ts";
import { AttemptTimeout } from "./failure.ts";
import type { OpenStream, StreamRate } from "./open_stream.ts";

/** The time over which the rate is measured, ms. */
const windowMs = 10_000;

/** Interval of the checks after the first one, ms. */
const checkMs = 1_000;

/** Outcome of a response that was too slow, in records. */
const limit = "min_rate";

/**
 * Measures the rest of a stream, from its first content on. Only the time in which its reader waits for the provider
 * counts, so that a slow reader does not make a provider slow.
 *
 * @param minRate Tokens per second.
 */
export function measureRate(
  stream: OpenStream,
  { minRate, clock, connection }: {
    readonly minRate: number;
    readonly clock: Clock;
    readonly connection: Pick<Connection, "stop">;
  },
): OpenStream {
  if (stream.complete) return stream;
  const rest = new MeasuredStream(stream.rest, { minRate, clock });
  connection.stop.addEventListener("abort", () => rest.stop());
  return { ...stream, rest, rate: rest };
}

/** The events of a stream, whose rate is measured as they are read. */
class MeasuredStream implements AsyncIterator<CompletionChunk>, StreamRate {
  exceeded: string | undefined;
  onSlow: ((reason: AttemptTimeout) => void) | undefined;
  readonly #source: AsyncIterator<CompletionChunk>;
  readonly #minRate: number;
  readonly #clock: Clock;
  /** Tokens, by the time waited. */
  readonly #tokens = new SlidingWindow({ windowMs, expiresLate: true });
  /** Time waited before `#since`, ms. */
  #waitedMs = 0;
  /** Since when a read is waiting, monotonic ms; undefined between reads. */
  #since: number | undefined;
  #cancel: Cancel | undefined;
  #isOver = false;

  constructor(
    source: AsyncIterator<CompletionChunk>,
    { minRate, clock }: { readonly minRate: number; readonly clock: Clock },
  ) {
    this.#source = source;
    this.#minRate = minRate;
    this.#clock = clock;
  }

  async next(): Promise<IteratorResult<CompletionChunk>> {
    this.#since = this.#clock.monotonic();
    if (this.#cancel === undefined && !this.#isOver) this.#arm(Math.max(checkMs, windowMs - this.#waitedMs));
    let result: IteratorResult<CompletionChunk> | undefined;
    try {
      return result = await this.#source.next();
    } finally {
      this.#waitedMs = this.#totalMs;
      this.#since = undefined;
      if (result === undefined || result.done) this.stop();
      else this.#tokens.add(this.#waitedMs, countTokens(result.value));
    }
  }

  async return(): Promise<IteratorResult<CompletionChunk>> {
    this.stop();
    return await this.#source.return?.() ?? { done: true, value: undefined };
  }

  /** Ends the measurement. */
  stop(): void {
    this.#isOver = true;
    this.#cancel?.();
    this.#cancel = undefined;
  }

  /** Time waited for the provider, ms. */
  get #totalMs(): number {
    return this.#waitedMs + (this.#since === undefined ? 0 : this.#clock.monotonic() - this.#since);
  }

  #arm(ms: number): void {
    this.#cancel = this.#clock.after(ms, () => this.#check());
  }

  #check(): void {
    this.#cancel = undefined;
    if (this.#since === undefined) return; // armed again with the next read
    const waitedMs = this.#totalMs;
    const tokens = this.#tokens.sum(waitedMs);
    if (waitedMs >= windowMs && tokens * 1000 < this.#minRate * windowMs) {
      this.exceeded = limit;
      const phase = `sent ${tokens} tokens within ${windowMs} ms, less than ${this.#minRate} per second`;
      this.onSlow?.(new AttemptTimeout(`The provider ${phase} (execution.min_rate)`, limit));
    }
    if (!this.#isOver) this.#arm(Math.max(checkMs, windowMs - waitedMs));
  }
}

function countTokens({ value, others = [] }: CompletionChunk): number {
  const written = new OutputEstimate().add(value.choices);
  for (const { choices } of others) written.add(choices);
  return written.tokens;
}
