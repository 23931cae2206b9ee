/**
 * The model and API key that serve each conversation, so that its later turns find the vendor's prompt cache.
 * @module
 */
import type { Clock } from "../../contracts/runtime.ts";
import { randomHex } from "../../util/request_id.ts";

/** Maximum number of conversations; beyond it, the one that was used least recently is forgotten. */
const maxConversations = 10_000;

/** A refreshed lifetime is shared once it is longer by this part of a lifetime. */
const refreshShare = 0.25;

/** Which model serves a conversation. */
interface ServingModel {
  /** Name of the model. */
  readonly model: string;
  /** Position of the API key in the provider's list; undefined for a provider with one key. */
  readonly keyIndex: number | undefined;
}

/** A conversation. Of two versions, the later one applies, in every process. */
export interface Conversation extends ServingModel {
  /** Lifetime after each use, ms. */
  readonly ttlMs: number;
  /** End of its lifetime, monotonic ms. */
  readonly until: number;
  /** Time of the change, wall-clock ms; later than that of the version before. */
  readonly version: number;
  /** The process that has changed it. */
  readonly by: string;
  /** End of its lifetime as other processes know it, monotonic ms. */
  readonly sharedUntil: number;
  /** Whether the model has served a request of it; otherwise one has only been sent to it. */
  readonly isServed: boolean;
}

/** The conversations of one mesh, by their hashes. */
export class Conversations {
  /** Id of this process. */
  readonly id: string = randomHex(16);
  /** Called when there is a change to share with other processes. */
  onChange: () => void = () => {};
  readonly #clock: Pick<Clock, "now" | "monotonic">;
  /** Least recently used first. */
  readonly #conversations = new Map<string, Conversation>();
  /** Hashes of conversations with a change to share. */
  readonly #changes = new Set<string>();

  constructor(clock: Pick<Clock, "now" | "monotonic">) {
    this.#clock = clock;
  }

  /** Number of conversations. */
  get size(): number {
    return this.#conversations.size;
  }

  /** Returns a conversation, unless its lifetime has ended. */
  find(hash: string): Conversation | undefined {
    const conversation = this.#conversations.get(hash);
    if (conversation === undefined || conversation.until > this.#clock.monotonic()) return conversation;
    this.#conversations.delete(hash);
    return undefined;
  }

  /** Sets which model serves a conversation, and begins its lifetime anew. */
  set(
    hash: string,
    { model, keyIndex, ttlMs, isServed }: ServingModel & Pick<Conversation, "ttlMs" | "isServed">,
  ): Conversation {
    const before = this.find(hash);
    const until = this.#clock.monotonic() + ttlMs;
    const isSame = before?.model === model && before.keyIndex === keyIndex;
    const isShared = isSame && until - before.sharedUntil <= ttlMs * refreshShare;
    const change = isSame
      ? { version: before.version, by: before.by }
      : { version: Math.max(this.#clock.now(), (before?.version ?? 0) + 1), by: this.id };
    const sharedUntil = isShared ? before.sharedUntil : until;
    const conversation = {
      model,
      keyIndex,
      ttlMs,
      until,
      sharedUntil,
      isServed: isServed || isSame && before.isServed,
      ...change,
    };
    this.#store(hash, conversation);
    if (!isShared) this.#share(hash);
    return conversation;
  }

  /** Removes a conversation that no model has served. */
  delete(hash: string): void {
    this.#conversations.delete(hash);
  }

  /** Marks every conversation as changed, to be shared again. */
  markAll(): void {
    for (const hash of this.#conversations.keys()) this.#changes.add(hash);
  }

  /** Takes changes that are to be shared, up to a number of them. */
  takeChanges(maxCount: number): readonly (readonly [hash: string, conversation: Conversation])[] {
    const changes: (readonly [string, Conversation])[] = [];
    for (const hash of this.#changes) {
      if (changes.length >= maxCount) break;
      this.#changes.delete(hash);
      const conversation = this.find(hash);
      if (conversation !== undefined) changes.push([hash, conversation]);
    }
    return changes;
  }

  /** Merges what another process knows of a conversation. */
  merge(hash: string, other: Conversation): void {
    const own = this.find(hash);
    const order = own === undefined ? 1 : other.version - own.version || compare(other.by, own.by);
    if (order < 0) return;
    this.#store(hash, order > 0 ? other : { ...other, until: Math.max(other.until, own!.until) });
  }

  #store(hash: string, conversation: Conversation): void {
    this.#conversations.delete(hash); // moves it to the end
    this.#conversations.set(hash, conversation);
    if (this.#conversations.size <= maxConversations) return;
    for (const oldest of this.#conversations.keys()) {
      this.#conversations.delete(oldest);
      this.#changes.delete(oldest);
      return;
    }
  }

  #share(hash: string): void {
    this.#changes.add(hash);
    this.onChange();
  }
}

function compare(first: string, second: string): number {
  return first === second ? 0 : first < second ? -1 : 1;
}
