/**
 * From a prompt of `ai` to messages of a chat.
 * @module
 */
import type { ChatMessage, ContentPart, JsonObject, ToolCall } from "../../contracts/openai.ts";
import { invalid } from "../../pipeline/check_body.ts";
import { fromBase64, toBase64 } from "../../util/base64.ts";
import { isObject } from "../../util/is_object.ts";
import type { FileData, PromptMessage, PromptPart } from "./spec.ts";

/** How images begin, in Base64. */
const imageTypes: Readonly<Record<string, string>> = {
  "iVBORw": "image/png",
  "/9j/": "image/jpeg",
  "R0lGOD": "image/gif",
  "UklGR": "image/webp",
};

/** What sounds are called in chat, where that is not the second half of their media type. */
const formats: Readonly<Record<string, string>> = { mpeg: "mp3", "x-wav": "wav", wave: "wav" };

/**
 * Translates a prompt.
 *
 * @param prompt Oldest first.
 * @throws {UnsupportedRequestError} For a file that is nowhere but with a provider.
 */
export function messagesOf(prompt: readonly PromptMessage[]): ChatMessage[] {
  return prompt.flatMap(({ role, content }, index): ChatMessage[] => {
    const where = `prompt[${index}]`;
    if (typeof content === "string") return [{ role, content }];
    if (role === "tool") return toolMessages(content, where);
    return role === "assistant" ? [assistantMessage(content)] : [userMessage(role, content, where)];
  });
}

function userMessage(role: ChatMessage["role"], content: readonly PromptPart[], where: string): ChatMessage {
  const parts = content.flatMap((part, index) => contentPart(part, `${where}.content[${index}]`));
  return { role, content: parts.length === 1 && parts[0]!.type === "text" ? parts[0]!.text! : parts };
}

function assistantMessage(content: readonly PromptPart[]): ChatMessage {
  const textOf = (type: string) => content.flatMap((part) => part.type === type ? part.text ?? "" : []).join("");
  const calls = content.filter(({ type, providerExecuted }) => type === "tool-call" && providerExecuted !== true);
  const [text, thoughts] = [textOf("text"), textOf("reasoning")];
  return {
    role: "assistant",
    content: text === "" && calls.length > 0 ? null : text,
    ...(thoughts === "" ? {} : { reasoning_content: thoughts }),
    ...(calls.length === 0 ? {} : { tool_calls: calls.map(toolCall) }),
  };
}

function toolCall({ toolCallId = "", toolName = "", input, providerOptions }: PromptPart): ToolCall {
  const state = isObject(providerOptions?.mesh) ? providerOptions.mesh.extra_content : undefined;
  return {
    id: toolCallId,
    type: "function",
    function: { name: toolName, arguments: typeof input === "string" ? input : JSON.stringify(input ?? {}) },
    ...(isObject(state) ? { extra_content: state } : {}),
  };
}

/** Chat takes text alone as a result: files of one follow in a user's message. */
function toolMessages(content: readonly PromptPart[], where: string): ChatMessage[] {
  const files: ContentPart[] = [];
  const results = content.flatMap(({ type, toolCallId = "", output }, index): ChatMessage[] => {
    if (type !== "tool-result") return [];
    const at = `${where}.content[${index}].output`;
    const { text, parts } = resultOf(isObject(output) ? output : {}, at);
    if (parts.length > 0) files.push({ type: "text", text: `Of the result of the tool call ${toolCallId}:` }, ...parts);
    return [{ role: "tool", tool_call_id: toolCallId, content: text }];
  });
  return files.length === 0 ? results : [...results, { role: "user", content: files }];
}

function resultOf({ type, value, reason }: JsonObject, where: string): { text: string; parts: ContentPart[] } {
  if (type === "execution-denied") return { text: String(reason ?? "The call was not allowed"), parts: [] };
  if (type !== "content") return { text: typeof value === "string" ? value : JSON.stringify(value), parts: [] };
  const all = (value as readonly PromptPart[]).flatMap((part, index) => contentPart(part, `${where}.value[${index}]`));
  return {
    text: all.flatMap(({ type, text }) => type === "text" ? text! : []).join("\n"),
    parts: all.filter(({ type }) => type !== "text"),
  };
}

function contentPart(part: PromptPart, where: string): ContentPart[] {
  if (part.type === "text") return part.text ? [{ type: "text", text: part.text }] : [];
  if (part.type !== "file") return [];
  const { mediaType = "", filename } = part;
  const data = part.data as FileData;
  if (data.type === "text") return [{ type: "text", text: data.text }];
  if (data.type === "reference") {
    throw invalid(`"${where}" is a file that a provider keeps, which others cannot read: send the file itself`, where);
  }
  if (data.type === "url") return [addressPart(String(data.url), { mediaType, where })];
  const base64 = typeof data.data === "string" ? data.data : toBase64(data.data);
  const [kind, name = ""] = mediaType.toLowerCase().split(/[/;]/);
  if (kind === "image") {
    return [{ type: "image_url", image_url: { url: dataUrl(imageType(mediaType, base64), base64) } }];
  }
  if (kind === "audio") return [{ type: "input_audio", input_audio: { data: base64, format: formats[name] ?? name } }];
  if (kind === "text") return [{ type: "text", text: new TextDecoder().decode(fromBase64(base64)) }];
  return [{ type: "file", file: { filename: filename ?? `file.${name}`, file_data: dataUrl(mediaType, base64) } }];
}

function addressPart(url: string, { mediaType, where }: { mediaType: string; where: string }): ContentPart {
  if (mediaType.startsWith("image")) return { type: "image_url", image_url: { url } };
  throw invalid(`"${where}" is an address, which only images can be: send the file itself`, where);
}

/** A bare `image` says nothing of its type; the bytes do. */
function imageType(mediaType: string, base64: string): string {
  if (/^image\/[^*]/.test(mediaType)) return mediaType;
  const start = Object.keys(imageTypes).find((one) => base64.startsWith(one));
  return start === undefined ? "image/png" : imageTypes[start]!;
}

function dataUrl(type: string, base64: string): string {
  return `data:${type};base64,${base64}`;
}
