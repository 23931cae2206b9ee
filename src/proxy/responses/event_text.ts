/**
 * Events of a response as text. Every chunk of a stream consists of complete events.
 * @module
 */
import type { JsonObject } from "../../contracts/openai.ts";
import { isObject } from "../../util/is_object.ts";

/** An event that contains the response. */
interface HeadEvent extends JsonObject {
  readonly response: JsonObject;
}

/** Changes an event that contains the response. */
export type EventEdit = (event: HeadEvent, type: string) => Promise<JsonObject>;

/** Events that contain the response; all others are left as they are. */
const heads: ReadonlySet<string> = new Set([
  ...["created", "queued", "in_progress", "completed", "incomplete", "failed"].map((name) => `response.${name}`),
]);

/** A complete event. */
interface TextEvent {
  /** Undefined for a comment. */
  readonly type: string | undefined;
  readonly data: string;
  /** The event as received, with its line breaks. */
  readonly text: string;
}

/** Splits a chunk into its events. */
export function splitEvents(chunk: string): TextEvent[] {
  return chunk.split("\n\n").filter((block) => block !== "").map((block) => {
    const lines = block.split("\n");
    const named = lines.find((line) => line.startsWith("event: "))?.slice("event: ".length);
    const data = lines.filter((line) => line.startsWith("data: ")).map((line) => line.slice("data: ".length)).join(
      "\n",
    );
    return { type: data === "" ? undefined : named ?? findType(data), data, text: `${block}\n\n` };
  });
}

/** Formats an event. */
export function formatEvent(type: string, event: JsonObject): string {
  return `event: ${type}\ndata: ${JSON.stringify(event)}\n\n`;
}

/** Parses an event that contains the response; undefined for others. */
export function findHead({ type, data }: Pick<TextEvent, "type" | "data">): HeadEvent | undefined {
  if (type === undefined || !heads.has(type)) return undefined;
  const event: unknown = JSON.parse(data);
  return isObject(event) && isObject(event.response) ? event as HeadEvent : undefined;
}

/** Changes the events of a chunk that contain the response. */
export async function editEvents(chunk: string, edit: EventEdit): Promise<string> {
  let text = "";
  for (const event of splitEvents(chunk)) {
    const head = findHead(event);
    text += head === undefined ? event.text : formatEvent(event.type!, await edit(head, event.type!));
  }
  return text;
}

/** The type of an event without a name. */
function findType(data: string): string | undefined {
  try {
    const { type } = JSON.parse(data);
    return typeof type === "string" ? type : undefined;
  } catch {
    return undefined; // a provider's own event
  }
}
