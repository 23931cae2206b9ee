/**
 * Responses whose work goes on in the background: the response object before there is one of a provider, and when there is
 * none in the end.
 *
 * Source: https://platform.openai.com/docs/guides/background
 * @module
 */
import type { JsonObject, OpenAiError } from "../../contracts/openai.ts";
import { formatFailure } from "./conventions.ts";
import { formatResponse, type ResponsesHead } from "./_response.ts";

/** The events that end a response, by its status. A cancelled one has no event of its own. */
const lastEvents: ReadonlyMap<unknown, string> = new Map([
  ["completed", "response.completed"],
  ["incomplete", "response.incomplete"],
  ["failed", "response.failed"],
  ["cancelled", "response.incomplete"],
]);

/** Formats a response that has been accepted. */
export function formatQueued(body: JsonObject, head: ResponsesHead): JsonObject {
  return { ...formatResponse(body, head), status: "queued" };
}

/** Formats a response that has failed. */
export function formatFailed(response: JsonObject, error: OpenAiError): JsonObject {
  return { ...response, status: "failed", error: formatFailure({ status: 500, error }) };
}

/** Whether the work on a response goes on. */
export function isUnderWay({ status }: JsonObject): boolean {
  return status === "queued" || status === "in_progress";
}

/** The type of the event that ends a response. */
export function findLastEvent({ status }: JsonObject): string {
  return lastEvents.get(status) ?? "response.failed";
}
