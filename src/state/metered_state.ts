/**
 * What is known of one model in one pool where requests, tokens and money count.
 * @module
 */
import type { Headroom, StandbyReason } from "../contracts/rotation.ts";
import type { ApiKeyPool } from "./key_ring.ts";
import type { AdmissionDenial } from "./admission_denial.ts";
import type { CallReservation, DeactivationDecision, Load, Meter, RequestEnd } from "./meter.ts";
import { ModelState, type ModelStateFacts, type Outcome, type Ticket } from "./model_state.ts";
import type { OutputTokens } from "./output_sizes.ts";
import type { CircuitBreaker } from "./rest.ts";
import type { SharedLedger } from "./shared_ledger.ts";

/** A model that is set aside also for what it takes. */
export class MeteredState extends ModelState {
  readonly #facts: ModelStateFacts;
  override readonly ledger: SharedLedger;
  /** Counts what it takes. */
  readonly meter: Meter;
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
    this.meter = meter;
    this.keys = meter.keys;
    this.ledger = meter.ledger;
  }

  override get outputTokens(): OutputTokens {
    return this.meter.outputTokens;
  }

  get latencyMs(): number | undefined {
    return this.meter.latencyMs(this.#now);
  }

  get requests(): Headroom | undefined {
    return this.meter.requests(this.#now);
  }

  get tokens(): Headroom | undefined {
    return this.meter.tokens(this.#now);
  }

  override costOf(load: Load): number | undefined {
    return this.meter.costOf(load);
  }

  override denial(load: Load, now: number): AdmissionDenial | undefined {
    return this.meter.denial(load, now);
  }

  override spend(load: Load, now: number): CallReservation {
    const spending = this.meter.spend(load, now);
    this.onCount?.();
    return spending;
  }

  override refresh(now: number): void {
    this.#now = now;
    this.#notice(); // a rest of an earlier process may be over by now
    const { poolBreaker, providerBreaker } = this.#facts;
    for (const rest of [poolBreaker, providerBreaker]) if (isOver(rest, now)) this.#extend(rest, now);
    super.refresh(now);
    this.#notice();
  }

  override begin(now: number): Ticket {
    this.#notice();
    const ticket = super.begin(now);
    this.meter.begun();
    this.onCount?.();
    return ticket;
  }

  override sent(now: number): void {
    this.#apply(this.meter.sent(), now);
  }

  override review(now: number): void {
    this.#apply(this.meter.spent(), now);
  }

  override withdraw(ticket: Ticket, now: number): void {
    super.withdraw(ticket, now);
    this.meter.withdrawn();
    this.onCount?.();
  }

  override finish(ticket: Ticket, vote: Outcome, now: number, end: RequestEnd = {}): void {
    this.#notice();
    const order = this.meter.finished(vote, end, now);
    const isProviders = vote === "failure" && order?.scope === "provider" && isProviderTrialRequest(ticket);
    super.finish(ticket, isProviders ? "none" : vote, now, end); // that says nothing of the model
    this.#apply(order, now);
    this.#notice();
    this.onCount?.();
  }

  /**
   * Whether a rest is for money that is there by what is counted here: its limit is another one by now, or elsewhere.
   *
   * @param reason Why it rests.
   * @param now Monotonic ms.
   */
  hasMoney(reason: StandbyReason, now: number): boolean {
    const { budgetScopes = [], quota } = this.meter;
    const isBudgets = budgetScopes.some((purse) => purse.reason === reason) && !quota?.hasBudget;
    return isBudgets && this.meter.standing(now)?.reason !== reason;
  }

  /**
   * Ends a rest for money that is there.
   *
   * @param now Monotonic ms.
   */
  recheck(now: number): void {
    for (const rest of [this.#facts.poolBreaker, this.#facts.providerBreaker]) {
      if (rest.standby === undefined || !this.hasMoney(rest.standby.reason, now)) continue;
      rest.close();
      super.refresh(now);
    }
  }

  protected override mayRecover(now: number): boolean {
    const order = this.meter.standing(now);
    return !(order?.standbyMs !== undefined && order.standbyMs > 0 && this.#breakerOf(order) === this.breaker);
  }

  /** A rest that is over, whoever has ended it since the last look: what counts between two rests begins anew. */
  #notice(): void {
    const isResting = this.breaker.standby !== undefined;
    if (this.#wasOpen && !isResting) this.meter.recovered();
    this.#wasOpen = isResting;
  }

  /** A rest whose time is over goes on while a limit still holds. */
  #extend(rest: CircuitBreaker, now: number): void {
    const order = this.meter.standing(now);
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
    this.#notice();
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
