/**
 * Responses of stored conversations: what the client receives names the stored response, and is stored before its last
 * event is sent.
 * @module
 */
import { toItemsName } from "../../dialects/responses/stored_response.ts";
import type { PlainResponse, PlainStream } from "../../contracts/shell.ts";
import { UnsupportedRequestError } from "../../errors.ts";
import { isStream } from "../../util/bytes.ts";
import { editMembers } from "../../util/json_members.ts";
import type { Exchange } from "../exchange.ts";
import type { Turn, TurnWork } from "./conversation_turn.ts";
import { type Respond, TurnResponse } from "./turn_response.ts";
import { editEvents, type EventEdit } from "./event_text.ts";

const decoder = new TextDecoder();

/** Events that end a response which can be continued. */
const lastEvents: ReadonlySet<string> = new Set(["response.completed", "response.incomplete"]);

/** Responds to a turn of a conversation. */
export async function respondToTurn(
  received: TurnWork & { readonly turn: Turn },
  { exchange, respond }: { readonly exchange: Exchange; readonly respond: Respond },
): Promise<PlainResponse> {
  const { turn, release } = received;
  if (release !== undefined) exchange.hold({ release });
  const response = new TurnResponse(turn, exchange.mesh.runtime.clock.now());
  const work = { ...received, itemsName: toItemsName(response.id) };
  exchange.isStoredTurn = turn.isStored || turn.previousId !== null;
  try {
    if (turn.isBackground) {
      const { respondInBackground } = await import("./background_response.ts");
      return await respondInBackground({ work, exchange, response, respond });
    }
    return await storeResponse(await respond(work, exchange), response);
  } catch (error) {
    nameOwnIndex(error, turn);
    throw error;
  }
}

/** An error about an item of the request names it by its index there, not by that in the whole conversation. */
function nameOwnIndex(error: unknown, { count, input }: Turn): void {
  if (!UnsupportedRequestError.isInstance(error)) return;
  const { message, param } = error;
  const index = Number(/^input\[(\d+)\]/.exec(param ?? "")?.[1]);
  const own = index - count;
  if (!(own >= 0 && own < input.length)) return;
  const rename = (text: string) => text.replaceAll(`input[${index}]`, `input[${own}]`);
  Object.assign(error, { message: rename(message), param: rename(param!) }); // the error has a record by its identity
}

/** Stores the response to a turn. */
async function storeResponse(received: PlainResponse, response: TurnResponse): Promise<PlainResponse> {
  const { status, headers, body } = received;
  if (status !== 200 || body === null) return received;
  const edit = createEdit(response);
  if (isStream(body)) return { ...received, body: new StoredStream(body, edit) };
  const text = typeof body === "string" ? body : decoder.decode(body);
  if (headers["content-type"] !== "application/json") return { ...received, body: await editEvents(text, edit) };
  return { ...received, body: editMembers(text, await response.end(JSON.parse(text))) };
}

function createEdit(response: TurnResponse): EventEdit {
  return async (event, type) => {
    const { response: received } = event;
    const members = lastEvents.has(type) ? await response.end(received) : response.members;
    const isFailed = type === "response.failed";
    return { ...event, response: { ...received, ...members, ...(isFailed ? { store: false } : {}) } };
  };
}

/** A stream whose events are edited. Nothing is read ahead. */
class StoredStream implements PlainStream {
  onStop?: (reason: unknown) => void;
  readonly #source: PlainStream;
  readonly #edit: EventEdit;

  constructor(source: PlainStream, edit: EventEdit) {
    this.#source = source;
    this.#edit = edit;
    source.onStop = (reason) => this.onStop?.(reason);
  }

  async read(): Promise<string | undefined> {
    const chunk = await this.#source.read();
    if (chunk === undefined) return undefined;
    return await editEvents(typeof chunk === "string" ? chunk : decoder.decode(chunk), this.#edit);
  }

  cancel(): void {
    this.#source.cancel();
  }
}
