/**
 * Heartbeats of streamed responses: while a model thinks, comments prevent clients and reverse proxies in between from
 * giving up. A response whose first content takes long begins before it; failover then goes on unseen.
 * @module
 */
import type { Clock, Stopper } from "../contracts/runtime.ts";
import type { PlainResponse, PlainStream } from "../contracts/shell.ts";
import type { Exchange } from "./exchange.ts";

/** Time from the start of a request until its response begins without content, ms. */
const patienceMs = 10_000;

/** The format of a streamed response. */
export interface StreamFormat {
  readonly contentType: string;
  /** An event or a comment without meaning; empty if the format has none. */
  readonly heartbeat: string;
  /** Converts an error to the event that ends the response. */
  fail(error: unknown): string;
}

/** A request for a streamed response. */
interface StreamedRequest<Result> {
  /** Time at which the request was received, monotonic ms. */
  readonly startedAt: number;
  readonly format: StreamFormat;
  /** Performs the request. */
  readonly perform: (signal: Stopper["signal"]) => Promise<Result>;
  /** Creates the response. */
  readonly respond: (result: Result) => PlainResponse;
}

/** Adds the headers of a streamed response. */
export function addStreamHeaders(headers: Record<string, string>, contentType: string): void {
  headers["content-type"] = contentType;
  headers["cache-control"] = "no-cache";
  headers["x-accel-buffering"] = "no"; // nginx would collect events
}

/**
 * Performs a request for a streamed response. After ten seconds without content, the response begins with a heartbeat,
 * and a later failure is an event.
 *
 * @param streamed How to perform it.
 * @throws The error of a request that fails before.
 */
export async function respondWithStream<Result>(
  exchange: Exchange,
  { startedAt, format, perform, respond }: StreamedRequest<Result>,
): Promise<PlainResponse> {
  const { mesh: { runtime }, request, headers, proxy: { heartbeatMs }, onEnd } = exchange;
  const { clock } = runtime;
  if (heartbeatMs === 0 || format.heartbeat === "") return respond(await perform(request.signal));
  const stopper = runtime.stopper?.() ?? new AbortController();
  const stop = () => stopper.abort(request.signal.reason);
  request.signal.addEventListener("abort", stop);
  if (request.signal.aborted) stop();
  const result = perform(stopper.signal);
  const beating = { clock, intervalMs: heartbeatMs, heartbeat: format.heartbeat };
  if (await isSettledWithin(result, { clock, ms: patienceMs - (clock.monotonic() - startedAt) })) {
    const { body, ...response } = respond(await result);
    return { ...response, body: new HeartbeatBody(body as PlainStream, beating) };
  }
  addStreamHeaders(headers, format.contentType);
  const opening = new OpeningBody({ result: result, respond, fail: (error) => format.fail(error), stopper, onEnd });
  return { status: 200, headers: { ...headers }, body: new HeartbeatBody(opening, { ...beating, isLate: true }) };
}

function isSettledWithin(
  promise: Promise<unknown>,
  { clock, ms }: { readonly clock: Clock; readonly ms: number },
): Promise<boolean> {
  return new Promise((resolve) => {
    const cancel = clock.after(Math.max(0, ms), () => resolve(false));
    const settle = () => {
      cancel();
      resolve(true);
    };
    promise.then(settle, settle);
  });
}

interface Opening<Result> extends Pick<StreamedRequest<Result>, "respond"> {
  readonly result: Promise<Result>;
  readonly fail: (error: unknown) => string;
  readonly stopper: Stopper;
  readonly onEnd: () => void;
}

/** The body of a response that has begun before its request was served. */
class OpeningBody<Result> implements PlainStream {
  onStop?: (reason: unknown) => void;
  readonly #opening: Opening<Result>;
  #body: PlainStream | undefined;
  #isOver = false;

