/**
 * The race of a hedged request: its attempts at two models, of which the first response with content is used.
 * @module
 */
import type { Member } from "../registry/registry.ts";
import type { AdmittedModel } from "./admission.ts";
import type { RequestPlan } from "./eligibility.ts";
import { OutputEstimate } from "./estimate.ts";
import type { OpenStream } from "./open_stream.ts";
import { RequestContext } from "./request_context.ts";
import type { Received, Result } from "./result.ts";

/** Attempts a request at one model; undefined if it fails, which is recorded. */
export type TryModel<T extends Received> = (admitted: AdmittedModel) => Promise<Result<T> | undefined>;

/** Outcome of an attempt whose response came later. It is neither a success nor a failure of the model. */
const lostOutcome = "hedge_lost";

/** One of the attempts of a hedged request. It has a context of its own, so that it can be cancelled alone. */
export class Branch<T extends Received> {
  readonly admitted: AdmittedModel;
  /** Resolves when the attempt has ended, whatever the outcome. */
  readonly ended: Promise<void>;
  isOver = false;
  result: Result<T> | undefined;
  error: unknown;
  /** Time to the response, or the time without one until the attempt was cancelled, ms; undefined if it is unknown. */
  responseMs: number | undefined;
  readonly #stopper: AbortController;
  readonly #startedAt: number;

  /**
   * Starts the attempt.
   *
   * @param parts What cancels it, which may already be aborted, and the affinity of its request.
   */
  constructor(admitted: AdmittedModel, tryModel: TryModel<T>, parts: {
    readonly stopper: AbortController;
    /** Undefined for the hedge, which does not move a conversation. */
    readonly affinity: RequestPlan["affinity"];
  }) {
    const { stopper, affinity } = parts;
    const { context } = admitted;
    this.#stopper = stopper;
    this.#startedAt = context.clock.monotonic();
    this.admitted = { ...admitted, context: createBranchContext(context, { signal: stopper.signal, affinity }) };
    this.ended = this.#run(tryModel);
  }

  get member(): Member {
    return this.admitted.member;
  }

  /** Whether it has a response with content. */
  get hasContent(): boolean {
    return this.result?.received.isEmpty === false;
  }

  /** Whether it has ended by a failure of the model, or with an empty response. */
  get hasFailed(): boolean {
    return this.admitted.context.failures.length > 0 || this.result?.received.isEmpty === true;
  }

  get elapsedMs(): number {
    return this.admitted.context.clock.monotonic() - this.#startedAt;
  }

  abort(reason: unknown): void {
    this.#stopper.abort(reason);
  }

  async #run(tryModel: TryModel<T>): Promise<void> {
    try {
      this.result = await tryModel(this.admitted);
      if (this.hasContent) this.responseMs = this.elapsedMs;
    } catch (error) {
      this.error = error;
    } finally {
      this.isOver = true;
    }
  }
}

/** The context of a branch. The deadline is that of the request, which aborts its branches. */
function createBranchContext(
  { plan, deps, remainingMs, rootTrace, queuedMs }: RequestContext,
  { signal, affinity }: Pick<RequestPlan, "affinity"> & { readonly signal: AbortSignal },
): RequestContext {
  const trace = rootTrace === undefined ? {} : { trace: rootTrace };
  const request = { ...plan.request, ...trace, signal, timeoutMs: remainingMs };
  const context = new RequestContext({ ...plan, request, affinity }, deps);
  context.commit();
  context.queuedMs = queuedMs;
  return context;
}

/** The attempts of one request at two models. */
export class HedgeRace<T extends Received> {
  /** The first attempt, then the hedge, if there is one. */
  readonly branches: Branch<T>[] = [];
  readonly #context: RequestContext;
  readonly #tryModel: TryModel<T>;
  readonly #startedAt: number;
  #stopped: { readonly reason: unknown } | undefined;

  /**
   * @param context The request.
   * @param tryModel Attempts it at one model.
   */
  constructor(context: RequestContext, tryModel: TryModel<T>) {
    this.#context = context;
    this.#tryModel = tryModel;
    this.#startedAt = context.clock.monotonic();
    context.follow(this);
  }

