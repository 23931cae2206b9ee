/**
 * Models and pool members for tests of single pipeline steps, without a mesh.
 * @module
 */
import type { ChatCompletionRequest } from "../../src/contracts/openai.ts";
import type { ModelInfo } from "../../src/contracts/provider.ts";
import type { SelectionStrategy } from "../../src/contracts/rotation.ts";
import { filterByRequest } from "../../src/pipeline/eligibility.ts";
import { chatLacks } from "../../src/pipeline/operations/_chat_lacks.ts";
import { measureRequest, type RequestSize } from "../../src/pipeline/request_size.ts";
import type { Member, ModelEntry, Pool, ProviderInstance } from "../../src/registry/registry.ts";
import { consecutiveFailures } from "../../src/rotation/policy.ts";
import { ReportedRotations } from "../../src/rotation/reported_rotations.ts";
import type { ProviderEntry, RoutingSettings } from "../../src/config/settings/settings.ts";
import { fakeClock } from "../../src/runtime/test.ts";
import type { UsageTracker } from "../../src/state/model/usage_tracker.ts";
import { UsageTrackers } from "../../src/state/model/usage_trackers.ts";
import { ModelState } from "../../src/state/model/model_state.ts";
import { CircuitBreaker } from "../../src/state/breaker/circuit_breaker.ts";

/** The capability of a chat model. */
export const chatLeaf = "generation.text-generation.chat-completion";

/** Returns a model of the provider `acme`. */
export function createModel(name: string, info: Partial<ModelInfo> = {}, entry: Partial<ModelEntry> = {}): ModelEntry {
  return {
    name,
    info: { id: name, ...info },
    leaves: [chatLeaf],
    pooled: true,
    delivers: () => true,
    weight: 1,
    instance: { vendor: "acme", entry: { id: "acme" } } as ProviderInstance,
    ...entry,
  };
}

/** The breakers of a member: of its pool, across pools, and of its provider. */
export interface MemberBreakers {
  readonly own: CircuitBreaker;
  readonly model: CircuitBreaker;
  readonly provider: CircuitBreaker;
}

/** Returns the tracker of a model without limits. */
export function createTracker(info: ModelInfo, retryLimit = 1): UsageTracker {
  const routing = { deactivation: { retryLimit }, recovery: {} } as unknown as RoutingSettings;
  const provider = { id: "acme", apiKeys: [] } as unknown as ProviderEntry;
  return new UsageTrackers({}, fakeClock()).getTracker({ pool: "chat", name: info.id, info, provider, routing });
}

/** Returns a member that one failure puts in standby for 1 s, and its breakers. */
export function createMember(
  model: ModelEntry,
  provider: CircuitBreaker = new CircuitBreaker({ provider: "acme" }),
): Member & { breakers: MemberBreakers } {
  const owner = { model: model.name, provider: "acme" };
  const breakers = { own: new CircuitBreaker({ pool: "chat", ...owner }), model: new CircuitBreaker(owner), provider };
  const state = new ModelState({
    name: model.name,
    provider: "acme",
    weight: 1,
    poolBreaker: breakers.own,
    modelBreaker: breakers.model,
    providerBreaker: provider,
    cooldownMs: 1000,
    policy: consecutiveFailures({ retryLimit: 1, errorCodes: new Set() }),
    onTransition: () => {},
    tracker: createTracker(model.info),
  });
  return { model, state, breakers };
}

/** Returns the pool `chat` of some models. */
export function createPool(
  models: readonly ModelEntry[],
  strategies: Partial<Pick<Pool, "strategy" | "fallback">> = {},
): Pool {
  const first: SelectionStrategy = { select: ([candidate]) => candidate, score: () => 0 };
  return {
    name: "chat",
    capability: chatLeaf,
    members: models.map((model) => createMember(model)),
    routing: { modelPriority: [], providerPriority: [] } as unknown as Pool["routing"],
    strategyId: "custom",
    strategy: first,
    listed: true,
    rotations: new ReportedRotations(),
    membersByDelivery: new Map(),
    ...strategies,
  };
}

/** Returns the names of members, in order. */
export function listNames(members: readonly Member[]): string[] {
  return members.map(({ model }) => model.name);
}

/** Filters members as for a chat request. */
export function filterChat(
  members: readonly Member[],
  body: ChatCompletionRequest,
  size: RequestSize = measureRequest(body),
): readonly Member[] {
  const lackOf = chatLacks(body, size);
  return filterByRequest(members, ({ info }) => lackOf(info));
}
