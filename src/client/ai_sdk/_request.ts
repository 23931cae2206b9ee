/**
 * Converts the call options of the `ai` package to a chat request.
 * @module
 */
import type {
  ChatCompletionRequest,
  ChatMessage,
  ContentPart,
  JsonObject,
  Tool,
  ToolCall,
} from "../../contracts/openai.ts";
import { ownOptions } from "./_settings.ts";
import type { FileData, LanguageCallOptions, LanguageTool, PromptMessage, PromptPart, Warning } from "./spec.ts";
import { invalid } from "../../pipeline/check_body.ts";
import { fromBase64, toBase64 } from "../../util/base64.ts";
import { pickDefined } from "../../util/entries.ts";
import { isObject } from "../../util/is_object.ts";
import { addDetails } from "../../util/reasoning_details.ts";

/** A chat request, and warnings about options that it cannot express. */
interface ChatForm {
  readonly request: ChatCompletionRequest & { stream?: false };
  readonly warnings: Warning[];
}

/**
 * Converts call options.
 *
 * @param options Call options of a language model.
 * @param model The name of a pool, alias, capability or model.
 * @throws {UnsupportedRequestError} When the prompt cannot be expressed in a chat request.
 */
export function toChatRequest(options: LanguageCallOptions, model: string): ChatForm {
  const { tools = [], reasoning, stopSequences: stops = [] } = options;
  const functions = tools.filter(({ type }) => type === "function").map(toChatTool);
  const request = pickDefined({
    model,
    messages: toChatMessages(options.prompt),
    max_tokens: options.maxOutputTokens,
    temperature: options.temperature,
    top_p: options.topP,
    top_k: options.topK,
    presence_penalty: options.presencePenalty,
    frequency_penalty: options.frequencyPenalty,
    seed: options.seed,
    stop: stops.length === 0 ? undefined : [...stops],
    response_format: toResponseFormat(options.responseFormat),
    ...(functions.length === 0 ? {} : { tools: functions, tool_choice: toChatToolChoice(options.toolChoice) }),
    reasoning_effort: reasoning === "provider-default" ? undefined : reasoning,
    ...ownOptions(options),
  });
  const warnings = tools.filter(({ type }) => type !== "function").map(({ id, name }): Warning => ({
    type: "unsupported",
    feature: `the provider's tool ${id ?? name}`,
  }));
  return { request: request as unknown as ChatForm["request"], warnings };
}

function toChatTool({ name, description, inputSchema, strict }: LanguageTool): Tool {
  return {
    type: "function",
    function: {
      name,
      ...(description === undefined ? {} : { description }),
      parameters: inputSchema as JsonObject,
      ...(strict === undefined ? {} : { strict }),
    },
  };
}

function toChatToolChoice(choice: LanguageCallOptions["toolChoice"]): ChatCompletionRequest["tool_choice"] {
  return choice?.type === "tool" ? { type: "function", function: { name: choice.toolName } } : choice?.type;
}

function toResponseFormat(format: LanguageCallOptions["responseFormat"]): ChatCompletionRequest["response_format"] {
  if (format?.type !== "json") return undefined;
  const { schema, name = "response", description } = format;
  if (schema === undefined) return { type: "json_object" };
  return { type: "json_schema", json_schema: { name, ...(description === undefined ? {} : { description }), schema } };
}

/** Image types by the first bytes of the file, in Base64. */
const imageTypes: Readonly<Record<string, string>> = {
  "iVBORw": "image/png",
  "/9j/": "image/jpeg",
  "R0lGOD": "image/gif",
  "UklGR": "image/webp",
};

/** Chat's names of audio formats that differ from the subtype of the media type. */
const formats: Readonly<Record<string, string>> = { mpeg: "mp3", "x-wav": "wav", wave: "wav" };

/**
 * Converts a prompt.
 *
 * @param prompt Messages, oldest first.
 * @throws {UnsupportedRequestError} For a file given by a provider's file id, or a non-image file given by URL.
 */
