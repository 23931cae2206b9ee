/**
 * Converts OpenAI's message content to parts of a Gemini turn.
 *
 * Sources, read 2026-11-21: https://ai.google.dev/gemini-api/docs/file-input-methods (URLs and their types),
 * /image-understanding, /audio.
 * @module
 */
import type { ChatMessage, ContentPart } from "../../src/contracts/openai.ts";
import { parseDataUrl } from "../../src/util/data_url.ts";
import { requestFault } from "./_gemini_fault.ts";
import { asObject, asObjects, asText, type Part } from "./_gemini_wire.ts";
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
export function toGeminiParts(content: ChatMessage["content"], param: string): Part[] {
  if (content === undefined || content === null) return [];
  if (typeof content === "string") return textParts(content);
  if (!Array.isArray(content)) {
    throw requestFault("Cannot read a message whose content is neither a string nor an array", param);
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
    throw requestFault("Cannot send anything but text here: images, audio and files belong in user messages", param);
  }
  return parts.map(({ text }) => text).join("\n");
}

function textParts(text: unknown): Part[] {
  const string = asText(text);
  return string === undefined ? [] : [{ text: string }];
}

function toGeminiPart(part: ContentPart, param: string): Part[] {
  switch (part?.type) {
    case "text":
      return textParts(part.text);
    case "refusal":
      return textParts(part.refusal);
    case "image_url":
      return [imagePart(asText(part.image_url?.url) ?? "", param)];
    case "input_audio":
      return [audioPart(part, param)];
    case "file":
      return [filePart(part, param)];
    default:
      throw requestFault(
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
export function generatedImages(images: unknown, param: string): Part[] {
  return asObjects(images).map(({ image_url, extra_content: state }) => {
    const signature = asText(asObject(asObject(state)?.google)?.thought_signature);
    const part = imagePart(asText(asObject(image_url)?.url) ?? "", param);
    return signature === undefined ? part : { ...part, thoughtSignature: signature };
  });
}

function imagePart(url: string, param: string): Part {
  if (url.startsWith("data:")) return inlinePart(url, param);
  const address = URL.canParse(url) ? new URL(url) : undefined;
  const ending = address?.pathname.split(".").at(-1)?.toLowerCase() ?? "";
  if (address?.protocol === "https:" && Object.hasOwn(fetchedImages, ending)) {
    return { fileData: { mimeType: fetchedImages[ending]!, fileUri: url } };
  }
  const endings = Object.keys(fetchedImages).join(", ");
  throw requestFault(
    `Cannot determine the type of an image by its URL: the API accepts https: URLs that end in ${endings}, and data: URLs`,
    param,
  );
}

function audioPart({ input_audio: sound }: ContentPart, param: string): Part {
  const format = asText(sound?.format)?.toLowerCase() ?? "";
  if (!Object.hasOwn(audioTypes, format)) {
    const formats = Object.keys(audioTypes).join(", ");
    throw requestFault(`Cannot send audio in the format "${format}": the API accepts ${formats}`, param);
  }
  return { inlineData: { mimeType: audioTypes[format]!, data: asText(sound?.data) ?? "" } };
}

function filePart({ file }: ContentPart, param: string): Part {
  const data = asText(asObject(file)?.file_data);
  if (data?.startsWith("data:")) return inlinePart(data, param);
  throw requestFault("Cannot send a file by its id: the API accepts a data: URL in file_data", param);
}

function inlinePart(url: string, param: string): Part {
  const { type = "", data = "" } = parseDataUrl(url) ?? {};
  if (!type.includes("/")) {
    throw requestFault("Cannot read a data: URL that does not name its type or is not in base64", param);
  }
  return { inlineData: { mimeType: properNames[type] ?? type, data } };
}
