/**
 * Step 3: the models of a pool that can take a request, by its operation and delivery, by what it asks of a model, and by
 * its own routing constraints.
 * @module
 */
import { UnsupportedRequestError } from "../errors.ts";
import type { Member, Registry } from "../registry/registry.ts";
import type { Load } from "../state/usage.ts";
import { type DeliveryContext, filterByDelivery } from "./filter_by_delivery.ts";
import { filterByRequest } from "./filter_by_request.ts";
import type { RoutedRequest } from "./request.ts";

/** A request, its pool, and what exists. */
export interface EligibilityContext extends DeliveryContext {
  readonly request: RoutedRequest;
  readonly registry: Registry;
  /** What its routing constraints choose; undefined where they choose no models. */
  readonly choice?: ModelChoice | undefined;
  /** Applies the filters in place of plain calls: for a dry run. */
  readonly applyFilter?: ApplyFilter;
}

/** Applies one filter; the reason stands for the models that it leaves out. */
export type ApplyFilter = (
  reason: "delivery" | "features" | "route" | "interchangeable",
  members: readonly Member[],
  filter: (members: readonly Member[]) => readonly Member[],
) => readonly Member[];

/** Of candidates, at least one, those that come first; the strategy chooses among them. */
export type Prefer = (candidates: readonly Member[]) => readonly Member[];

/** What a request's routing constraints choose among the models of its pool. */
export interface ModelChoice {
  /**
   * The models that they leave.
   *
   * @throws {UnsupportedRequestError} When none is left, or a constraint names none of the pool's models.
   */
  choose(members: readonly Member[], load: Load): readonly Member[];
  /** Whether their names leave a model. */
  isNamed(member: Member): boolean;
  /** The order they give; undefined where they give none. */
  preferenceAmong(members: readonly Member[]): Prefer | undefined;
}

/** The models that can take a request. */
export interface Eligibility {
  /** At least one, in the pool's order. */
  readonly eligible: readonly Member[];
  /** What the request will take, by estimate. */
  readonly load: Load;
  /** The request has routing constraints: its outcome means nothing for the pool. */
  readonly isConstrained: boolean;
  /** By the request's `order`; undefined when it gives none and the strategy alone decides. */
  readonly prefer?: Prefer | undefined;
}

const applyPlainly: ApplyFilter = (_reason, members, filter) => filter(members);

/**
 * Finds the models that can take a request.
 *
 * @param context The request, its pool, and what exists.
 * @throws {UnsupportedRequestError} `unsupported_by_pool` when none is left, `invalid_value` for a constraint that names
 * none of the pool's models.
 */
export function eligibility(context: EligibilityContext): Eligibility {
  const { request, pool, choice, applyFilter = applyPlainly } = context;
  const { operation, body, files = [], client, original } = request;
  const delivering = applyFilter("delivery", pool.members, () => filterByDelivery(context));
  const needs = operation.needsOf(body, files);
  const load = client?.budget === undefined ? needs.load : { ...needs.load, budget: client.budget };
  const nativeSpeakers = original === undefined
    ? delivering
    : applyFilter("features", delivering, (members) => original.withDialect(members));
  const supporting = applyFilter("features", nativeSpeakers, (members) => filterByRequest(members, needs));
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

/** What can stand in for the model that is asked first, whichever of them are active or can take this very request. */
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
