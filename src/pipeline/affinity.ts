/**
 * Prompt-cache affinity: the turns of a conversation go to the model and the API key that served its beginning, where the
 * vendor's prompt cache is. Imported with the first request of a pool with `affinity`.
 * @module
 */
import type { Member, Pool } from "../registry/registry.ts";
import type { KeyChoice } from "../state/limits/reserved_rate.ts";
import type { Permit } from "../state/model/permit.ts";
import type { Conversation, Conversations } from "../state/model/conversations.ts";
import type { Load } from "../state/model/usage.ts";
import { priceAt } from "../util/cost.ts";
import { hashConversation } from "./conversation_hash.ts";
import type { RouteDeps, RoutedRequest } from "./request.ts";

/** A strategy that places requests by their session, which is more precise than their prompt. */
const placingBySession = "mesh.session-stickiness.v1";

/**
 * Returns the affinity of a request; undefined if it has none: it is not a chat, or the pool's strategy is not a built-in
 * one, and decides alone.
 */
export function findAffinity(
  { request, pool }: { readonly request: RoutedRequest; readonly pool: Pool },
  { state: { conversations }, runtime }: Pick<RouteDeps, "state" | "runtime">,
): Affinity | undefined {
  const { routing: { affinity }, strategyId, name } = pool;
  if (affinity === undefined || conversations === undefined || !strategyId.startsWith("mesh.")) return undefined;
  const session = strategyId === placingBySession && request.session;
  const isPlacedBySession = Boolean(session);
  const hash = hashConversation(request, isPlacedBySession ? `${name}\n${session}` : name);
  if (hash === undefined) return undefined;
  return new Affinity(conversations, { hash, ttlMs: affinity.ttlMs, isPlacedBySession, now: runtime.clock.now() });
}

/** What an {@linkcode Affinity} is about. */
interface AffinityFacts {
  /** Hash of the conversation. */
  readonly hash: string;
  /** Lifetime of a conversation after each use, ms. */
  readonly ttlMs: number;
  /** Whether the strategy places the request by its session: only the API key is preferred then. */
  readonly isPlacedBySession: boolean;
  /** Wall-clock ms, for prices. */
  readonly now: number;
}

/**
 * The affinity of one request. A model counts as that of the conversation once it is selected, so that concurrent turns go
 * to the same one; if no model serves the request, the one before does again.
 */
export class Affinity {
  readonly #conversations: Conversations;
  readonly #facts: AffinityFacts;
  /** The conversation before this request. */
  readonly #before: Conversation | undefined;
  /** The conversation as this request has changed it. */
  #change: Conversation | undefined;
  /** The model at which it has placed the request last, if it was selected by that. */
  #placed: Member | undefined;

  constructor(conversations: Conversations, facts: AffinityFacts) {
    this.#conversations = conversations;
    this.#facts = facts;
    this.#before = conversations.find(facts.hash);
  }

  /** Returns the candidate that serves the conversation; undefined if there is none, or if its prompt cache saves nothing. */
  findMember(candidates: readonly Member[]): Member | undefined {
    const { hash, isPlacedBySession, now } = this.#facts;
    const conversation = isPlacedBySession ? undefined : this.#conversations.find(hash);
    const member = conversation && candidates.find(({ model }) => model.name === conversation.model);
    return this.#placed = member !== undefined && isCachedCheaper(member, now) ? member : undefined;
  }

  /** Returns `affinity` if that has placed the request at a model: another one may have answered first. */
  findCause(model: string | undefined): "affinity" | undefined {
    return model !== undefined && this.#placed?.model.name === model ? "affinity" : undefined;
  }

  /** Adds the API key of the conversation to the load of a model that serves it. */
  withKey(load: Load, { model, state: { tracker: { keys } } }: Member): Load {
    const conversation = keys && this.#conversations.find(this.#facts.hash);
    if (conversation === undefined || conversation.model !== model.name) return load;
    const { keyIndex: index = -1 } = conversation;
    const apiKey = keys!.keys[index];
    const preferredKey: KeyChoice | undefined = apiKey && { apiKey, index };
    return { ...load, preferredKey };
  }

  /** Records that the request is sent to a model with an API key. */
  select({ model: { name: model } }: Member, { keyIndex }: Pick<Permit, "keyIndex">): void {
    const { hash, ttlMs } = this.#facts;
    this.#change = this.#conversations.set(hash, { model, keyIndex, ttlMs, isServed: false });
  }

  /** Records that a model has served the request. */
  serve({ model: { name: model } }: Member, { keyIndex }: Pick<Permit, "keyIndex">): void {
    const { hash, ttlMs } = this.#facts;
    this.#conversations.set(hash, { model, keyIndex, ttlMs, isServed: true });
  }

  /** Records that no model has served the request: the model before serves the conversation again. */
  fail(): void {
    const { hash } = this.#facts;
    const current = this.#conversations.find(hash);
    const isOwn = current?.version === this.#change?.version && current?.by === this.#change?.by;
    if (current === undefined || current.isServed || !isOwn) return;
    if (this.#before === undefined) this.#conversations.delete(hash);
    else this.#conversations.set(hash, this.#before);
  }
}

/** Returns warnings of pools with affinity in which no model charges less for cached input. */
export function affinityWarnings(pools: readonly Pool[], now: number): string[] {
  return pools.flatMap(({ name, members, routing: { affinity } }) => {
    const isIdle = affinity !== undefined && members.length > 0 &&
      !members.some((member) => isCachedCheaper(member, now));
    return isIdle ? `pools.${name}.affinity: has no effect: no model charges less for input from a prompt cache` : [];
  });
}

/** Whether the model charges less for input that is read from its prompt cache; also if its prices are unknown. */
function isCachedCheaper({ model: { info: { pricing, assumedPricing } } }: Member, now: number): boolean {
  const price = priceAt(pricing ?? assumedPricing, now, 0);
  return price === undefined || (price.cached_input ?? Infinity) < (price.input ?? 0);
}
