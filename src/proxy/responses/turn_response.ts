/**
 * The response to a turn of a stored conversation.
 * @module
 */
import { createResponseId, formatStored } from "../../dialects/responses/stored_response.ts";
import type { JsonObject } from "../../contracts/openai.ts";
import type { PlainResponse } from "../../contracts/shell.ts";
import type { Exchange } from "../exchange.ts";
import type { Turn, TurnWork } from "./conversation_turn.ts";

/** Performs a request. */
export type Respond = (work: TurnWork, exchange: Exchange) => Promise<PlainResponse>;

/** The parts of a response that the memory determines. */
export class TurnResponse {
  readonly #turn: Turn;
  readonly id: string;
  readonly #createdAt: number;

  /** @param now Wall clock, ms. */
  constructor(turn: Turn, now: number) {
    this.#turn = turn;
    this.id = createResponseId(now);
    this.#createdAt = Math.floor(now / 1000);
  }

  /** Members that replace those of the provider's response. */
  get members(): JsonObject {
    const { previousId, isStored, isBackground } = this.#turn;
    const members = { id: this.id, previous_response_id: previousId, store: isStored, background: isBackground };
    return isBackground ? { ...members, created_at: this.#createdAt } : members; // as in the state before it ended
  }

  /**
   * Stores a complete response.
   *
   * @returns The members that replace the provider's. `store` is false if it is not stored.
   */
  async end(response: JsonObject): Promise<JsonObject> {
    const { members, id } = this;
    const { memory, owner, input, ancestors, isStored } = this.#turn;
    if (!isStored) return members;
    const record = { version: 1, response: formatStored({ ...response, ...members }), input, ancestors } as const;
    return await memory.store({ owner, id }, record) ? members : { ...members, store: false };
  }
}
