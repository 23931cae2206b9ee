/**
 * The queue of one pool.
 * @module
 */
import type { Cancel, Clock } from "../contracts/runtime.ts";
import { RateLimitError } from "../errors.ts";
import { formatDuration } from "../config/schema/units.ts";
import type { Hub } from "../observe/hub.ts";
import type { Member, Pool, PoolQueue } from "../registry/registry.ts";
import type { ModelRateLimiter } from "../state/limits/rate_limiter.ts";
import { openMembers } from "./admission.ts";
import { listenToLimits } from "./limit_listeners.ts";
import { QueueOrder } from "./queue_order.ts";
import type { RouteDeps } from "./request.ts";
import type { RequestContext } from "./request_context.ts";
import { findWaitEnd, Waiting } from "./waiting.ts";

/** A request that is admitted in order. */
interface QueuedRequest<Admitted> {
  readonly context: RequestContext;
  /** Models that may serve it, in any state. */
  readonly candidates: () => readonly Member[];
  /** Whether it was admitted at its only candidate before: it may be the trial request of that model. */
  readonly isReadmission: boolean;
  /**
   * Reserves at one of the models that admit it, in the same turn of the event loop.
   *
   * @returns What it has reserved; a promise of that, or of undefined if other processes have taken it.
   */
  readonly reserve: (open: readonly Member[]) => Admitted | Promise<Admitted | undefined>;
  /** Returns what was reserved for a request that has left meanwhile. */
  readonly withdraw: (admitted: Admitted) => void;
}

type QueueSettings = NonNullable<Pool["routing"]["queue"]>;

/** One pass over the queue. */
interface Pass {
  readonly now: number;
  /** Models that admit none of the following requests; whether requests wait for them. */
  readonly closed: Map<Member, boolean>;
  /** Requests that cannot wait any longer, with the error; without one, for another reason than limits. */
  readonly ended: (readonly [waiting: Waiting, error: RateLimitError | undefined])[];
  /** When a limit is known to admit more, monotonic ms. */
  wakeAt: number;
}

/** Why a request does not wait, or not any longer. */
const causes = {
  full: ({ maxLength }: QueueSettings) => `and ${maxLength} requests wait already (queue.max_length)`,
  late: ({ maxWaitMs }: QueueSettings) =>
    `for longer than a request may wait: ${formatDuration(maxWaitMs)} (queue.max_wait)`,
  alternative: () => "and a request with several names waits only for the last one",
};

/** Waiting time of a request for another one to end, which is unknown, ms. */
const inFlightRetryMs = 1_000;

/** Requests that wait for a model of a pool, and those that are about to be admitted. */
export class PoolRequestQueue implements PoolQueue {
  readonly #pool: Pool;
  readonly #settings: QueueSettings;
  readonly #clock: Clock;
  readonly #hub: Hub;
  readonly #order = new QueueOrder<Waiting>();
  /** While requests wait: stops listening to limits and to changes of models. */
  readonly #listening = new Map<ModelRateLimiter | Hub, Cancel>();
  #cancelTimer: Cancel = () => {};
  #isScheduled = false;
  /** Whether the next pass visits all requests, since models may have gone into standby. */
  #isThorough = false;
  #closed: Error | undefined;
  #sequence = 0;

  /** @param pool A pool with a queue. */
  constructor(pool: Pool, { runtime, hub }: Pick<RouteDeps, "runtime" | "hub">) {
    this.#pool = pool;
    this.#settings = pool.routing.queue!;
    this.#clock = runtime.clock;
    this.#hub = hub;
  }

  /** Number of waiting requests. */
  get length(): number {
    return this.#order.size;
  }

