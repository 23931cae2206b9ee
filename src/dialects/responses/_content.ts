/**
 * Converts content of input items to chat content parts.
 * @module
 */
import type { ContentPart, JsonObject } from "../../contracts/openai.ts";
import { missing, wrongType } from "../../pipeline/check_body.ts";
import { isObject } from "../../util/is_object.ts";
import type { ResponsesNativeOnly } from "./_native_only.ts";

/** The content of an assistant message. */
export interface AssistantContent {
  readonly text: string;
  readonly refusal: string;
}

/** The allowed part types, for error messages. */
const inputKinds = "input_text, input_image, input_file or input_audio";

/**
 * Validates content parts.
 *
 * @param content Parts; a string stands for one text part.
 * @param where Path in the request, for error messages.
 */
function checkContent(content: unknown, where: string): readonly JsonObject[] {
  if (typeof content === "string") return content === "" ? [] : [{ type: "input_text", text: content }];
  if (content === undefined) throw missing(where);
  if (!Array.isArray(content)) throw wrongType(where, "a string or an array of parts", content);
  content.forEach((part, index) => {
    if (!isObject(part)) throw wrongType(`${where}[${index}]`, "an object", part);
    if (part.type === undefined) throw missing(`${where}[${index}].type`);
  });
  return content;
}

/**
 * Converts content of a user message or a tool result.
 *
 * @param content A string, or parts.
 * @param where Path in the request.
 * @param nativeOnly Collects what chat cannot express.
 * @throws {UnsupportedRequestError} If it is malformed.
 */
export function inputParts(content: unknown, where: string, nativeOnly: ResponsesNativeOnly): ContentPart[] {
  return checkContent(content, where).flatMap((part, index) => convertPart(part, `${where}[${index}]`, nativeOnly));
}

/**
 * Content that must be text.
 *
 * @param content A string, or text parts.
 * @param where Path in the request.
 * @param nativeOnly Collects what chat cannot express.
 */
export function requireContentText(content: unknown, where: string, nativeOnly: ResponsesNativeOnly): string {
  return checkContent(content, where).flatMap((part, index) => {
    const at = `${where}[${index}]`;
    if (part.type === "input_text") return readStringAt(part, "text", at);
    addMisplaced(part, at, { nativeOnly, allowed: "input_text" });
    return [];
  }).join("\n\n");
}

/**
 * Converts content of an assistant message.
 *
 * @param content A string, or text and refusal parts.
 * @param where Path in the request.
 * @param nativeOnly Collects what chat cannot express.
 */
export function assistantContent(
  content: unknown,
  where: string,
  nativeOnly: ResponsesNativeOnly,
): AssistantContent {
  let text = "";
  let refusal = "";
  checkContent(content, where).forEach((part, index) => {
    const at = `${where}[${index}]`;
    if (part.type === "output_text" || part.type === "input_text") text += readStringAt(part, "text", at);
    else if (part.type === "refusal") refusal += readStringAt(part, "refusal", at);
    else addMisplaced(part, at, { nativeOnly, allowed: "output_text or refusal" });
  });
  return { text, refusal };
}

/** Validates a required string member. */
export function readStringAt(holder: JsonObject, name: string, where: string): string {
  const value = holder[name];
  if (value === undefined) throw missing(`${where}.${name}`);
  if (typeof value !== "string") throw wrongType(`${where}.${name}`, "a string", value);
  return value;
}

/** Quotes a name in an error message. */
export function quoteValue(value: unknown): string {
  return typeof value === "string" ? JSON.stringify(value.slice(0, 80)) : "none that is a string";
}

function convertPart(part: JsonObject, where: string, nativeOnly: ResponsesNativeOnly): ContentPart[] {
  switch (part.type) {
    case "input_text":
      return textPart(readStringAt(part, "text", where));
    case "input_image":
      return readInputImage(part, where, nativeOnly);
    case "input_file":
      return readInputFile(part, where, nativeOnly);
    case "input_audio":
      if (!isObject(part.input_audio)) throw wrongType(`${where}.input_audio`, "an object", part.input_audio);
      return [{ type: "input_audio", input_audio: part.input_audio as ContentPart["input_audio"] & JsonObject }];
    case "output_text":
    case "refusal":
      addMisplaced(part, where, { nativeOnly, allowed: inputKinds });
      return [];
    default:
      nativeOnly.addLack(`${where}.type`, { what: `is ${quoteValue(part.type)}`, instead: `use ${inputKinds}` });
      return [];
  }
}

function addMisplaced(
  { type }: JsonObject,
  where: string,
  { nativeOnly, allowed }: { readonly nativeOnly: ResponsesNativeOnly; readonly allowed: string },
): void {
  const param = `${where}.type`;
  nativeOnly.add(param, `"${param}" is ${quoteValue(type)}, and has to be ${allowed} in a message of this role`);
}

function textPart(text: string): ContentPart[] {
  return text === "" ? [] : [{ type: "text", text }];
}

function readInputImage(part: JsonObject, where: string, nativeOnly: ResponsesNativeOnly): ContentPart[] {
  const { image_url: url, detail } = part;
  if (isAbsent(url) && !isAbsent(part.file_id)) {
    nativeOnly.addLack(`${where}.file_id`, {
      what: "is an image by its id",
      instead: "send its URL or content in image_url",
    });
    return [];
  }
  if (typeof url !== "string") {
    throw isAbsent(url) ? missing(`${where}.image_url`) : wrongType(`${where}.image_url`, "a string", url);
  }
  return [{ type: "image_url", image_url: { url, ...(typeof detail === "string" ? { detail } : {}) } }];
}

function readInputFile(part: JsonObject, where: string, nativeOnly: ResponsesNativeOnly): ContentPart[] {
  const { file_data: data, filename } = part;
  for (const [name, what] of [["file_id", "a file by its id"], ["file_url", "a file by its URL"]] as const) {
    if (!isAbsent(data) || isAbsent(part[name])) continue;
    nativeOnly.addLack(`${where}.${name}`, { what: `is ${what}`, instead: "send the file itself in file_data" });
    return [];
  }
  const file_data = readStringAt(part, "file_data", where);
  return [{ type: "file", file: { ...(typeof filename === "string" ? { filename } : {}), file_data } }];
}

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null;
}