  /** Starts an attempt. */
  add(admitted: AdmittedModel): Branch<T> {
    const stopper = new AbortController();
    if (this.#stopped !== undefined) stopper.abort(this.#stopped.reason);
    const isHedge = this.branches.length > 0;
    if (isHedge) this.#context.hedge = "lost";
    const affinity = isHedge ? undefined : this.#context.plan.affinity;
    const branch = new Branch(admitted, this.#tryModel, { stopper, affinity });
    this.branches.push(branch);
    return branch;
  }

  /** Aborts all attempts, since the client has left or the deadline has expired. */
  abort(reason: unknown): void {
    this.#stopped ??= { reason };
    for (const branch of this.branches) branch.abort(reason);
  }

  /**
   * Waits for the first response with content, cancels the other attempt, and adds both to the request.
   *
   * @returns The response; if no model has sent content, an empty one, or undefined if both have failed.
   * @throws The client's abort reason, the deadline, or an error that is not a failure of a model.
   */
  async finish(): Promise<Result<T> | undefined> {
    const { branches } = this;
    const winner = await this.#findWinner();
    for (const { admitted } of branches) this.#context.first ??= admitted.context.first;
    const losers = branches.filter((branch) => branch !== winner);
    for (const loser of losers) await this.#end(loser, winner !== undefined);
    if (winner?.result === undefined) {
      this.#addTime();
      this.#context.check();
      for (const { error } of losers) if (error !== undefined) throw error;
      return undefined;
    }
    if (winner !== branches[0]) {
      this.#context.hedge = "won";
      if (!branches[0]!.hasFailed) this.#context.isOutrun = true;
    }
    this.#merge(winner);
    this.#addTime();
    winner.result.join(this.#context);
    return winner.result;
  }

  /** The first attempt with content, else one with an empty response; undefined if there is none. */
  async #findWinner(): Promise<Branch<T> | undefined> {
    const { branches } = this;
    const fastest = await new Promise<Branch<T> | undefined>((resolve, reject) => {
      let left = branches.length;
      for (const branch of branches) {
        branch.ended.then(() => {
          if (branch.hasContent) resolve(branch);
          else if (--left === 0) resolve(undefined);
        }, reject);
      }
    });
    return fastest ?? branches.find(({ result }) => result !== undefined);
  }

  /** Ends a losing attempt, which may just have got its own response, and adds it to the request. */
  async #end(loser: Branch<T>, isLost: boolean): Promise<void> {
    const { member, admitted: { context } } = loser;
    if (!loser.isOver) {
      if (loser === this.branches[0]) {
        loser.responseMs = loser.elapsedMs; // at least
        member.state.tracker.shared.latency.observeMinimum(context.clock.monotonic(), loser.responseMs);
      }
      loser.abort(new DOMException("Another model has responded first", "AbortError"));
      await loser.ended;
    }
    const { result } = loser;
    if (result !== undefined) {
      const { received, connection } = result;
      result.settle("none", { usage: undefined, written: () => countWritten(received), ...received.usage });
      connection.abort(new DOMException("Another model has responded first", "AbortError"));
    }
    if (isLost) markLost(context);
    if (isLost && !loser.hasFailed) context.tried = []; // it may be asked again, if the response that was faster breaks
    this.#merge(loser);
  }

  /** Adds an attempt to the request. */
  #merge({ admitted: { context: branch } }: Branch<T>): void {
    const context = this.#context;
    context.tried = context.tried.concat(branch.tried);
    context.ruledOut = context.ruledOut.concat(branch.ruledOut);
    const { takenElsewhere } = branch;
    if (takenElsewhere !== undefined) {
      context.takenElsewhere = new Map([...context.takenElsewhere ?? [], ...takenElsewhere]);
    }
    context.chain.push(...branch.chain);
    context.tries.push(...branch.tries);
    context.failures.push(...branch.failures);
    context.api = branch.api;
    context.attempts += branch.attempts;
    if (branch.queuedMs !== undefined) context.queuedMs = Math.max(context.queuedMs ?? 0, branch.queuedMs);
    context.possiblyBilled ||= branch.possiblyBilled;
    context.addCharge(branch.charged);
  }

  /** Adds the time spent in providers: attempts overlap. */
  #addTime(): void {
    const elapsedMs = this.#context.clock.monotonic() - this.#startedAt;
    const sumMs = this.branches.reduce((sum, { admitted: { context } }) => sum + context.upstreamMs, 0);
    this.#context.upstreamMs += Math.min(elapsedMs, sumMs);
  }
}

/** Output tokens of a response that is not read further. */
function countWritten(received: Received): number {
  const { held = [] } = received as Partial<OpenStream>;
  return held.reduce((estimate, { value }) => estimate.add(value.choices), new OutputEstimate()).tokens;
}

/** Changes the outcome of an attempt that was cancelled, or whose response is not used. */
function markLost({ chain, tries }: RequestContext): void {
  for (const steps of [chain, tries] as { outcome: string }[][]) {
    steps.forEach((step, index) => {
      if (step.outcome === "aborted" || step.outcome === "ok") steps[index] = { ...step, outcome: lostOutcome };
    });
  }
}
