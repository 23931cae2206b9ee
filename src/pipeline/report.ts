/**
 * Determines the usage of responses, and reports it to providers.
 * @module
 */
import { notifySafely } from "../observe/notify.ts";
import type { Member } from "../registry/registry.ts";
import type { Usage } from "../state/counters/usage.ts";
import type { Load } from "../state/model/usage.ts";
import { costInNanoUsd } from "../util/cost.ts";
import type { RouteDeps } from "./deps.ts";
import type { RoutedRequest } from "./request.ts";
import type { AnswerUsage } from "./routed.ts";

/** A call and its estimate. */
interface ReportContext {
  readonly request: RoutedRequest;
  /** The estimated usage. */
  readonly load: Load;
  readonly deps: RouteDeps;
}

/**
 * Returns the usage of a response, and reports it with its cost, if known, to the provider. Usage that the provider
 * does not report is estimated.
 *
 * @param member The model that responded.
 * @param answer The reported usage.
 * @returns Plausible numbers; undefined if unknown.
 */
export function report(member: Member, answer: AnswerUsage, context: ReportContext): Usage {
  const { model: { info, instance } } = member;
  const { deps: { runtime, hub } } = context;
  const { request: { operation, body }, load } = context;
  const { quantities, tokens, isEstimated } = operation.readUsage(answer, { body, model: info, load });
  const { input, output } = quantities;
  const costNanoUsd = costInNanoUsd(quantities, info.pricing, runtime.clock.now());
  if (isEstimated) return { input, output, tokens, costNanoUsd, estimated: true };
  const costUsd = costNanoUsd && costNanoUsd / 1e9;
  notifySafely(
    () => instance.provider!.reportUsage({ model: info.id, tokensIn: input, tokensOut: output, costUsd }),
    () =>
      hub.trace({ severity: "error", component: "provider", message: `"${instance.entry.id}" took no usage report` }),
  );
  const cached = quantities.cached || undefined;
  return { input, output, cached, tokens, costNanoUsd };
}
