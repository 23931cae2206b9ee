/**
 * The shape of a request, checked at the boundary: what the engine itself relies on. Everything else is for the provider to
 * judge.
 * @module
 */
import type { ChatCompletionRequest } from "../contracts/openai.ts";
import { UnsupportedRequestError } from "../errors.ts";
import { knownMember } from "./known_members.ts";
import { isObject } from "../util/is_object.ts";

const maxDepth = 64;
/** Objects and arrays of one body. */
export const maxContainers = 200_000;
const maxNameChars = 256;
const maxNames = 16;

/**
 * Checks the body of a chat request; what `mesh` may hold is for `readRoutingConstraints` to check.
 *
 * @param body Anything.
 * @returns The same value.
 * @throws {UnsupportedRequestError} `missing_required_parameter` or `invalid_value`, with the field at fault.
 */
export function checkChatRequest(body: unknown): ChatCompletionRequest {
  if (!isObject(body)) throw invalid("The body has to be a JSON object");
  checkNames(body);
  checkSize(body);
  const { model, messages, stream } = body;
  if (model !== undefined) checkName(model, "model");
  if (messages === undefined) throw missing("messages");
  if (!Array.isArray(messages)) throw wrongType("messages", "an array", messages);
  if (messages.length === 0) throw invalid('"messages" has to have at least one message', "messages");
  messages.forEach(checkMessage);
  if (stream !== undefined && stream !== null && typeof stream !== "boolean") {
    throw wrongType("stream", "a boolean", stream);
  }
  checkOptional(body, "tools", "an array", Array.isArray);
  checkOptional(body, "models", "an array", Array.isArray);
  if (Array.isArray(body.models)) {
    if (body.models.length > maxNames) throw invalid(`"models" may have up to ${maxNames} names`, "models");
    body.models.forEach((name, index) => checkName(name, `models[${index}]`));
  }
  for (const name of ["stream_options", "response_format", "mesh"]) checkOptional(body, name, "an object", isObject);
  for (const name of ["max_tokens", "max_completion_tokens", "n", "temperature", "top_p"]) {
    checkOptional(body, name, "a number", (value) => typeof value === "number" && Number.isFinite(value));
  }
  return body as unknown as ChatCompletionRequest;
}

/**
 * Checks a virtual name.
 *
 * @param name Anything.
 * @param param The field it stands in.
 * @throws {UnsupportedRequestError} When it is no usable name.
 */
export function checkName(name: unknown, param: string): asserts name is string {
  if (typeof name !== "string") throw wrongType(param, "a string", name);
  if (name.trim() === "" || name.length > maxNameChars) {
    throw invalid(`"${param}" has to have 1 to ${maxNameChars} characters`, param);
  }
}

/** @param param The field that is not there. */
export function missing(param: string): UnsupportedRequestError {
  return new UnsupportedRequestError(`The parameter "${param}" is missing`, {
    code: "missing_required_parameter",
    param,
  });
}

/** A provider that ignores case reads `Model` where `model` was checked; Go's `encoding/json` is such a reader. */
function checkNames(body: Record<string, unknown>): void {
  for (const name of Object.keys(body)) {
    const known = knownMember(name);
    if (known === undefined || known === name) continue;
    throw invalid(`${JSON.stringify(name)} differs from "${known}" in case alone`, name);
  }
}

function checkMessage(message: unknown, index: number): void {
  const param = `messages[${index}]`;
  if (!isObject(message)) throw wrongType(param, "an object", message);
  if (message.role === undefined) throw missing(`${param}.role`);
  if (typeof message.role !== "string") throw wrongType(`${param}.role`, "a string", message.role);
  const { content } = message;
  if (content === undefined || content === null || typeof content === "string") return;
  if (!Array.isArray(content)) throw wrongType(`${param}.content`, "a string or an array", content);
  content.forEach((part, at) => {
    if (!isObject(part)) throw wrongType(`${param}.content[${at}]`, "an object", part);
  });
}

function checkOptional(
  body: Record<string, unknown>,
  name: string,
  what: string,
  fits: (value: unknown) => boolean,
): void {
  const value = body[name];
  if (value !== undefined && value !== null && !fits(value)) throw wrongType(name, what, value);
}

/** Refuses what would overflow a later step: nesting without end, and containers by the million. */
function checkSize(body: object): void {
  if (countContainers(body, 1, 0) > maxContainers) {
    throw invalid(`The body has over ${maxContainers} objects and arrays`);
  }
}

/** As many as there are up to and in a value, or more than there may be. */
function countContainers(value: object, depth: number, before: number): number {
  if (depth > maxDepth) throw invalid(`The body is nested over ${maxDepth} levels deep`);
  let count = before + 1;
  const visit = (inner: unknown) => {
    if (typeof inner === "object" && inner !== null) count = countContainers(inner, depth + 1, count);
  };
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length && count <= maxContainers; index++) visit(value[index]);
  } else {
    for (const name of Object.keys(value)) {
      visit((value as Record<string, unknown>)[name]);
      if (count > maxContainers) break;
    }
  }
  return count;
}

function invalid(message: string, param?: string): UnsupportedRequestError {
  return new UnsupportedRequestError(message, { code: "invalid_value", param });
}

function wrongType(param: string, what: string, value: unknown): UnsupportedRequestError {
  const found = value === null ? "null" : Array.isArray(value) ? "an array" : `a ${typeof value}`;
  return invalid(`"${param}" has to be ${what}, not ${found.replace("a object", "an object")}`, param);
}
