/**
 * Converts contents to chat messages. In Gemini, function results are parts of the user's turn and calls need no id; in
 * chat, results are separate messages.
 * @module
 */
import type { ChatMessage, ContentPart, JsonObject, ToolCall } from "../../contracts/openai.ts";
import { checkCount, invalid, missing } from "../../pipeline/check_body.ts";
import { appendAll } from "../../util/append_all.ts";
import { addDetails } from "../../util/reasoning_details.ts";
import { toCarriedState } from "./_carried.ts";
import { describePart } from "./_foreign_parts.ts";
import { OpenCalls } from "./_open_calls.ts";
import { checkParts, requireText, userPart } from "./_parts.ts";
import type { Position } from "./_position.ts";
import { toText } from "../../util/to_text.ts";

/** Output of the model in adjacent turns, which are merged: clients store each stream event as a turn. */
interface ModelTurn {
  text: string;
  thoughts: string;
  readonly details: JsonObject[];
  readonly images: ContentPart[];
  readonly calls: ToolCall[];
}

/**
 * Converts a conversation.
 *
 * @param body Members of the request.
 * @param position Path of the request.
 * @throws {UnsupportedRequestError} If the body is malformed.
 */
export function convertContents(
  { systemInstruction: system, contents }: JsonObject,
  position: Position,
): ChatMessage[] {
  const at = position.member("contents");
  if (contents === undefined) throw missing(at.path);
  const turns = at.list(contents);
  checkCount(turns, at.path);
  if (turns.length === 0) throw invalid(`"${at.path}" has to have at least one content`, at.path);
  const prompt = system === undefined ? "" : readSystemPrompt(system, position.member("systemInstruction"));
  const conversation = new GeminiConversation();
  turns.forEach((turn, index) => {
    const where = at.item(index);
    const fields = where.fields(turn);
    if (isModel(fields, where)) conversation.addModel(fields, where);
    else conversation.addUser(fields, where);
  });
  return [...(prompt === "" ? [] : [{ role: "system" as const, content: prompt }]), ...conversation.end(at)];
}

function readSystemPrompt(value: unknown, position: Position): string {
  return typeof value === "string" ? value : requireText(position.fields(value), position);
}

function isModel({ role = "user" }: JsonObject, position: Position): boolean {
  if (role === "model") return true;
  if (role === "user" || role === "function" || role === "tool") return false;
  const at = position.member("role");
  const found = JSON.stringify(at.text(role)!.slice(0, 80));
  at.addInexpressible(
    `"${at.path}" is ${found}, and has to be "user" or "model"; a system prompt belongs in "systemInstruction"`,
  );
  return false;
}

class GeminiConversation {
  readonly #messages: ChatMessage[] = [];
  #turn: ModelTurn | undefined;
  #open = new OpenCalls();
  #results: ChatMessage[] = [];
  #users: ChatMessage[] = [];

  addModel(content: JsonObject, position: Position): void {
    this.#endUser(position);
    this.#turn ??= { text: "", thoughts: "", details: [], images: [], calls: [] };
    for (const { fields, position: at } of checkParts(content, position)) this.#addPart(this.#turn, fields, at);
  }

