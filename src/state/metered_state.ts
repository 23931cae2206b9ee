/**
 * What is known of one model in one pool where requests, tokens and money count.
 * @module
 */
import type { Headroom, StandbyReason } from "../contracts/rotation.ts";
import type { KeyRing } from "./key_ring.ts";
import type { AdmissionDenial } from "./admission_denial.ts";
import type { Load, Meter, RequestEnd, Spending, StandbyOrder } from "./meter.ts";
import { ModelState, type ModelStateFacts, type Ticket, type Vote } from "./model_state.ts";
import type { OutputSizes } from "./output_sizes.ts";
import type { Rest } from "./rest.ts";
import type { SharedLedger } from "./shared_ledger.ts";

/** A model that is set aside also for what it takes. */
export class MeteredState extends ModelState {
  readonly #facts: ModelStateFacts;
  override readonly ledger: SharedLedger;
  /** Counts what it takes. */
  readonly meter: Meter;
  /** Called whenever something was counted. */
  onCount?: () => void;
  override readonly keys: KeyRing | undefined;
  #hasRested = false;
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

  override get outputs(): OutputSizes {
    return this.meter.outputs;
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

  override spend(load: Load, now: number): Spending {
    const spending = this.meter.spend(load, now);
    this.onCount?.();
    return spending;
  }

  override settle(now: number): void {
    this.#now = now;
    this.#notice(); // a rest of an earlier process may be over by now
    const { own, providerRest } = this.#facts;
    for (const rest of [own, providerRest]) if (isOver(rest, now)) this.#extend(rest, now);
    super.settle(now);
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
    this.#obey(this.meter.sent(), now);
  }

  override review(now: number): void {
    this.#obey(this.meter.spent(), now);
  }

  override withdraw(ticket: Ticket, now: number): void {
    super.withdraw(ticket, now);
    this.meter.withdrawn();
    this.onCount?.();
  }

  override finish(ticket: Ticket, vote: Vote, now: number, end: RequestEnd = {}): void {
    this.#notice();
    const order = this.meter.finished(vote, end, now);
    const isProviders = vote === "failure" && order?.scope === "provider" && isProvidersTrial(ticket);
    super.finish(ticket, isProviders ? "none" : vote, now, end); // that says nothing of the model
    this.#obey(order, now);
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
    const { purses = [], limits } = this.meter;
    const isBudgets = purses.some((purse) => purse.reason === reason) && !limits?.hasBudget;
    return isBudgets && this.meter.standing(now)?.reason !== reason;
  }

  /**
   * Ends a rest for money that is there.
   *
   * @param now Monotonic ms.
   */
  recheck(now: number): void {
    for (const rest of [this.#facts.own, this.#facts.providerRest]) {
      if (rest.standby === undefined || !this.hasMoney(rest.standby.reason, now)) continue;
      rest.lift();
      super.settle(now);
    }
  }

  protected override mayRecover(now: number): boolean {
    const order = this.meter.standing(now);
    return !(order?.restMs !== undefined && order.restMs > 0 && this.#restOf(order) === this.own);
  }

  /** A rest that is over, whoever has ended it since the last look: what counts between two rests begins anew. */
  #notice(): void {
    const isResting = this.own.standby !== undefined;
    if (this.#hasRested && !isResting) this.meter.recovered();
    this.#hasRested = isResting;
  }

  /** A rest whose time is over goes on while a limit still holds. */
  #extend(rest: Rest, now: number): void {
    const order = this.meter.standing(now);
    if (order?.restMs !== undefined && order.restMs > 0 && rest === this.#restOf(order)) this.#obey(order, now);
  }

  /** Sets the model or its provider aside as the counting asks for. */
  #obey(order: StandbyOrder | undefined, now: number): void {
    if (order === undefined) return;
    const { reason, restMs, doubles, metadata } = order;
    const { cooldownMs } = this.#facts;
    const rest = this.#restOf(order);
    if (restMs === undefined && rest.standby !== undefined) return; // several requests learn it at once
    const transition = rest === this.own && restMs === undefined
      ? this.deactivate(reason, now, doubles === true)
      : doubles
      ? rest.beginCooldown(reason, now, cooldownMs)
      : rest.begin(reason, now, restMs ?? cooldownMs);
    if (transition !== undefined) {
      this.#facts.onTransition(metadata === undefined ? transition : { ...transition, metadata });
    }
    this.#notice();
  }

  #restOf({ scope }: StandbyOrder): Rest {
    return scope === "provider" ? this.#facts.providerRest : this.#facts.own;
  }
}

function isOver({ standby }: Rest, now: number): boolean {
  return standby !== undefined && standby.until <= now;
}

/** Whether the provider was on trial, and nothing else. */
function isProvidersTrial({ trials }: Ticket): boolean {
  return trials.length > 0 && trials.every(({ owner }) => owner.model === undefined);
}
