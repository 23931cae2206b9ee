/**
 * What is known of one model in one pool where requests, tokens and money count.
 * @module
 */
import type { Headroom, StandbyReason } from "../contracts/rotation.ts";
import type { ApiKeyPool } from "./limits/api_key_pool.ts";
import type { AdmissionDenial } from "./limits/admission_denial.ts";
import type { CallReservation, DeactivationDecision, Load, Meter, RequestEnd } from "./usage.ts";
import { ModelState, type ModelStateFacts, type Outcome, type Ticket } from "./model_state.ts";
import type { OutputTokens } from "./metrics/output_tokens.ts";
import type { CircuitBreaker } from "./breaker/circuit_breaker.ts";
import type { CounterReplicator } from "./replication/counter_replicator.ts";

/** A model that is set aside also for what it takes. */
export class MeteredState extends ModelState {
  readonly #facts: ModelStateFacts;
  override readonly replicator: CounterReplicator;
  /** Counts what it takes. */
  readonly tracker: Meter;
  /** Called whenever something was counted. */
  onCount?: () => void;
  override readonly keys: ApiKeyPool | undefined;
  #wasOpen = false;
  #now = 0;

  /**
   * @param facts As for every model.
   * @param meter Counts what it takes.
   */
  constructor(facts: ModelStateFacts, meter: Meter) {
    super(facts);
    this.#facts = facts;
    this.tracker = meter;
    this.keys = meter.keys;
    this.replicator = meter.replicator;
  }

  override get outputTokens(): OutputTokens {
    return this.tracker.outputTokens;
  }

  get latencyMs(): number | undefined {
    return this.tracker.latencyMs(this.#now);
  }

  get requests(): Headroom | undefined {
    return this.tracker.requests(this.#now);
  }

  get tokens(): Headroom | undefined {
    return this.tracker.tokens(this.#now);
  }

  override costOf(load: Load): number | undefined {
    return this.tracker.costOf(load);
  }

  override denial(load: Load, now: number): AdmissionDenial | undefined {
    return this.tracker.denial(load, now);
  }

  override spend(load: Load, now: number): CallReservation {
    const spending = this.tracker.spend(load, now);
    this.onCount?.();
    return spending;
  }

  override refresh(now: number): void {
    this.#now = now;
    this.#detectRecovery(); // a rest of an earlier process may be over by now
    const { poolBreaker, providerBreaker } = this.#facts;
    for (const rest of [poolBreaker, providerBreaker]) if (isOver(rest, now)) this.#extendByLimit(rest, now);
    super.refresh(now);
    this.#detectRecovery();
  }

  override begin(now: number): Ticket {
    this.#detectRecovery();
    const ticket = super.begin(now);
    this.tracker.begun();
    this.onCount?.();
    return ticket;
  }

  override sent(now: number): void {
    this.#apply(this.tracker.sent(), now);
  }

  override review(now: number): void {
    this.#apply(this.tracker.spent(), now);
  }

  override withdraw(ticket: Ticket, now: number): void {
    super.withdraw(ticket, now);
    this.tracker.withdrawn();
    this.onCount?.();
  }

  override finish(ticket: Ticket, vote: Outcome, now: number, end: RequestEnd = {}): void {
    this.#detectRecovery();
    const order = this.tracker.finished(vote, end, now);
    const isProviders = vote === "failure" && order?.scope === "provider" && isProviderTrialRequest(ticket);
    super.finish(ticket, isProviders ? "none" : vote, now, end); // that says nothing of the model
    this.#apply(order, now);
    this.#detectRecovery();
    this.onCount?.();
  }

  /**
   * Whether a rest is for money that is there by what is counted here: its limit is another one by now, or elsewhere.
   *
   * @param reason Why it rests.
   * @param now Monotonic ms.
   */
  hasBudget(reason: StandbyReason, now: number): boolean {
    const { budgetScopes = [], quota } = this.tracker;
    const isBudgets = budgetScopes.some((purse) => purse.reason === reason) && !quota?.hasBudget;
    return isBudgets && this.tracker.standing(now)?.reason !== reason;
  }

  /**
   * Ends a rest for money that is there.
   *
   * @param now Monotonic ms.
   */
  recheck(now: number): void {
    for (const rest of [this.#facts.poolBreaker, this.#facts.providerBreaker]) {
      if (rest.standby === undefined || !this.hasBudget(rest.standby.reason, now)) continue;
      rest.close();
      super.refresh(now);
    }
  }

  protected override mayRecover(now: number): boolean {
    const order = this.tracker.standing(now);
    return !(order?.standbyMs !== undefined && order.standbyMs > 0 && this.#breakerOf(order) === this.breaker);
  }

  /** A rest that is over, whoever has ended it since the last look: what counts between two rests begins anew. */
  #detectRecovery(): void {
    const isResting = this.breaker.standby !== undefined;
    if (this.#wasOpen && !isResting) this.tracker.recovered();
    this.#wasOpen = isResting;
  }

  /** A rest whose time is over goes on while a limit still holds. */
  #extendByLimit(rest: CircuitBreaker, now: number): void {
    const order = this.tracker.standing(now);
    if (order?.standbyMs !== undefined && order.standbyMs > 0 && rest === this.#breakerOf(order)) {
      this.#apply(order, now);
    }
  }

  /** Sets the model or its provider aside as the counting asks for. */
  #apply(order: DeactivationDecision | undefined, now: number): void {
    if (order === undefined) return;
    const { reason, standbyMs, doubles, metadata } = order;
    const { cooldownMs } = this.#facts;
    const rest = this.#breakerOf(order);
    if (standbyMs === undefined && rest.standby !== undefined) return; // several requests learn it at once
    const transition = rest === this.breaker && standbyMs === undefined
      ? this.deactivate(reason, now, doubles === true)
      : doubles
      ? rest.openForCooldown(reason, now, cooldownMs)
      : rest.open(reason, now, standbyMs ?? cooldownMs);
    if (transition !== undefined) {
      this.#facts.onTransition(metadata === undefined ? transition : { ...transition, metadata });
    }
    this.#detectRecovery();
  }

  #breakerOf({ scope }: DeactivationDecision): CircuitBreaker {
    return scope === "provider" ? this.#facts.providerBreaker : this.#facts.poolBreaker;
  }
}

function isOver({ standby }: CircuitBreaker, now: number): boolean {
  return standby !== undefined && standby.until <= now;
}

/** Whether the provider was on trial, and nothing else. */
function isProviderTrialRequest({ halfOpen }: Ticket): boolean {
  return halfOpen.length > 0 && halfOpen.every(({ owner }) => owner.model === undefined);
}
