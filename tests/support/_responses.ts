/**
 * Parses responses of `/v1/responses`.
 * @module
 */
import { assertEquals } from "@std/assert";
import { assertMatchesSchema } from "./schema.ts";

/** An event of a stream. */
export interface ResponseEvent {
  readonly type: string;
  readonly sequence_number: number;
  readonly [key: string]: unknown;
}

/**
 * Returns the events of a stream, after checking names, sequence numbers and the API's schema.
 *
 * @param text The complete stream.
 */
export function parseEvents(text: string): ResponseEvent[] {
  const events = text.split("\n\n").slice(0, -1).map((event) => {
    const [, name, data] = /^event: (\S+)\ndata: (.+)$/.exec(event)!;
    const value: ResponseEvent = JSON.parse(data!);
    assertEquals(value.type, name);
    return value;
  });
  assertEquals(events.map(({ sequence_number }) => sequence_number), events.map((_, index) => index));
  for (const event of events) assertMatchesSchema("ResponseStreamEvent", withKnownCode(event));
  return events;
}

/** Returns the types of events. */
export function listTypes(events: readonly ResponseEvent[]): string[] {
  return events.map(({ type }) => type);
}

/** Replaces the error code of an interrupted stream, which is not in the API's schema. */
function withKnownCode(event: ResponseEvent): ResponseEvent {
  if (event.type !== "response.failed") return event;
  const response = event.response as { error: object };
  return { ...event, response: { ...response, error: { ...response.error, code: "server_error" } } };
}
