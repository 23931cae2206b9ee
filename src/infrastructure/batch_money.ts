/**
 * The cost of a batch: reserved when it is created, settled when it ends.
 * @module
 */
import type { Batch } from "../contracts/infrastructure.ts";
import { BudgetExceededError } from "../errors.ts";
import type { DatedPricing } from "../contracts/provider.ts";
import type { Member, ModelEntry } from "../registry/registry.ts";
import { Reservation, takenElsewhereMs } from "../state/counters/reservation.ts";
import type { Budget } from "../state/limits/budget.ts";
import { reportUnpriced } from "../pipeline/charge.ts";
import { describeLeft } from "../util/budget_text.ts";
import { priceUsage, type Quantities } from "../util/cost.ts";
import { isObject } from "../util/is_object.ts";
import { batchOperationFor } from "./batch_operations.ts";
import { parseLineObject, readLines } from "./json_lines.ts";
import type { InfrastructureMesh, ObjectCall } from "./mesh.ts";

/** Maximum line length of a result file, bytes. */
const maxLineBytes = 64 * 1024 * 1024;

/** What a batch counts against, besides the budgets of the mesh. */
type Limited = Pick<ObjectCall, "scopes">;

/** Returns the budgets that apply to a model and a call. */
function listBatchBudgets({ state }: Member, call: Limited): readonly Budget[] {
  return state.tracker.listBudgets(call);
}

/**
 * Rejects what has no known price where a budget applies, except at models that cost nothing.
 *
 * @param what What it is, as the subject of a sentence.
 * @param members The models by which it may be paid: it is rejected if budgets apply to all of them.
 * @throws {BudgetExceededError} When it is rejected.
 */
export function refuseUnpriced(what: string, members: readonly Member[], call: Limited): void {
  const isPaid = (member: Member) => !member.state.tracker.isFree && listBatchBudgets(member, call).length > 0;
  if (members.length === 0 || !members.every(isPaid)) return;
  throw new BudgetExceededError(`${what} has no known price, which a budget requires (no_price)`);
}

/**
 * Reserves the estimated cost of a batch.
 *
 * @param cost Maximum cost of its requests, nano-dollars; null if unknown.
 * @returns Undefined when no budget is configured.
 * @throws {BudgetExceededError} When a budget does not suffice.
 */
export async function reserve(
  cost: number | null,
  { member, call, mesh }: { readonly member: Member; readonly call: ObjectCall; readonly mesh: InfrastructureMesh },
): Promise<Reservation | undefined> {
  const budgets = listBatchBudgets(member, call);
  if (budgets.length === 0) return undefined;
  const { model } = member;
  if (cost === null) {
    throw new BudgetExceededError(
      `A batch of the model "${model.name}" has no known price, which a budget requires (no_price)`,
    );
  }
  const wallTimeMs = mesh.runtime.clock.now();
  const full = budgets.filter((budget) => budget.resetsAt(wallTimeMs, cost) !== undefined);
  if (full.length > 0) throw exceeded(full, cost, { wallTimeMs, call });
  // no await between the check and the reservation
  const { runtime: { clock }, state: { sharedCounters } } = mesh;
  const reserved = member.state.tracker.reserveCost(cost, call);
  const reservation = new Reservation(reserved, { clock, sharedCounters });
  const { replication } = sharedCounters;
  const requests = replication === undefined ? [] : reservation.counterRequests();
  const denied = requests.length === 0 ? undefined : await replication!.reserve(requests, () => reservation.confirm());
  if (denied !== undefined) {
    reservation.settle({ costNanoUsd: 0 });
    throw exceeded(budgets, cost, { wallTimeMs, call });
  }
  reservation.confirm();
  return reservation;
}

/**
 * Makes sure that a batch still has what it reserved, before it is submitted.
 *
 * @throws {BudgetExceededError} When other processes have taken it, while this process was suspended.
 */
export async function keepReserved(reservation: Reservation): Promise<void> {
  if (await reservation.hold() === undefined) return;
  reservation.settle({ costNanoUsd: 0 });
  throw new BudgetExceededError("The remaining budget is too small for this batch", takenElsewhereMs);
}

function exceeded(
  budgets: readonly Budget[],
  cost: number,
  { wallTimeMs, call: { scopes } }: { readonly wallTimeMs: number; readonly call: Limited },
): BudgetExceededError {
  const ends = budgets.flatMap((budget) => budget.resetsAt(wallTimeMs, cost) ?? []);
  const waitMs = ends.length === 0 ? undefined : Math.max(0, Math.max(...ends) - wallTimeMs);
  const message = "The remaining budget is too small for this batch";
  return new BudgetExceededError(scopes?.describeBudget(message, wallTimeMs, describeLeft) ?? message, waitMs);
}

