/**
 * Step 3: eligibility of a pool's models, by operation, delivery mode, features of the request, and routing
 * constraints.
 * @module
 */
import { NoActiveModelError, UnsupportedRequestError } from "../errors.ts";
import type { Member, ModelEntry, Pool, ProviderInstance, Registry } from "../registry/registry.ts";
import type { Load } from "../state/model/usage.ts";
import type { Affinity } from "./affinity.ts";
import type { RoutedRequest } from "./request.ts";
import { deliveryModes } from "../capability/operations.ts";
import type { CapabilityPath, Delivery, UploadedFile } from "../contracts/provider.ts";
import type { Operation } from "./operation.ts";
import { requireResult } from "../util/once.ts";

/** A request, its pool, and the registry. */
export interface EligibilityContext extends DeliveryContext {
  readonly request: RoutedRequest;
  readonly registry: Registry;
  /** The models that its routing constraints choose; undefined if they choose none. */
  readonly choice?: ModelChoice | undefined;
  /** Replaces plain application of the filters, for a dry run. */
  readonly applyFilter?: ApplyFilter;
}

/** Applies one filter. The reason describes why it excludes models. */
export type ApplyFilter = (
  reason: "delivery" | "features" | "route" | "interchangeable" | "credentials",
  members: readonly Member[],
  filter: (members: readonly Member[]) => readonly Member[],
) => readonly Member[];

/** Returns the preferred candidates, at least one; the strategy selects among them. */
export type Prefer = (candidates: readonly Member[]) => readonly Member[];

/** The models of a pool that routing constraints choose. */
export interface ModelChoice {
  /**
   * Returns the members that satisfy the constraints.
   *
   * @throws {UnsupportedRequestError} If none does, or if a constraint names no model of the pool.
   */
  choose(members: readonly Member[], load: Load): readonly Member[];
  /** Whether the names in the constraints allow a member. */
  isNamed(member: Member): boolean;
  /** Returns the requested order; undefined if there is none. */
  preferenceAmong(members: readonly Member[]): Prefer | undefined;
}

/** The eligible models. */
export interface Eligibility {
  /** At least one, in the pool's order. */
  readonly eligible: readonly Member[];
  /** Estimated usage of the request. */
  readonly load: Load;
  /** Whether the request has routing constraints, or prefers some models: its outcome then does not affect the pool. */
  isConstrained: boolean;
  /** Keys of the caller, by the id of the provider whose requests they authorize; undefined if no provider takes any. */
  readonly callerKeys?: ReadonlyMap<string, string>;
  /** The request's `order`, or the models that have all of its features; undefined if only the strategy decides. */
  readonly prefer?: Prefer | undefined;
}

const noFiles: readonly UploadedFile[] = [];

const applyPlainly: ApplyFilter = (_reason, members, filter) => filter(members);

/**
 * Determines the eligible models.
 *
 * @param context The request, its pool, and the registry.
 * @throws {UnsupportedRequestError} `unsupported_by_pool` if there is none; `invalid_value` for a constraint that names
 * no model of the pool.
 */
export function eligibility(context: EligibilityContext): Eligibility {
  const { request, pool, choice, applyFilter } = context;
  const { operation, body, files = noFiles, original, scopes } = request;
  const apply = applyFilter ?? applyPlainly;
  const delivering = applyFilter === undefined
    ? filterByDelivery(context)
    : apply("delivery", pool.members, () => filterByDelivery(context));
  const needs = operation.measureNeeds(body, files);
  const fees = original?.findFees(delivering);
  const priced = fees === undefined ? needs.load : { ...needs.load, units: { ...needs.load.units, ...fees } };
  const load = scopes === undefined ? priced : { ...priced, scopes };
  const nativeSpeakers = original === undefined
    ? delivering
    : apply("features", delivering, (members) => original.withDialect(members));
  const findLack = (model: ModelEntry) => {
    const lack = needs.findLack(model.info);
    if (lack !== undefined || operation.selectApi?.(body, model) === undefined) return lack;
    return original?.isNativeTo(model) ? undefined : operation.findApiLack?.(body, model);
  };
  const supporting = applyFilter === undefined
    ? filterByRequest(nativeSpeakers, findLack)
    : apply("features", nativeSpeakers, (members) => filterByRequest(members, findLack));
  const chosen = choice === undefined
    ? supporting
    : apply("route", supporting, (members) => choice.choose(members, load));
  original?.checkPinned(chosen);
  const prefer = choice?.preferenceAmong(delivering);
  const eligible = operation.interchangeable === undefined ? chosen : apply("interchangeable", chosen, (members) => {
    const named = choice === undefined ? delivering : delivering.filter((member) => choice.isNamed(member));
    const [first = members[0]!] = prefer?.(named) ?? named;
    return keepInterchangeable(members, first, request);
  });
  const preferNative = prefer === undefined ? original?.findPreference(eligible) : undefined;
  const isConstrained = choice !== undefined || preferNative !== undefined;
  return { eligible, load, isConstrained, prefer: prefer ?? preferNative };
}

/**
 * Keeps models that are interchangeable with the first one, which is determined independently of state and this
 * request.
 */
function keepInterchangeable(
  members: readonly Member[],
  first: Member,
  { operation, body }: RoutedRequest,
): readonly Member[] {
  const interchangeable = operation.interchangeable!(members, first, body);
  if (interchangeable.length > 0) return interchangeable;
  throw new UnsupportedRequestError(
    `No model that can take this request is interchangeable with "${first.model.name}", which the pool asks first`,
    { code: "unsupported_by_pool" },
  );
}

