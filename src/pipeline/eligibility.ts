/**
 * Step 3: eligibility of a pool's models, by operation, delivery mode, features of the request, and routing
 * constraints.
 * @module
 */
import { UnsupportedRequestError } from "../errors.ts";
import type { Member, Registry } from "../registry/registry.ts";
import type { Load } from "../state/model/usage.ts";
import { type DeliveryContext, filterByDelivery } from "./filter_by_delivery.ts";
import { filterByRequest } from "./filter_by_request.ts";
import type { RoutedRequest } from "./request.ts";

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
  reason: "delivery" | "features" | "route" | "interchangeable",
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
  /** Whether the request has routing constraints: its outcome then does not affect the pool. */
  readonly isConstrained: boolean;
  /** The request's `order`; undefined if only the strategy decides. */
  readonly prefer?: Prefer | undefined;
}

const applyPlainly: ApplyFilter = (_reason, members, filter) => filter(members);

/**
 * Determines the eligible models.
 *
 * @param context The request, its pool, and the registry.
 * @throws {UnsupportedRequestError} `unsupported_by_pool` if there is none; `invalid_value` for a constraint that names
 * no model of the pool.
 */
export function eligibility(context: EligibilityContext): Eligibility {
  const { request, pool, choice, applyFilter = applyPlainly } = context;
  const { operation, body, files = [], client, original } = request;
  const delivering = applyFilter("delivery", pool.members, () => filterByDelivery(context));
  const needs = operation.measureNeeds(body, files);
  const priced = original?.hasFee ? { ...needs.load, hasFee: true as const } : needs.load;
  const load = client?.budget === undefined ? priced : { ...priced, budget: client.budget };
  const nativeSpeakers = original === undefined
    ? delivering
    : applyFilter("features", delivering, (members) => original.withDialect(members));
  const supporting = applyFilter("features", nativeSpeakers, (members) => {
    return filterByRequest(members, (model) => needs.findLack(original?.factsFor(model) ?? model.info));
  });
  const chosen = choice === undefined
    ? supporting
    : applyFilter("route", supporting, (members) => choice.choose(members, load));
  original?.checkPinned(chosen);
  const prefer = choice?.preferenceAmong(delivering);
  const eligible = operation.interchangeable === undefined
    ? chosen
    : applyFilter("interchangeable", chosen, (members) => {
      const named = choice === undefined ? delivering : delivering.filter((member) => choice.isNamed(member));
      const [first = members[0]!] = prefer?.(named) ?? named;
      return keepInterchangeable(members, first, request);
    });
  return { eligible, load, isConstrained: choice !== undefined, prefer };
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
