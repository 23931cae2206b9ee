/**
 * From the parts of a user's turn to parts of a chat message.
 * @module
 */
import type { ContentPart, JsonObject } from "../../contracts/openai.ts";
import { invalid } from "../../pipeline/check_body.ts";
import { fromBase64 } from "../../util/base64.ts";
import type { Place } from "./_place.ts";

/** What sounds are called in chat, where that is not the second half of their media type. */
const formats: Readonly<Record<string, string>> = { mpeg: "mp3", "x-wav": "wav", wave: "wav", "x-m4a": "m4a" };

/** Addresses of files that were sent to the provider: nothing that others could read. */
const uploaded = /\/v1\w*\/files\//;

/**
 * The parts of a content, at least one.
 *
 * @param content Its fields.
 * @param place Its position.
 */
export function partsOf(content: JsonObject, place: Place): { readonly fields: JsonObject; readonly place: Place }[] {
  const at = place.member("parts");
  return at.list(content.parts).map((part, index) => ({ fields: at.item(index).fields(part), place: at.item(index) }));
}

/**
 * What a user may send: text, images, sound, files. None for an empty text, and for what chat has no words for.
 *
 * @param fields The part.
 * @param place Its position.
 */
export function userPart(fields: JsonObject, place: Place): ContentPart[] {
  const text = place.member("text").text(fields.text);
  if (text !== undefined) return text === "" ? [] : [{ type: "text", text }];
  if (fields.inlineData !== undefined) return inlinePart(fields.inlineData, place.member("inlineData"));
  if (fields.fileData !== undefined) return filePart(fields.fileData, place.member("fileData"));
  place.addUnsaid();
  return [];
}

/**
 * Content that is text alone.
 *
 * @param content Its fields.
 * @param place Its position.
 */
export function textOf(content: JsonObject, place: Place): string {
  return partsOf(content, place).map(({ fields, place: at }) => {
    const text = at.member("text").text(fields.text);
    if (text === undefined) throw invalid(`"${at.path}" has to be text here`, at.path);
    return text;
  }).join("\n\n");
}

function inlinePart(value: unknown, place: Place): ContentPart[] {
  const fields = place.fields(value);
  const type = place.member("mimeType").required(fields.mimeType).toLowerCase();
  const data = place.member("data").required(fields.data).replaceAll("-", "+").replaceAll("_", "/");
  const [kind, name = ""] = type.split(/[/;]/);
  const url = `data:${type};base64,${data}`;
  switch (kind) {
    case "image":
      return [{ type: "image_url", image_url: { url } }];
    case "audio":
      return [{ type: "input_audio", input_audio: { data, format: formats[name] ?? name } }];
    case "text":
      return [{ type: "text", text: decoded(data, place) }];
    case "video":
      place.addUnsaid();
      return [];
    default: {
      const filename = place.member("displayName").text(fields.displayName) ?? `file.${name}`;
      return [{ type: "file", file: { filename, file_data: url } }];
    }
  }
}

function decoded(data: string, place: Place): string {
  try {
    return new TextDecoder().decode(fromBase64(data));
  } catch {
    throw invalid(`"${place.path}.data" has to be base64`, `${place.path}.data`);
  }
}

/** An image that everyone can fetch; any other file is only where it was sent to. */
function filePart(value: unknown, place: Place): ContentPart[] {
  const fields = place.fields(value);
  const url = place.member("fileUri").required(fields.fileUri);
  const type = place.member("mimeType").text(fields.mimeType) ?? "";
  if (type.startsWith("image/") && /^https?:/i.test(url) && !uploaded.test(url)) {
    return [{ type: "image_url", image_url: { url } }];
  }
  place.addUnsaid();
  return [];
}