/** The operation and delivery mode of a request, and its pool. */
export interface DeliveryContext {
  readonly request: Pick<RoutedRequest, "operation" | "delivery">;
  readonly pool: Pool;
  /** To detect providers that may have caused an empty pool. */
  readonly registry: Pick<Registry, "instances">;
}

/** Time after which providers that could not list their models are asked again, ms. */
export const unlistedRetryMs = 5_000;

/**
 * Keeps the members with a leaf of the operation and delivery mode. Computed once per pool.
 *
 * @param context The request and its pool.
 * @throws {UnsupportedRequestError} If no member is left.
 * @throws {NoActiveModelError} If there is none because a provider could not list its models.
 */
export function filterByDelivery({ request, pool, registry }: DeliveryContext): readonly Member[] {
  const { operation, delivery } = request;
  const found = pool.membersByDelivery.get(operation.name);
  let delivering = found?.[delivery];
  if (delivering === undefined) {
    delivering = pool.members.filter(({ model }) =>
      model.delivers(delivery) && performs(model, operation) &&
      model.leaves.some((leaf) => isServed(leaf, request) && isSupported(model, leaf, delivery))
    );
    pool.membersByDelivery.set(operation.name, { ...found, [delivery]: delivering });
  }
  if (delivering.length > 0) return delivering;
  const hint = pool.members.length === 0 ? unlistedHint(registry.instances) : "";
  if (hint !== "") {
    throw new NoActiveModelError(`${emptyPool(pool)}${hint}`, { retryAfterMs: unlistedRetryMs, reasons: {} });
  }
  const message = pool.members.length === 0
    ? emptyPool(pool)
    : `No model of the pool "${pool.name}" does ${operation.name} with ${delivery} delivery`;
  throw new UnsupportedRequestError(message + adviceFor(operation, pool), {
    code: "unsupported_by_pool",
    param: "model",
  });
}

function emptyPool({ name }: Pool): string {
  return `No model is in the pool "${name}"`;
}

/** Whether the operation serves the leaf in the delivery mode. */
function isServed(leaf: CapabilityPath, { operation, delivery }: DeliveryContext["request"]): boolean {
  return operation.serves(leaf) && deliveryModes(leaf).includes(delivery);
}

/** Whether the provider supports the operation. */
function performs({ instance: { provider } }: ModelEntry, { name }: Operation): boolean {
  return name === "chat" || provider === undefined || provider.operations?.includes(name) === true;
}

/**
 * Whether the provider supports the leaf. It is not queried about a leaf that only the configuration assigns to the
 * model.
 */
function isSupported({ info, instance }: ModelEntry, leaf: CapabilityPath, delivery: Delivery): boolean {
  const queriedFacts = instance.queried?.get(info.id);
  if (queriedFacts === undefined || queriedFacts.leaves?.includes(leaf) === false) return true;
  try {
    return requireResult(instance.provider!.supports(info.id, leaf, delivery)) !== false;
  } catch {
    return true;
  }
}

/** Names providers that could not list their models, which may explain an empty pool; empty if there are none. */
export function unlistedHint(instances: readonly ProviderInstance[]): string {
  const problems = instances.flatMap(({ entry, listProblem }) => {
    return listProblem === undefined ? [] : `the provider "${entry.id}" ${listProblem}`;
  });
  return problems.length === 0 ? "" : `: ${problems.join("; ")}`;
}

/** Advice for a caller of a pool with other capabilities. */
function adviceFor({ name, serves }: Operation, { members, capability }: Pool): string {
  const leaves = members.length === 0 ? [capability ?? []].flat() : members.flatMap(({ model }) => model.leaves);
  if (leaves.length === 0 || leaves.some(serves)) return "";
  return `. Ask for a pool or capability that serves ${name}${name === "chat" ? ', such as "chat-completion"' : ""}`;
}

/** Maximum number of models in an error message. */
const maxNamed = 10;

/** How a lack of context begins. Clients recognize its code, and shorten their conversation. */
const roomLack = /^room for .{0,40}tokens$/;

/**
 * Keeps the eligible members.
 *
 * @param members Members that support the operation.
 * @param lackOf Returns what a model lacks for the request; undefined if it is eligible.
 * @throws {UnsupportedRequestError} `context_length_exceeded` or `unsupported_by_pool` if no member is left. The message
 * contains what each model lacks.
 */
export function filterByRequest(
  members: readonly Member[],
  lackOf: (model: ModelEntry) => string | undefined,
): readonly Member[] {
  let areEligible = true;
  for (const { model } of members) areEligible &&= lackOf(model) === undefined;
  if (areEligible) return members;
  const eligible = members.filter(({ model }) => lackOf(model) === undefined);
  if (eligible.length > 0) return eligible;
  const lacks = members.slice(0, maxNamed).map(({ model }) => `"${model.name}" has no ${lackOf(model)}`);
  const isTooLong = members.every(({ model }) => roomLack.test(lackOf(model) ?? ""));
  const rest = members.length > maxNamed ? ` and ${members.length - maxNamed} more likewise` : "";
  throw new UnsupportedRequestError(
    `No model of the pool can take this request: ${[...new Set(lacks)].join(", ")}${rest}`,
    { code: isTooLong ? "context_length_exceeded" : "unsupported_by_pool" },
  );
}

/** A request, its pool, and the eligible models. */
export interface RequestPlan extends Eligibility {
  readonly request: RoutedRequest;
  readonly pool: Pool;
  /** Prefers the model that serves the conversation; undefined in pools without affinity. */
  readonly affinity?: Affinity | undefined;
}
