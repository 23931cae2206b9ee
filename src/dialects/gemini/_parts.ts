/**
 * Converts parts of a user's turn to chat content parts.
 * @module
 */
import type { ContentPart, JsonObject } from "../../contracts/openai.ts";
import { invalid } from "../../pipeline/check_body.ts";
import { fromBase64 } from "../../util/base64.ts";
import { describePart } from "./_foreign_parts.ts";
import type { Position } from "./_position.ts";
import { findOwn } from "../../util/entries.ts";

/** Audio formats in chat that differ from the media subtype. */
const formats: Readonly<Record<string, string>> = { mpeg: "mp3", "x-wav": "wav", wave: "wav", "x-m4a": "m4a" };

/** URLs of files uploaded to the provider, which other providers cannot access. */
const uploaded = /\/v1\w*\/files\//;

/**
 * The parts of a content, at least one.
 *
 * @param content Members of the content.
 * @param position Path of the content.
 */
export function checkParts(
  content: JsonObject,
  position: Position,
): { readonly fields: JsonObject; readonly position: Position }[] {
  const at = position.member("parts");
  return at.list(content.parts).map((part, index) => ({
    fields: at.item(index).fields(part),
    position: at.item(index),
  }));
}

/**
 * Converts a part: text, image, audio or file. Returns none for empty text, and for parts that chat cannot express.
 *
 * @param fields Members of the part.
 * @param position Path of the part.
 */
export function userPart(fields: JsonObject, position: Position): ContentPart[] {
  const text = position.member("text").text(fields.text);
  if (text !== undefined) return text === "" ? [] : [{ type: "text", text }];
  if (fields.inlineData !== undefined) return readInlineData(fields.inlineData, position.member("inlineData"));
  if (fields.fileData !== undefined) return readFileData(fields.fileData, position.member("fileData"));
  const described = describePart(fields);
  if (described !== undefined) return [{ type: "text", text: described }];
  position.addInexpressible();
  return [];
}

/**
 * Content that must be text.
 *
 * @param content Members of the content.
 * @param position Path of the content.
 */
export function requireText(content: JsonObject, position: Position): string {
  return checkParts(content, position).flatMap(({ fields, position: at }) => {
    const text = at.member("text").text(fields.text);
    if (text === undefined) at.addInexpressible(`"${at.path}" has to be text here`);
    return text ?? [];
  }).join("\n\n");
}

function readInlineData(value: unknown, position: Position): ContentPart[] {
  const fields = position.fields(value);
  const type = position.member("mimeType").required(fields.mimeType).toLowerCase();
  const data = position.member("data").required(fields.data).replaceAll("-", "+").replaceAll("_", "/");
  const [kind, name = ""] = type.split(/[/;]/);
  const url = `data:${type};base64,${data}`;
  switch (kind) {
    case "image":
      return [{ type: "image_url", image_url: { url } }];
    case "audio":
      return [{ type: "input_audio", input_audio: { data, format: findOwn(formats, name) ?? name } }];
    case "text":
      return [{ type: "text", text: decodeText(data, position) }];
    case "video":
      position.addInexpressible();
      return [];
    default: {
      const filename = position.member("displayName").text(fields.displayName) ?? `file.${name}`;
      return [{ type: "file", file: { filename, file_data: url } }];
    }
  }
}

function decodeText(data: string, position: Position): string {
  try {
    return new TextDecoder().decode(fromBase64(data));
  } catch {
    throw invalid(`"${position.path}.data" has to be base64`, `${position.path}.data`);
  }
}

/** Only image URLs can be fetched by any provider; other files are accessible only where they were uploaded. */
function readFileData(value: unknown, position: Position): ContentPart[] {
  const fields = position.fields(value);
  const url = position.member("fileUri").required(fields.fileUri);
  const type = position.member("mimeType").text(fields.mimeType) ?? "";
  if (type.startsWith("image/") && /^https?:/i.test(url) && !uploaded.test(url)) {
    return [{ type: "image_url", image_url: { url } }];
  }
  position.addInexpressible();
  return [];
}
