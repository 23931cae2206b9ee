/**
 * The items of conversations as text, so that no number or escape of a client's JSON changes, and nothing is encoded twice.
 * @module
 */
import type { JsonObject } from "../../contracts/openai.ts";
import { isUnreadable } from "../../dialects/responses/stored_response.ts";
import { editMembers, memberText } from "../../util/json_members.ts";

/**
 * The items of an input as JSON, without the brackets of an array; undefined if it is invalid.
 *
 * @param text The request, a JSON object.
 * @param input Its member `input`.
 */
export function formatInput(text: string, input: unknown): string | undefined {
  if (input === undefined || input === null) return "";
  if (Array.isArray(input)) return memberText(text, "input").slice(1, -1).trim();
  return typeof input === "string" ? JSON.stringify({ type: "message", role: "user", content: input }) : undefined;
}

/**
 * The output of a response as items of the next input, without the brackets of an array.
 *
 * @param output Its items.
 * @param isUnstored Whether its provider has not stored it: reasoning that can only be referred to is then left out.
 */
export function formatOutput(output: readonly unknown[], isUnstored: boolean): string {
  return JSON.stringify(isUnstored ? output.filter((item) => !isUnreadable(item)) : output).slice(1, -1);
}

/** Joins lists of items. */
export function joinItems(...lists: readonly string[]): string {
  return lists.filter((items) => items !== "").join(",");
}

/**
 * Replaces the input of a request.
 *
 * @param text The request, a JSON object.
 * @param items The new input, without the brackets of an array.
 * @param edits Other members to change; undefined removes one.
 */
export function replaceInput(text: string, items: string, edits: JsonObject): string {
  const others = editMembers(text, { ...edits, input: undefined });
  return `${others.slice(0, -1)}${others === "{}" ? "" : ","}"input":[${items}]}`;
}
