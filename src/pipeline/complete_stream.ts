/**
 * Streams that commit when they are complete: their events are held until the provider has ended its response, so that a
 * stream which breaks is requested from the next model. Imported with the first such request.
 * @module
 */
import type { CompletionChunk } from "../contracts/provider.ts";
import { UnsupportedRequestError } from "../errors.ts";
import { endIterator } from "../util/end_iterator.ts";
import { openMembers, untriedMembers } from "./admission.ts";
import { OutputEstimate } from "./estimate.ts";
import { AttemptTimeout, findWords, isOfCallerKey, recordProviderError, toFailure } from "./failure.ts";
import { addUsage, type OpenStream } from "./open_stream.ts";
import type { ReportedUsage } from "./operation.ts";
import type { RoutedRequest } from "./request.ts";
import type { RequestContext } from "./request_context.ts";
import type { Received, Result } from "./result.ts";

/** Maximum size of the held events of one stream, and of all streams of this process, characters. */
const maxChars = { stream: 4 * 1024 * 1024, total: 64 * 1024 * 1024 };

/** The memory that held events use. */
const memory = { chars: 0 };

/**
 * Reads the response of a model to its end before the request commits to it. Beyond the limits of memory, it commits
 * earlier.
 *
 * @returns Whether the request may commit; false if the response was interrupted, which is recorded.
 * @throws The client's abort reason or the deadline.
 */
export type ReadToEnd = <T extends Received>(result: Result<T>, context: RequestContext) => Promise<boolean>;

/**
 * Returns what reads the streams of a request to their ends; undefined if its response is not streamed.
 *
 * @param request A request that commits when its response is complete.
 * @throws {UnsupportedRequestError} `invalid_value` if the request itself asks for that, and its response is audio.
 */
export function selectReadToEnd({ operation, delivery, routingConstraints }: RoutedRequest): ReadToEnd | undefined {
  if (!operation.hasContent) return delivery === "stream" ? readToEnd as ReadToEnd : undefined;
  const param = routingConstraints?.commit?.param;
  if (param === undefined) return undefined; // a pool may also serve chat
  const message = `"${param}" cannot be "complete": audio is passed on as it arrives`;
  throw new UnsupportedRequestError(message, { code: "invalid_value", param });
}

async function readToEnd(result: Result<OpenStream>, context: RequestContext): Promise<boolean> {
  const { received } = result;
  if (received.complete) return true;
  const held = new HeldStream(result);
  received.release = () => held.release();
  if (received.rate !== undefined) {
    received.rate.onSlow = (reason) => {
      const others = openMembers(untriedMembers(context), { context, alone: false });
      if (others.length > 0) result.connection.abort(reason);
    };
  }
  try {
    await held.fill();
    return true;
  } catch (error) {
    received.release();
    return held.end(error, context);
  } finally {
    if (received.rate !== undefined) received.rate.onSlow = undefined; // once committed, it only counts
  }
}

/** The events of one stream, up to its end. */
class HeldStream {
  readonly #result: Result<OpenStream>;
  readonly #written = new OutputEstimate();
  #usage: ReportedUsage = { usage: undefined };
  #chars = 0;
  /** Rejects the pending read. */
  #leave: (reason: unknown) => void = () => {};

  constructor(result: Result<OpenStream>) {
    this.#result = result;
    const { connection, received } = result;
    received.held.forEach((chunk) => this.#count(chunk));
    connection.stop.addEventListener("abort", () => {
      if (!connection.isEnded) this.#leave(connection.stop.reason); // the source ends a complete response by itself
    });
  }

  /** Reads events until the response is complete, or uses all the memory it may. */
  async fill(): Promise<void> {
    const { received } = this.#result;
    while (this.#chars <= maxChars.stream && memory.chars <= maxChars.total) {
      const { done, value } = await this.#next();
      if (done) {
        received.complete = true;
        return;
      }
      if (value.isPing) continue;
      const chunk = received.filter.read(value);
      received.held.push(chunk);
      this.#count(chunk);
    }
  }

  /** Gives up the memory of the events. */
  release(): void {
    memory.chars -= this.#chars;
    this.#chars = 0;
  }

  /**
   * Settles a response that has not reached its end, with what it has written.
   *
   * @throws The client's abort reason or the deadline.
   */
  end(error: unknown, context: RequestContext): false {
    const { member, connection, received: { rest } } = this.#result;
    const { stop, host } = connection;
    const reason = stop.aborted ? stop.reason : error;
    const usage = { ...this.#usage, written: () => this.#written.tokens };
    const isStopped = stop.aborted && !(reason instanceof AttemptTimeout);
    const { deps } = context;
    const { instance } = member.model;
    const failure = { ...toFailure(reason, instance.provider!, connection.toRedaction(deps.redact)), host };
    const isOfCaller = isOfCallerKey(failure, connection.callerKey);
    const isOfModel = !isStopped && failure.kind !== "request" && !isOfCaller;
    this.#result.settle(isOfModel ? "failure" : "none", { cause: reason, ...usage });
    connection.abort(reason);
    endIterator(rest);
    context.endStep(
      member,
      isStopped ? { outcome: "aborted" } : {
        outcome: failure.cause ?? "stream_interrupted",
        error: findWords(failure),
      },
    );
    if (isStopped) throw reason;
    this.#result.reportInterrupt();
    if (!isOfCaller) recordProviderError(instance, failure, deps);
    context.failures.push({ member, failure, next: { step: "rotate" } });
    return false;
  }

  #next(): Promise<IteratorResult<CompletionChunk>> {
    const { connection: { stop, isEnded }, received: { rest } } = this.#result;
    return new Promise((resolve, reject) => {
      this.#leave = reject;
      if (stop.aborted && !isEnded) reject(stop.reason);
      rest.next().then(resolve, reject);
    });
  }

  #count(chunk: CompletionChunk): void {
    const { value, wire, native, others } = chunk;
    this.#usage = addUsage(this.#usage, chunk);
    this.#written.add(value.choices);
    others?.forEach(({ choices }) => this.#written.add(choices));
    const chars = wire?.length ?? native?.length ?? JSON.stringify(value).length;
    this.#chars += chars;
    memory.chars += chars;
  }
}
