/**
 * The operation `moderation`: classification of harmful text and images.
 * @module
 */
import { servesOperation } from "../../capability/operations.ts";
import type { ModerationRequest, ModerationResponse } from "../../contracts/openai.ts";
import type { ModelInfo } from "../../contracts/provider.ts";
import { isObject } from "../../util/is_object.ts";
import { addText, emptyText } from "../request_size.ts";
import { bodyChecker, invalid, missing, wrongType } from "../check_body.ts";
import { countMinTokens, countTokens } from "../estimate.ts";
import type { CheckedOperation, RequestNeeds } from "../operation.ts";
import { readInputUsage } from "./_input_usage.ts";
import { refusedBy } from "./_chat_lacks.ts";
import { dropRefused } from "./_rewording.ts";

const checkMembers = bodyChecker(["input"]);
/** Images count as in chat, since no vendor charges for them differently. */
const tokensPerImage = 1600;

/** Moderation: one result per input. */
export const moderation: CheckedOperation<ModerationRequest, ModerationResponse> = {
  name: "moderation",
  mayHedge: () => true,
  // official clients omit the model
  defaultModel: "content-moderation",
  serves: (leaf) => servesOperation(leaf, "moderation"),
  check: checkModerationRequest,
  measureNeeds: findModerationNeeds,
  reword: dropRefused,
  isEmpty: ({ results }) => results.length === 0,
  usageIn: ({ usage }) => ({ usage, written: () => 0 }),
  readUsage: readInputUsage,
};

function checkModerationRequest(value: unknown): ModerationRequest {
  const body = checkMembers(value);
  const { input } = body;
  if (input === undefined) throw missing("input");
  if (typeof input !== "string" && !Array.isArray(input)) throw wrongType("input", "a string or an array", input);
  if (input.length === 0) throw invalid('"input" must not be empty', "input");
  if (Array.isArray(input)) input.forEach(checkPart);
  return body as unknown as ModerationRequest;
}

function checkPart(part: unknown, index: number): void {
  const param = `input[${index}]`;
  if (typeof part === "string") return;
  if (!isObject(part)) throw wrongType(param, "a string or an object", part);
  if (part.type === "text" && typeof part.text === "string") return;
  if (part.type === "image_url" && isObject(part.image_url) && typeof part.image_url.url === "string") return;
  throw invalid(`"${param}" has to be a text or an image_url`, param);
}

function findModerationNeeds(body: ModerationRequest): RequestNeeds {
  const size = emptyText();
  let images = 0;
  for (const part of typeof body.input === "string" ? [body.input] : body.input) {
    if (typeof part === "string") addText(part, size);
    else if (part.type === "text") addText(part.text!, size);
    else images++;
  }
  return {
    load: { input: Math.ceil(countTokens(size)) + images * tokensPerImage, output: 0 },
    findLack: (model) => findModerationLack(model, body, { images, tokens: countMinTokens(size) }),
  };
}

function findModerationLack(
  { constraints, features, parameters }: ModelInfo,
  body: ModerationRequest,
  { images, tokens }: { images: number; tokens: number },
): string | undefined {
  if (images > 0 && features?.vision === false) return "vision";
  if (images > (constraints?.max_images ?? Infinity)) return `room for ${images} images`;
  if (tokens > (constraints?.context_window ?? Infinity)) return `room for about ${tokens} tokens`;
  return refusedBy(parameters, body);
}
