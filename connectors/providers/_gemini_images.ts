/**
 * Image generation through the Gemini API: `generateContent` with the image modality.
 *
 * Sources: https://ai.google.dev/api/generate-content (`responseModalities`, `imageConfig`, `inlineData`),
 * https://ai.google.dev/gemini-api/docs/image-generation; github.com/vercel/ai, `packages/google` (no sizes, no masks).
 * @module
 */
import type { ImagesResponse } from "../../src/contracts/images.ts";
import type { JsonObject } from "../../src/contracts/openai.ts";
import type { OperationRequest } from "../../src/contracts/provider.ts";
import { toBase64 } from "../../src/util/base64.ts";
import { throwIfBlocked } from "./_gemini_response.ts";
import { asNumber, asObject, asObjects, asText } from "./_gemini_wire.ts";
import { checkIsOne, findAspectRatio } from "./_image_dialects.ts";

const ratios = ["1:1", "2:3", "3:2", "3:4", "4:3", "4:5", "5:4", "9:16", "16:9", "21:9"];
/** Members that are translated, or have no meaning in the Gemini API. */
const translated: ReadonlySet<string> = /* @__PURE__ */ new Set([
  "model",
  "prompt",
  "n",
  "response_format",
  "user",
  "stream",
]);

/**
 * The body of `generateContent`.
 *
 * @param request The request; images to edit are its files.
 * @throws {UpstreamError} `request` if several images are requested.
 */
export function toImageContent(request: OperationRequest): JsonObject {
  const { body, files = [] } = request;
  checkIsOne(request);
  const images = files.map(({ type, bytes }) => ({ inlineData: { mimeType: type, data: toBase64(bytes) } }));
  const aspectRatio = findAspectRatio(body.size, ratios);
  return {
    contents: [{ role: "user", parts: [{ text: body.prompt }, ...images] }],
    generationConfig: {
      responseModalities: ["IMAGE"],
      ...(aspectRatio === undefined ? {} : { imageConfig: { aspectRatio } }),
    },
  };
}

/** The parameters that the translation drops. */
export function droppedImageParams({ body }: OperationRequest): string[] {
  return Object.keys(body).filter((name) => !translated.has(name) && body[name] !== undefined && body[name] !== null);
}

/**
 * Converts a response to OpenAI's shape. A response that was stopped because of its content may have no images.
 *
 * @param response The response of `generateContent`.
 * @param created Unix time, seconds.
 */
export function toImages(response: JsonObject, created: number): ImagesResponse {
  const parts = asObjects(response.candidates).flatMap(({ content }) => asObjects(asObject(content)?.parts));
  const data = parts.flatMap(({ inlineData, thought }) => {
    const bytes = asText(asObject(inlineData)?.data);
    return bytes === undefined || thought === true ? [] : [{ b64_json: bytes }];
  });
  if (data.length === 0) throwIfBlocked(response, "prompt");
  const usage = asObject(response.usageMetadata);
  const input = asNumber(usage?.promptTokenCount);
  const written = asNumber(usage?.candidatesTokenCount);
  if (input === undefined || written === undefined) return { created, data };
  const output = written + (asNumber(usage?.thoughtsTokenCount) ?? 0);
  const images = asObjects(usage?.promptTokensDetails).find(({ modality }) => modality === "IMAGE");
  const read = Math.min(input, asNumber(images?.tokenCount) ?? 0);
  const details = { text_tokens: input - read, image_tokens: read };
  return {
    created,
    data,
    usage: { input_tokens: input, output_tokens: output, total_tokens: input + output, input_tokens_details: details },
  };
}