  addUser(content: JsonObject, position: Position): void {
    this.#endModel();
    const parts = checkParts(content, position);
    const at = position.member("parts").path;
    if (parts.length === 0) throw invalid(`"${at}" has to have at least one part`, at);
    const contentParts: ContentPart[] = [];
    let results = 0;
    for (const { fields, position: at } of parts) {
      if (fields.functionResponse === undefined) appendAll(contentParts, userPart(fields, at));
      else {
        appendAll(contentParts, this.#result(fields.functionResponse, at.member("functionResponse")));
        results++;
      }
    }
    if (contentParts.length > 0 || results === 0) {
      this.#users.push({ role: "user", content: simplifyParts(contentParts) });
    }
  }

  /** @param position Path of the conversation. */
  end(position: Position): ChatMessage[] {
    this.#endModel();
    this.#endUser(position);
    return this.#messages.length > 0 ? this.#messages : [{ role: "user", content: "" }];
  }

  #endModel(): void {
    if (this.#turn === undefined) return;
    const { text, thoughts, details, images, calls } = this.#turn;
    this.#turn = undefined;
    if (text === "" && thoughts === "" && images.length + calls.length === 0) return;
    this.#open = new OpenCalls(calls.map(({ id, function: { name } }) => ({ id, name })));
    this.#messages.push({
      role: "assistant",
      content: text === "" && calls.length > 0 ? null : text,
      ...(thoughts === "" ? {} : { reasoning_content: thoughts }),
      ...(details.length === 0 ? {} : { reasoning_details: details }),
      ...(images.length === 0 ? {} : { images }),
      ...(calls.length === 0 ? {} : { tool_calls: calls }),
    });
  }

  /** Results come first: they follow the message with the calls. */
  #endUser(next: Position): void {
    const has = this.#results.length + this.#users.length > 0;
    const pending = this.#open.first;
    if (has && pending !== undefined) {
      const name = JSON.stringify(pending.name);
      next.addInexpressible(`"${next.path}" has to come after a functionResponse for the call of ${name}`);
    }
    appendAll(this.#messages, this.#results);
    appendAll(this.#messages, this.#users);
    this.#results = [];
    this.#users = [];
  }

  #addPart(turn: ModelTurn, fields: JsonObject, position: Position): void {
    const { details, ...state } = toCarriedState(position.member("thoughtSignature").text(fields.thoughtSignature));
    addDetails(turn.details, details);
    if (fields.functionCall !== undefined) {
      turn.calls.push({ ...this.#call(fields, position, turn.calls.length), ...state });
      return;
    }
    if (fields.inlineData !== undefined || fields.fileData !== undefined) {
      const [part] = userPart(fields, position);
      if (part?.type === "image_url") turn.images.push({ ...part, index: turn.images.length, ...state });
      else position.addInexpressible();
      return;
    }
    const text = position.member("text").text(fields.text) ?? describePart(fields);
    if (text === undefined) {
      // a signature may be a part of its own
      if (Object.keys(fields).some((name) => name !== "thoughtSignature" && name !== "thought")) {
        position.addInexpressible();
      }
    } else if (fields.thought === true) turn.thoughts += text;
    else turn.text += text;
  }

  #call({ functionCall }: JsonObject, position: Position, index: number): ToolCall {
    const at = position.member("functionCall");
    const { id, name, args } = at.fields(functionCall);
    // clients keep the arguments of a response that was cut off as they received them
    const text = typeof args === "string" ? args : JSON.stringify(at.member("args").object(args ?? {}));
    return {
      id: at.member("id").text(id) ?? `call_${this.#messages.length}_${index}`,
      type: "function",
      function: { name: at.member("name").required(name), arguments: text },
    };
  }

  /** Adds a result. Chat results are text only: images and files follow in a user message. */
  #result(value: unknown, position: Position): ContentPart[] {
    const { id, name, response = {}, parts } = position.fields(value);
    const call = this.#open.take(position.member("id").text(id), position.member("name").text(name));
    if (call === undefined) {
      const shown = JSON.stringify(toText(name ?? id).slice(0, 80));
      position.addInexpressible(
        `"${position.path}" is for ${shown}, and no such call without a result comes before it`,
      );
      return [];
    }
    const files = checkParts({ parts }, position).flatMap(({ fields, position: at }) => userPart(fields, at));
    this.#results.push({
      role: "tool",
      tool_call_id: call.id,
      content: JSON.stringify(position.member("response").object(response)),
    });
    return files.length === 0 ? [] : [{ type: "text", text: `Of the result of the tool call ${call.id}:` }, ...files];
  }
}

/** A single text part is sent as a string: some APIs accept parts only together with images. */
function simplifyParts(parts: ContentPart[]): string | ContentPart[] {
  if (parts.length === 0) return "";
  return parts.length === 1 && parts[0]!.type === "text" ? parts[0]!.text! : parts;
}
