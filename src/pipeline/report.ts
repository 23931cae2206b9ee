/**
 * What an answer took: the one place where the engine takes usage from a provider.
 * @module
 */
import { notifySafely } from "../observe/notify.ts";
import type { Member } from "../registry/registry.ts";
import type { Load, Usage } from "../state/usage.ts";
import { costInNanoUsd } from "../util/cost.ts";
import type { RouteDeps } from "./deps.ts";
import type { RoutedRequest } from "./request.ts";
import type { AnswerUsage } from "./routed.ts";

/** What a call was made for. */
interface ReportContext {
  readonly request: RoutedRequest;
  /** What it was estimated to take. */
  readonly load: Load;
  readonly deps: RouteDeps;
}

/**
 * Takes the usage of an answer, and reports it to the provider with its cost, where that is known. What the provider
 * does not say is estimated where usage counts.
 *
 * @param member The model that answered.
 * @param answer What its provider says of the answer, and what the answer says.
 * @param context The call.
 * @returns Numbers that can be true; left out where they are unknown.
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