export function toChatMessages(prompt: readonly PromptMessage[]): ChatMessage[] {
  return prompt.flatMap(({ role, content }, index): ChatMessage[] => {
    const where = `prompt[${index}]`;
    if (typeof content === "string") return [{ role, content }];
    if (role === "tool") return toolMessages(content, where);
    return role === "assistant" ? [assistantMessage(content, where)] : [userMessage(role, content, where)];
  });
}

function userMessage(role: ChatMessage["role"], content: readonly PromptPart[], where: string): ChatMessage {
  const parts = content.flatMap((part, index) => contentPart(part, `${where}.content[${index}]`));
  return { role, content: parts.length === 1 && parts[0]!.type === "text" ? parts[0]!.text! : parts };
}

function assistantMessage(content: readonly PromptPart[], where: string): ChatMessage {
  const joinParts = (type: string) => content.flatMap((part) => part.type === type ? part.text ?? "" : []).join("");
  const calls = content.filter(({ type, providerExecuted }) => type === "tool-call" && providerExecuted !== true);
  const [text, thoughts] = [joinParts("text"), joinParts("reasoning")];
  const details: JsonObject[] = [];
  for (const { type, providerOptions } of content) {
    if (type === "reasoning" && isObject(providerOptions?.mesh)) {
      addDetails(details, providerOptions.mesh.reasoning_details);
    }
  }
  const images = content.flatMap((part) => part.type === "file" ? generatedImage(part, where) : []);
  return {
    role: "assistant",
    content: text === "" && calls.length > 0 ? null : text,
    ...(thoughts === "" ? {} : { reasoning_content: thoughts }),
    ...(details.length === 0 ? {} : { reasoning_details: details }),
    ...(images.length === 0 ? {} : { images: images.map((image, index) => ({ ...image, index })) }),
    ...(calls.length === 0 ? {} : { tool_calls: calls.map(toolCall) }),
  };
}

function toolCall(part: PromptPart): ToolCall {
  const { toolCallId = "", toolName = "", input } = part;
  return {
    id: toolCallId,
    type: "function",
    function: { name: toolName, arguments: typeof input === "string" ? input : JSON.stringify(input ?? {}) },
    ...readState(part),
  };
}

/** An image that a model has generated; other files of assistant messages are omitted. */
function generatedImage(part: PromptPart, where: string): ContentPart[] {
  if (!part.mediaType?.startsWith("image")) return [];
  return contentPart(part, where).map((image) => ({ ...image, ...readState(part) }));
}

/** The provider-specific state that a part of an earlier response has. */
function readState({ providerOptions }: PromptPart): { extra_content?: JsonObject } {
  const state = isObject(providerOptions?.mesh) ? providerOptions.mesh.extra_content : undefined;
  return isObject(state) ? { extra_content: state } : {};
}

/** Converts tool results. A chat tool message is text only, so files of a result follow in a user message. */
function toolMessages(content: readonly PromptPart[], where: string): ChatMessage[] {
  const files: ContentPart[] = [];
  const results = content.flatMap(({ type, toolCallId = "", output }, index): ChatMessage[] => {
    if (type !== "tool-result") return [];
    const at = `${where}.content[${index}].output`;
    const { text, parts } = toToolResult(isObject(output) ? output : {}, at);
    if (parts.length > 0) files.push({ type: "text", text: `Of the result of the tool call ${toolCallId}:` }, ...parts);
    return [{ role: "tool", tool_call_id: toolCallId, content: text }];
  });
  return files.length === 0 ? results : [...results, { role: "user", content: files }];
}

function toToolResult({ type, value, reason }: JsonObject, where: string): { text: string; parts: ContentPart[] } {
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
    throw invalid(
      `"${where}" is a file id of one provider, which other providers cannot read: send the file itself`,
      where,
    );
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
  throw invalid(`"${where}" is a URL, which is supported for images only: send the file itself`, where);
}

/** Returns the image's media type, detected from its first bytes when it is given as `image` or `image/*`. */
function imageType(mediaType: string, base64: string): string {
  if (/^image\/[^*]/.test(mediaType)) return mediaType;
  const start = Object.keys(imageTypes).find((prefix) => base64.startsWith(prefix));
  return start === undefined ? "image/png" : imageTypes[start]!;
}

function dataUrl(type: string, base64: string): string {
  return `data:${type};base64,${base64}`;
}
