/**
 * Shares between processes which model serves each conversation, by messages. Imported if a pool has affinity.
 * @module
 */
import type { Clock } from "../../contracts/runtime.ts";
import type { Shared } from "../../contracts/storage.ts";
import { isObject } from "../../util/is_object.ts";
import type { Conversation, Conversations } from "../model/conversations.ts";

const channel = "conversations";

/** Maximum number of conversations in one message. */
const maxPerMessage = 500;

/** A conversation in a message: hash, model, position of the API key, lifetime, what is left of it, version, process. */
type SharedConversation = readonly [string, string, number | null, number, number, number, string];

/** A message: conversations, and whether receivers publish theirs. */
interface Message {
  readonly from: string;
  readonly conversations: readonly SharedConversation[];
  readonly requests_all: boolean;
}

/** Dependencies of {@linkcode ConversationEvents}. */
interface ConversationEventsParts {
  readonly shared: Shared;
  readonly clock: Clock;
  /** Follows work that no caller awaits. */
  readonly follow: (work: Promise<void>) => void;
}

/** Publishes and receives changes of conversations. An unavailable store loses none: they are published after it. */
export class ConversationEvents {
  /** The conversations that are shared. */
  readonly conversations: Conversations;
  readonly #parts: ConversationEventsParts;
  #unsubscribe: (() => Promise<void>) | undefined;
  #isPublishing = false;
  #requestsAll = true;

  constructor(conversations: Conversations, parts: ConversationEventsParts) {
    this.conversations = conversations;
    this.#parts = parts;
    conversations.onChange = () => {
      if (this.#unsubscribe !== undefined) parts.follow(this.#publish());
    };
  }

  /** Subscribes, and publishes what is left to publish. Rejects while the store is unavailable. */
  async sync(): Promise<void> {
    this.#unsubscribe ??= await this.#parts.shared.subscribe(channel, (message) => this.#receive(message));
    await this.#publish();
  }

  /** Requests the conversations of all processes with the next message, and publishes those of this one. */
  markStale(): void {
    this.#requestsAll = true;
    this.conversations.markAll();
  }

  /** Ends the subscription. */
  async close(): Promise<void> {
    this.conversations.onChange = () => {};
    await this.#unsubscribe?.();
  }

  /** Publishes changes, one message at a time. Changes made meanwhile are in the next message. */
  async #publish(): Promise<void> {
    if (this.#isPublishing) return;
    this.#isPublishing = true;
    try {
      for (let text = this.#takeMessage(); text !== undefined; text = this.#takeMessage()) {
        await this.#parts.shared.publish(channel, text);
      }
    } catch (error) {
      this.markStale(); // a message may be lost
      throw error;
    } finally {
      this.#isPublishing = false;
    }
  }

  /** Returns the next message; undefined if there is nothing to publish. */
  #takeMessage(): string | undefined {
    const changes = this.conversations.takeChanges(maxPerMessage);
    if (changes.length === 0 && !this.#requestsAll) return undefined;
    const now = this.#parts.clock.monotonic();
    const message: Message = {
      from: this.conversations.id,
      conversations: changes.map(([hash, { model, keyIndex = null, ttlMs, until, version, by }]) =>
        [hash, model, keyIndex, ttlMs, until - now, version, by] as const
      ),
      requests_all: this.#requestsAll,
    };
    this.#requestsAll = false;
    return JSON.stringify(message);
  }

  #receive(text: string): void {
    const message = readMessage(text);
    if (message === undefined || message.from === this.conversations.id) return;
    const now = this.#parts.clock.monotonic();
    for (const shared of message.conversations) {
      if (isConversation(shared)) this.conversations.merge(shared[0], toConversation(shared, now));
    }
    if (!message.requests_all) return;
    this.conversations.markAll();
    this.#parts.follow(this.#publish());
  }
}

/** Times are relative to the message, since clocks of machines differ. */
function toConversation(
  [, model, keyIndex, ttlMs, leftMs, version, by]: SharedConversation,
  now: number,
): Conversation {
  const until = now + Math.min(leftMs, ttlMs);
  return { model, keyIndex: keyIndex ?? undefined, ttlMs, until, sharedUntil: until, isServed: true, version, by };
}

function readMessage(text: string): Message | undefined {
  try {
    const message: unknown = JSON.parse(text);
    return isObject(message) && Array.isArray(message.conversations) ? message as unknown as Message : undefined;
  } catch {
    return undefined; // of another release, or not a message
  }
}

function isConversation(value: unknown): value is SharedConversation {
  if (!Array.isArray(value)) return false;
  const [hash, model, keyIndex, ttlMs, leftMs, version, by] = value;
  return [hash, model, by].every((text) => typeof text === "string") && (keyIndex === null || isCount(keyIndex)) &&
    [ttlMs, leftMs, version].every((number) => Number.isFinite(number) && number >= 0);
}

function isCount(value: unknown): boolean {
  return Number.isInteger(value) && value as number >= 0;
}