  /** Ends the wait of all requests with an error, also of those to come. */
  close(error: Error): void {
    this.#closed = error;
    for (const waiting of this.#order.items()) this.#end(waiting, () => waiting.reject(error));
  }

  /**
   * Admits a request, immediately or when it is its turn.
   *
   * @returns Undefined if it cannot wait for any of its candidates.
   * @throws {RateLimitError} If the queue is full, or the wait too long.
   * @throws The client's abort reason, or the deadline.
   */
  admit<Admitted>(request: QueuedRequest<Admitted>): Promise<Admitted | undefined> {
    const { context, candidates, isReadmission } = request;
    return new Promise((resolve, reject) => {
      const toGrant = (admitted: Admitted) => ({
        accept: () => resolve(admitted),
        withdraw: () => request.withdraw(admitted),
      });
      const waiting = new Waiting({
        context,
        candidates,
        isReadmission,
        reserve: (open) => {
          const reserved = request.reserve(open);
          if (!(reserved instanceof Promise)) return toGrant(reserved);
          return reserved.then((admitted) => admitted === undefined ? undefined : toGrant(admitted));
        },
        leave: () => resolve(undefined),
        reject,
        sequence: ++this.#sequence,
        priority: context.plan.request.routingConstraints?.priority ?? this.#settings.priority,
        onAbort: (reason) => this.#end(waiting, () => reject(reason)),
      });
      this.#order.add(waiting);
      this.#serve();
      this.#keep(waiting);
    });
  }

  /** Lets a request wait that was not admitted. */
  #keep(waiting: Waiting): void {
    if (waiting.state !== "queued") return;
    if (waiting.context.plan.request.hasAlternative) return this.#refuse(waiting, "alternative");
    if (this.#closed !== undefined) return this.#end(waiting, () => waiting.reject(this.#closed));
    while (this.#order.size > this.#settings.maxLength) this.#refuse(this.#order.findLast()!, "full");
    if (waiting.state !== "queued") return;
    this.#listen(waiting);
    if (waiting.since !== undefined) return;
    const { context } = waiting;
    waiting.since = this.#clock.monotonic();
    waiting.endsAt = waiting.since + this.#settings.maxWaitMs - (context.queuedMs ?? 0);
    waiting.cancelTimer = this.#clock.after(Math.max(0, waiting.endsAt - waiting.since), () => {
      if (waiting.state === "queued") this.#refuse(waiting, "late");
    });
    context.follow(waiting);
  }