/** Charges a cost for which this process has no reservation. */
export function chargeBatch(
  costNanoUsd: number,
  member: Member,
  { scopes, mesh }: Limited & { readonly mesh: InfrastructureMesh },
): void {
  const { runtime: { clock }, state: { sharedCounters } } = mesh;
  const reserved = member.state.tracker.reserveCost(costNanoUsd, { scopes });
  new Reservation(reserved, { clock, sharedCounters }).settle({ costNanoUsd });
}

/** Usage of a batch. */
export interface BatchUsage {
  readonly input: number;
  readonly output: number;
  /** Cost at batch price, nano-dollars; undefined if unknown. */
  readonly costNanoUsd: number | undefined;
  /** Whether the cost is in part an estimate, since a price is unknown. */
  readonly estimated?: true;
}

/**
 * Returns the usage of a batch: the provider's total, else the sum over the lines of its results.
 *
 * @param mesh Its hub reports that a price is unknown.
 */
export async function measureBatchUsage(
  { member: { model }, endpoint, parts, content, wallTimeMs }: {
    readonly member: Member;
    readonly endpoint: string;
    /** The provider's batches. */
    readonly parts: readonly Batch[];
    /** Opens the content of the result files; undefined if there are none. */
    readonly content: (() => Promise<AsyncIterable<Uint8Array>>) | undefined;
    readonly wallTimeMs: number;
  },
  { hub }: Pick<InfrastructureMesh, "hub">,
): Promise<BatchUsage> {
  const { pricing } = model.info;
  const terms = batchTerms(model);
  const total = { input: 0, output: 0, costNanoUsd: 0 as number | undefined };
  let unpriced: string | undefined;
  const add = (quantities: Quantities) => {
    const { input, output, images = 0 } = quantities;
    total.input += input;
    total.output += output;
    if (input + output + images === 0) return;
    const charge = priceUsage({ ...quantities, ...terms }, pricing, wallTimeMs);
    unpriced ??= charge?.unpriced;
    const { costNanoUsd: sum } = total;
    total.costNanoUsd = charge === undefined || sum === undefined ? undefined : sum + charge.nanoUsd;
  };
  const sums = parts.map(({ usage }) => summedUsage(usage));
  const isSummable = pricing?.every(hasPlainPrices) !== false && sums.every((sum) => sum !== undefined);
  if (isSummable || content === undefined) { for (const charge of sums) if (charge !== undefined) add(charge); }
  else {
    const operation = batchOperationFor(endpoint, 0);
    const none = { body: {}, model: model.info, load: { input: 0, output: 0 } };
    for await (const line of readLines(await content(), maxLineBytes)) {
      const { response } = parseLineObject(line) as { response?: { body?: unknown } };
      if (isObject(response?.body)) add(operation.readUsage(operation.usageIn(response.body), none).quantities);
    }
  }
  if (unpriced === undefined) return total;
  reportUnpriced(model, unpriced, hub);
  return { ...total, estimated: true };
}

/** The price of a batch: that of its tier, or of standard calls times the discount. */
export function batchTerms(
  { instance, info, batch }: Pick<ModelEntry, "instance" | "info" | "batch">,
): Pick<Quantities, "tier" | "factor" | "region"> {
  const { region, infrastructure } = instance.provider ?? {};
  if (batch?.costDiscount !== undefined) return { tier: "default", factor: batch.costDiscount, region };
  if (info.pricing?.some(({ tier }) => tier === "batch")) return { tier: "batch", region };
  return { tier: "default", factor: infrastructure?.facts.batch?.priceFactor ?? 1, region };
}

const plainPrices: ReadonlySet<string> = new Set(["from", "tier", "input", "output", "cached_input"]);

/** Whether the total usage of a batch suffices: not if prices depend on single requests, or on what totals lack. */
function hasPlainPrices(row: DatedPricing): boolean {
  return Object.keys(row).every((name) => plainPrices.has(name));
}

/** Returns OpenAI's total usage of a batch, if present and not empty. */
function summedUsage(usage: unknown): Quantities | undefined {
  if (!isObject(usage)) return undefined;
  const { input_tokens: input, output_tokens: output, input_tokens_details: details } = usage;
  if (typeof input !== "number" || typeof output !== "number" || input + output === 0) return undefined;
  const cached = isObject(details) && typeof details.cached_tokens === "number" ? details.cached_tokens : undefined;
  return { input, output, cached };
}