  constructor(opening: Opening<Result>) {
    this.#opening = opening;
    opening.result.then((result) => this.#open(result), () => {}); // a failure is read
  }

  async read(): Promise<Uint8Array | string | undefined> {
    if (this.#isOver) return undefined;
    try {
      await this.#opening.result;
    } catch (error) {
      if (this.#isOver) return undefined;
      this.#end();
      return this.#opening.fail(error);
    }
    return await this.#body?.read();
  }

  cancel(): void {
    if (this.#body !== undefined) return this.#body.cancel();
    this.#end();
    this.#opening.stopper.abort(new DOMException("The client has disconnected", "AbortError"));
  }

  #open(result: Result): void {
    const body = this.#opening.respond(result).body as PlainStream;
    if (this.#isOver) return body.cancel();
    body.onStop = (reason) => this.onStop?.(reason);
    this.#body = body;
  }

  #end(): void {
    this.#isOver = true;
    this.#opening.onEnd();
  }
}

interface Beating {
  readonly clock: Clock;
  readonly heartbeat: string;
  readonly intervalMs: number;
  /** Whether the first read is answered with a heartbeat. */
  readonly isLate?: boolean;
}

/** Adds heartbeats to a body while a read of it waits. */
export function withHeartbeats(source: PlainStream, beating: Beating): PlainStream {
  return new HeartbeatBody(source, beating);
}

/** A read of a body. */
interface WaitingRead {
  resolve(chunk: Uint8Array | string | undefined): void;
  reject(error: unknown): void;
}

/** Adds heartbeats to a body while a read waits. One timer, re-armed only when it fires. */
class HeartbeatBody implements PlainStream {
  onStop?: (reason: unknown) => void;
  readonly #source: PlainStream;
  readonly #beating: Beating;
  /** The read of the source, to which no read of this body has led yet. */
  #reading: Promise<Uint8Array | string | undefined> | undefined;
  #waiting: WaitingRead | undefined;
  /** Time of the last output, monotonic ms. */
  #since: number;
  #cancelTimer: () => void;

  constructor(source: PlainStream, beating: Beating) {
    this.#source = source;
    this.#beating = beating;
    const { clock, isLate, intervalMs } = beating;
    this.#since = isLate ? -Infinity : clock.monotonic();
    this.#cancelTimer = clock.after(intervalMs, this.#check);
    source.onStop = (reason) => {
      this.#cancelTimer();
      this.onStop?.(reason);
    };
  }

  read(): Promise<Uint8Array | string | undefined> {
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      this.#reading ??= this.#source.read();
      this.#reading.then(this.#take, this.#fail);
      if (this.#since === -Infinity) this.#beat();
    });
  }

  cancel(): void {
    this.#cancelTimer();
    this.#source.cancel();
  }

  readonly #take = (chunk: Uint8Array | string | undefined): void => {
    const read = this.#settle();
    if (chunk === undefined) this.#cancelTimer();
    read?.resolve(chunk);
  };

  readonly #fail = (error: unknown): void => {
    const read = this.#settle();
    this.#cancelTimer();
    read?.reject(error);
  };

  /** Ends the waiting read. Without one, a heartbeat has ended it: the next one reads the result of the source again. */
  #settle(): WaitingRead | undefined {
    const read = this.#waiting;
    if (read === undefined) return undefined;
    this.#waiting = this.#reading = undefined;
    this.#since = this.#beating.clock.monotonic();
    return read;
  }

  #beat(): void {
    const { resolve } = this.#waiting!;
    this.#waiting = undefined;
    this.#since = this.#beating.clock.monotonic();
    resolve(this.#beating.heartbeat);
  }

  readonly #check = (): void => {
    const { clock, intervalMs } = this.#beating;
    const quietMs = clock.monotonic() - this.#since;
    if (this.#waiting !== undefined && quietMs >= intervalMs) this.#beat();
    // without a reader it checks periodically
    const left = clock.monotonic() - this.#since;
    this.#cancelTimer = clock.after(left >= intervalMs ? intervalMs : intervalMs - left, this.#check);
  };
}
