/**
 * Validation common to the bodies of all operations, and its errors.
 * @module
 */
import type { Delivery } from "../contracts/model.ts";
import type { RequestBody } from "../contracts/openai.ts";
import { UnsupportedRequestError } from "../errors.ts";
import { bodyBounds } from "../util/bounded_json.ts";
import { isObject } from "../util/is_object.ts";

const maxDepth = 64;
/** Maximum number of members of a body. */
const maxMembers = 10_000;
const { containers: maxContainers } = bodyBounds;
const maxNameChars = 256;
const maxNames = 16;

const modelsMember: OptionalMember = { name: "models", expected: "an array", isValid: Array.isArray };
const meshMember: OptionalMember = { name: "mesh", expected: "an object", isValid: isObject };

/**
 * Creates the common validation: an object within bounds, valid `model`, `models` and `mesh`, and no member that
 * differs from a known one only in case.
 *
 * @param members Members of the operation.
 */
export function bodyChecker(members: readonly string[]): (body: unknown) => RequestBody {
  const find = memberFinder(members);
  return (body) => {
    if (!isObject(body)) throw invalid("The body has to be a JSON object");
    const names = checkMemberCount(body);
    for (let index = 0; index < names.length; index++) checkCase(names[index]!, find);
    if (countContainers(body, 1, 0) > maxContainers) {
      throw invalid(`The body has over ${maxContainers} objects and arrays`);
    }
    const { model, models } = body;
    if (model !== undefined) checkName(model, "model");
    checkOptional(body, modelsMember);
    if (Array.isArray(models)) {
      if (models.length > maxNames) throw invalid(`"models" may have up to ${maxNames} names`, "models");
      models.forEach((name, index) => checkName(name, `models[${index}]`));
    }
    checkOptional(body, meshMember);
    return body as RequestBody;
  };
}

/**
 * Rejects a name that differs from a known one only in case: a provider that ignores case, as Go's `encoding/json` does,
 * reads `Model` where `model` was validated.
 *
 * @param find The result of {@linkcode memberFinder}.
 * @throws {UnsupportedRequestError} `invalid_value`.
 */
export function checkCase(name: string, find: ReturnType<typeof memberFinder>): void {
  const model = find(name);
  if (model === undefined || model === name) return;
  throw invalid(`${JSON.stringify(name)} differs from "${model}" in case alone`, name);
}

/** An optional member, and its valid values. */
interface OptionalMember {
  readonly name: string;
  /** Description of valid values, such as `an array`. */
  readonly expected: string;
  readonly isValid: (value: unknown) => boolean;
}

/**
 * Validates an optional member, which may be null.
 *
 * @param member The member and its valid values.
 * @throws {UnsupportedRequestError} `invalid_value`.
 */
export function checkOptional(
  body: Readonly<Record<string, unknown>>,
  { name, expected, isValid }: OptionalMember,
): void {
  const value = body[name];
  if (value !== undefined && value !== null && !isValid(value)) throw wrongType(name, expected, value);
}

/**
 * The delivery mode that a request asks for.
 *
 * @param operation Its operation, which may have its own way to ask for a stream.
 */
export function requestedDelivery<Body extends RequestBody>(
  { isStreamed }: { isStreamed?(body: Body): boolean },
  body: Body,
): Delivery {
  return isStreamed?.(body) ?? body.stream === true ? "stream" : "sync";
}

/** Maximum number of messages of a conversation, and of items of any other list that is read here. */
const maxListed = 100_000;

/** Maximum number of tools. */
export const maxTools = 10_000;

/** Maximum length of an id, which may carry a vendor's signature. */
const maxIdChars = 16 * 1024;

/**
 * Checks the length of a list.
 *
 * @param list Any value; other than lists, they are left to other checks.
 * @param max Maximum number of items.
 * @throws {UnsupportedRequestError} `invalid_value`.
 */
export function checkCount(list: unknown, param: string, max: number = maxListed): void {
  if (Array.isArray(list) && list.length > max) throw invalid(`"${param}" may have up to ${max} items`, param);
}

/**
 * Checks the length of an id.
 *
 * @param id Any value.
 * @throws {UnsupportedRequestError} `invalid_value`.
 */
export function checkId(id: unknown, param: string): void {
  if (typeof id === "string" && id.length > maxIdChars) {
    throw invalid(`"${param}" may have up to ${maxIdChars} characters`, param);
  }
}

/** Whether a value is an integer of at least 0. */
export function isNonNegativeInteger(value: unknown): value is number {
  return Number.isInteger(value) && value as number >= 0;
}

/**
 * Validates a virtual name.
 *
 * @param name Any value.
 * @param param The field that contains it.
 * @throws {UnsupportedRequestError} If it is not a valid name.
 */
