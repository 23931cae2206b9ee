/**
 * Converts OpenAI's message content to parts of a Gemini turn.
 *
 * Sources, read 2026-11-21: https://ai.google.dev/gemini-api/docs/file-input-methods (URLs and their types),
 * /image-understanding, /audio.
 * @module
 */
import type { ChatMessage, ContentPart } from "../../src/contracts/openai.ts";
import { parseDataUrl } from "../../src/util/data_url.ts";
import { createRequestFault } from "./_gemini_fault.ts";
import { asObject, asObjects, asText, type GeminiPart } from "./_gemini_wire.ts";
import { toText } from "../../src/util/to_text.ts";

/** Media types of images that the API fetches by URL, by file extension. */
const fetchedImages: Readonly<Record<string, string>> = {
  bmp: "image/bmp",
  jpeg: "image/jpeg",
  jpg: "image/jpeg",
  png: "image/png",
  webp: "image/webp",
};

const audioTypes: Readonly<Record<string, string>> = {
  aac: "audio/aac",
  aiff: "audio/aiff",
  flac: "audio/flac",
  mp3: "audio/mp3",
  ogg: "audio/ogg",
  wav: "audio/wav",
};

/** Media types that the API rejects, and their accepted equivalents. */
const properNames: Readonly<Record<string, string>> = { "image/jpg": "image/jpeg" };

/**
 * Converts message content to parts; none if it is empty.
 *
 * @param content A string, content parts, or null.
 * @param param The request parameter, for error messages.
 * @throws {UpstreamError} `request` for a part that cannot be expressed.
 */
export function toGeminiParts(content: ChatMessage["content"], param: string): GeminiPart[] {
  if (content === undefined || content === null) return [];
  if (typeof content === "string") return toContentText(content);
  if (!Array.isArray(content)) {
    throw createRequestFault("Cannot read a message whose content is neither a string nor an array", param);
  }
  return content.flatMap((part) => toGeminiPart(part, param));
}

/**
 * The text of content that must be text; parts are joined by line breaks.
 *
 * @param content A string, content parts, or null.
 * @param param The request parameter, for error messages.
 * @throws {UpstreamError} `request` for a part other than text.
 */
export function joinTextParts(content: ChatMessage["content"], param: string): string {
  const parts = toGeminiParts(content, param);
  if (parts.some(({ text }) => text === undefined)) {
    throw createRequestFault(
      "Cannot send anything but text here: images, audio and files belong in user messages",
      param,
    );
  }
  return parts.map(({ text }) => text).join("\n");
}

function toContentText(text: unknown): GeminiPart[] {
  const string = asText(text);
  return string === undefined ? [] : [{ text: string }];
}

function toGeminiPart(part: ContentPart, param: string): GeminiPart[] {
  switch (part?.type) {
    case "text":
      return toContentText(part.text);
    case "refusal":
      return toContentText(part.refusal);
    case "image_url":
      return [toImagePart(asText(part.image_url?.url) ?? "", param)];
    case "input_audio":
      return [audioPart(part, param)];
    case "file":
      return [toInlineFile(part, param)];
    default:
      throw createRequestFault(
        `Cannot send a content part of type "${
          toText(part?.type)
        }": the API accepts text, image_url, input_audio and file`,
        param,
      );
  }
}

/**
 * Converts the images that a model has generated in an earlier response.
 *
 * @param images The member of the message, as it came.
 * @param param The request parameter, for error messages.
 */
export function generatedImages(images: unknown, param: string): GeminiPart[] {
  return asObjects(images).map(({ image_url, extra_content: state }) => {
    const signature = asText(asObject(asObject(state)?.google)?.thought_signature);
    const part = toImagePart(asText(asObject(image_url)?.url) ?? "", param);
    return signature === undefined ? part : { ...part, thoughtSignature: signature };
  });
}

function toImagePart(url: string, param: string): GeminiPart {
  if (url.startsWith("data:")) return toInlinePart(url, param);
  const address = URL.canParse(url) ? new URL(url) : undefined;
  const ending = address?.pathname.split(".").at(-1)?.toLowerCase() ?? "";
  if (address?.protocol === "https:" && Object.hasOwn(fetchedImages, ending)) {
    return { fileData: { mimeType: fetchedImages[ending]!, fileUri: url } };
  }
  const endings = Object.keys(fetchedImages).join(", ");
  throw createRequestFault(
    `Cannot determine the type of an image by its URL: the API accepts https: URLs that end in ${endings}, and data: URLs`,
    param,
  );
}

function audioPart({ input_audio: sound }: ContentPart, param: string): GeminiPart {
  const format = asText(sound?.format)?.toLowerCase() ?? "";
  if (!Object.hasOwn(audioTypes, format)) {
    const formats = Object.keys(audioTypes).join(", ");
    throw createRequestFault(`Cannot send audio in the format "${format}": the API accepts ${formats}`, param);
  }
  return { inlineData: { mimeType: audioTypes[format]!, data: asText(sound?.data) ?? "" } };
}

function toInlineFile({ file }: ContentPart, param: string): GeminiPart {
  const data = asText(asObject(file)?.file_data);
  if (data?.startsWith("data:")) return toInlinePart(data, param);
  throw createRequestFault("Cannot send a file by its id: the API accepts a data: URL in file_data", param);
}

function toInlinePart(url: string, param: string): GeminiPart {
  const { type = "", data = "" } = parseDataUrl(url) ?? {};
  if (!type.includes("/")) {
    throw createRequestFault("Cannot read a data: URL that does not name its type or is not in base64", param);
  }
  return { inlineData: { mimeType: properNames[type] ?? type, data } };
}
