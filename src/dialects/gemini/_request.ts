/**
 * Converts a `generateContent` request to a chat request.
 * @module
 */
import type { ChatCompletionRequest, JsonObject } from "../../contracts/openai.ts";
import type { UnsupportedRequestError } from "../../errors.ts";
import { bodyChecker } from "../../pipeline/check_body.ts";
import { convertConfig } from "./_config.ts";
import { convertContents } from "./_conversation.ts";
import { Position } from "./_position.ts";
import { convertGeminiTools } from "./_tools.ts";

const ownMembers: readonly string[] = [
  ...["contents", "systemInstruction", "tools", "toolConfig", "safetySettings", "generationConfig", "cachedContent"],
];

/** Members that chat supports, or that have no effect in it. */
const translated: ReadonlySet<string> = new Set([...ownMembers, "model", "models", "mesh"]);

const checkMembers = bodyChecker(ownMembers);

/** A chat request, and what it cannot express. */
interface GeminiForm {
  readonly chat: ChatCompletionRequest;
  readonly includesThoughts: boolean;
  readonly dropped: readonly string[];
  /** The error if no model with native support is eligible; undefined if chat can express the request. */
  readonly nativeOnly: UnsupportedRequestError | undefined;
}

/**
 * Converts a request.
 *
 * @param value The parsed body, unvalidated.
 * @param address Model and method from the URL.
 * @throws {UnsupportedRequestError} If the body is malformed.
 */
export function convertGeminiRequest(
  value: unknown,
  { model, stream }: { model: string; stream: boolean },
): GeminiForm {
  const position = new Position();
  const body = position.fields(checkMembers(value));
  if (body.cachedContent !== undefined) position.member("cachedContent").addInexpressible();
  const at = position.member("generationConfig");
  const config = convertConfig(at.fields(body.generationConfig ?? {}), at);
  const chat = {
    ...(model === "" ? {} : { model }),
    models: body.models,
    mesh: body.mesh,
    messages: convertContents(body, position),
    stream: stream || undefined,
    ...convertGeminiTools(body, position),
    ...config.chat,
  };
  return {
    chat: omitUndefined(chat) as unknown as ChatCompletionRequest,
    includesThoughts: config.includesThoughts,
    dropped: [
      ...Object.keys(body).filter((name) => !translated.has(name)),
      ...(position.list(body.safetySettings).length > 0 ? ["safetySettings"] : []),
      ...config.dropped.map((name) => `generationConfig.${name}`),
    ],
    nativeOnly: position.nativeOnly.error,
  };
}

function omitUndefined(members: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}