  /** Serves again when a candidate may admit more, or goes into standby. */
  #listen({ candidates }: Waiting): void {
    for (const { state: { tracker: { shared: { rate } } } } of candidates()) {
      if (!this.#listening.has(rate)) this.#listening.set(rate, listenToLimits(rate, this.#wake));
    }
    if (!this.#listening.has(this.#hub)) {
      this.#listening.set(
        this.#hub,
        this.#hub.on("event", ({ event }) => {
          if (event !== "deactivation" && event !== "recovery") return;
          this.#isThorough = true;
          this.#wake();
        }),
      );
    }
  }

  /** Serves what can be served once the current turn of the event loop is over: what ends in it ends completely. */
  readonly #wake = (): void => {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    queueMicrotask(() => {
      this.#isScheduled = false;
      this.#serve();
    });
  };

  /** Admits as many requests as the models admit now, in order. */
  #serve(): void {
    const { members } = this.#pool;
    const isThorough = this.#isThorough;
    this.#isThorough = false;
    const pass: Pass = { now: this.#clock.monotonic(), closed: new Map(), ended: [], wakeAt: Infinity };
    const isOver = () => !isThorough && pass.closed.size >= members.length && [...pass.closed.values()].includes(true);
    this.#order.offer((waiting) => this.#admits(waiting, pass), isOver);
    for (const [waiting, error] of pass.ended) {
      this.#end(waiting, () => error === undefined ? waiting.leave() : waiting.reject(error));
    }
    this.#cancelTimer();
    if (this.#order.size === 0) return this.#rest();
    if (pass.wakeAt === Infinity) return;
    this.#cancelTimer = this.#clock.after(Math.max(1, pass.wakeAt - pass.now), () => this.#serve());
  }

  /** Whether a request is admitted in its turn. If not, the models that it waits for admit none behind it. */
  #admits(waiting: Waiting, pass: Pass): boolean {
    const { context, isReadmission } = waiting;
    const { now, closed } = pass;
    const isFirst = waiting.since === undefined && this.#order.size === 1;
    const candidates = waiting.candidates();
    const free = candidates.filter((member) => !closed.has(member));
    for (const [member, { until }] of context.takenElsewhere ?? []) {
      if (until <= now) context.takenElsewhere!.delete(member);
    }
    context.denials.clear(); // those of an earlier pass
    // requests that wait do not crowd a half-open model
    const usable = isFirst || isReadmission ? free : free.filter(({ state }) => !state.breakers.hasTrialRequest);
    const open = openMembers(usable, { context, alone: true });
    if (open.length > 0) {
      this.#reserve(waiting, open);
      return true;
    }
    let canWait = candidates.some((member) => closed.get(member) === true);
    let knownEnd = canWait ? 0 : Infinity;
    for (const member of free) {
      const end = findWaitEnd(member, context, now);
      if (end === undefined && member.state.status === "active") continue; // denied for a reason of this request
      closed.set(member, end !== undefined);
      if (end === undefined) continue;
      canWait = true;
      pass.wakeAt = Math.min(pass.wakeAt, end);
      const isCertain = end < Infinity && member.state.tracker.shared.rate.inFlight === 0;
      knownEnd = Math.min(knownEnd, isCertain ? end : 0);
    }
    if (!canWait) pass.ended.push([waiting, undefined]);
    else if (knownEnd > this.#findEnd(waiting, now)) pass.ended.push([waiting, this.#toError(waiting, "late")]);
    return false;
  }

  /** When a request has to be admitted, monotonic ms. */
  #findEnd({ context, endsAt }: Waiting, now: number): number {
    return Math.min(endsAt ?? now + this.#settings.maxWaitMs - (context.queuedMs ?? 0), now + context.remainingMs);
  }

  #reserve(waiting: Waiting, open: readonly Member[]): void {
    this.#order.delete(waiting);
    let reserved: ReturnType<Waiting["reserve"]>;
    try {
      reserved = waiting.reserve(open);
    } catch (error) {
      return this.#end(waiting, () => waiting.reject(error)); // the others are served nevertheless
    }
    if (!(reserved instanceof Promise)) return this.#end(waiting, reserved.accept);
    waiting.state = "reserving";
    reserved.then((granted) => {
      if (waiting.state === "over") return granted?.withdraw();
      if (granted !== undefined) return this.#end(waiting, granted.accept);
      this.#goBack(waiting);
    }, (error) => this.#end(waiting, () => waiting.reject(error)));
  }

  /** Returns a request to its place: other processes were faster. */
  #goBack(waiting: Waiting): void {
    waiting.state = "queued";
    this.#order.restore(waiting);
    if (this.#clock.monotonic() >= (waiting.endsAt ?? Infinity)) return this.#refuse(waiting, "late");
    this.#serve();
    this.#keep(waiting);
  }

  #refuse(waiting: Waiting, cause: keyof typeof causes): void {
    const error = this.#toError(waiting, cause);
    this.#end(waiting, () => waiting.reject(error));
  }

  #toError({ context, candidates }: Waiting, cause: keyof typeof causes): RateLimitError {
    const now = this.#clock.monotonic();
    const ends = candidates().map((member) => findWaitEnd(member, context, now)).filter((end) => end !== undefined);
    const waitMs = Math.min(...ends.map((end) => end === Infinity ? inFlightRetryMs : Math.max(0, end - now)));
    const reason = causes[cause](this.#settings);
    return new RateLimitError(`Every model of the pool "${this.#pool.name}" is at its limit, ${reason}`, {
      code: "rate_limit_exceeded",
      retryAfterMs: waitMs < Infinity ? waitMs : undefined,
    });
  }

  /** Ends the wait of a request, once. What it held up can be served then. */
  #end(waiting: Waiting, finish: () => void): void {
    if (waiting.state === "over") return;
    this.#order.delete(waiting);
    waiting.end(this.#clock.monotonic());
    finish();
    if (this.#order.size === 0) this.#rest();
    else this.#wake();
  }

  /** Stops listening while no request waits. */
  #rest(): void {
    this.#cancelTimer();
    for (const stop of this.#listening.values()) stop();
    this.#listening.clear();
  }
}