function checkName(name: unknown, param: string): asserts name is string {
  if (typeof name !== "string") throw wrongType(param, "a string", name);
  if (name.trim() === "" || name.length > maxNameChars) {
    throw invalid(`"${param}" has to have 1 to ${maxNameChars} characters`, param);
  }
}

/** @param param The missing field. */
export function missing(param: string): UnsupportedRequestError {
  return new UnsupportedRequestError(`The parameter "${param}" is missing`, {
    code: "missing_required_parameter",
    param,
  });
}

/**
 * Checks the number of members of a body.
 *
 * @returns Their names.
 * @throws {UnsupportedRequestError} `invalid_value`.
 */
export function checkMemberCount(body: object): readonly string[] {
  const names = Object.keys(body);
  if (names.length > maxMembers) throw invalid(`The body has over ${maxMembers} members`);
  return names;
}

/**
 * Counts the containers of a value, including itself, up to the maximum: millions of them would overflow a later step.
 *
 * @throws {UnsupportedRequestError} `invalid_value` if they are nested too deeply.
 */
function countContainers(value: object, depth: number, before: number): number {
  if (depth > maxDepth) throw invalid(`The body is nested over ${maxDepth} levels deep`);
  let count = before + 1;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length && count <= maxContainers; index++) {
      if (isContainer(value[index])) count = countContainers(value[index], depth + 1, count);
    }
    return count;
  }
  // no list of its values: most requests have few, and are counted often
  for (const name in value) {
    const inner = (value as Readonly<Record<string, unknown>>)[name];
    if (isContainer(inner) && count <= maxContainers) count = countContainers(inner, depth + 1, count);
  }
  return count;
}

function isContainer(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

/** The error for an invalid value. */
export function invalid(message: string, param?: string): UnsupportedRequestError {
  return new UnsupportedRequestError(message, { code: "invalid_value", param });
}

/**
 * The error for a value of the wrong type.
 *
 * @param expected Description of valid values.
 * @param value The value; the message contains only its type.
 */
export function wrongType(param: string, expected: string, value: unknown): UnsupportedRequestError {
  const found = value === null ? "null" : Array.isArray(value) ? "an array" : `a ${typeof value}`;
  return invalid(`"${param}" has to be ${expected}, not ${found.replace("a object", "an object")}`, param);
}

/** Members of a chat request. */
export const chatMembers: readonly string[] = [
  ...["model", "messages", "stream", "stream_options", "n", "user", "metadata", "store", "service_tier"],
  ...["max_tokens", "max_completion_tokens", "temperature", "top_p", "top_k", "min_p", "seed", "random_seed", "stop"],
  ...["frequency_penalty", "presence_penalty", "repetition_penalty", "logit_bias", "logprobs", "top_logprobs"],
  ...["tools", "tool_choice", "parallel_tool_calls", "functions", "function_call", "web_search_options", "dimensions"],
  ...["response_format", "modalities", "audio", "prediction", "verbosity", "reasoning_effort", "reasoning", "thinking"],
  ...["prompt_cache_key", "prompt_cache_retention", "cache_control", "safety_identifier"],
  ...["enable_thinking", "reasoning_split"],
];

/**
 * Finds the known member that a name matches ignoring case, with the simple case folding of Go's `encoding/json`: ſ
 * (U+017F) matches s, and K (U+212A) matches k.
 *
 * @param members Members of the operation; those common to all operations are added.
 * @returns Undefined for an unknown name.
 *
 * @example
 * ```ts
 * memberFinder(chatMembers)("Model"); // "model"
 * ```
 */
export function memberFinder(members: readonly string[]): (name: string) => string | undefined {
  const allowed = new Set(["model", "user", ...members, ...privateFields]);
  const folded = new Map([...allowed].map((name) => [fold(name), name]));
  const maxLength = Math.max(...[...allowed].map(({ length }) => length));
  return (name) => {
    if (allowed.has(name)) return name;
    return name.length > maxLength ? undefined : folded.get(fold(name));
  };
}

/** A name without differences in case. */
function fold(name: string): string {
  // `toLowerCase` maps K to k, but it keeps ſ
  return name.toLowerCase().replaceAll("\u017f", "s");
}

/** Fields that control the mesh, or that would let a caller choose the target or the API key. */
export const privateFields: readonly string[] = [
  "mesh",
  "models",
  "api_key",
  "api_base",
  "base_url",
  "extra_headers",
];

/** Whether a body has any of them. */
export function hasPrivateFields(body: RequestBody): boolean {
  return body.mesh !== undefined || body.models !== undefined || body.api_key !== undefined ||
    body.api_base !== undefined || body.base_url !== undefined || body.extra_headers !== undefined;
}
