/**
 * Text that a provider sends as content, such as subtitles, past the guards. It is read whole before: guards have to
 * see it, and none of its formats can be cut.
 * @module
 */
import type { GuardedText } from "../../contracts/guard.ts";
import { UpstreamError } from "../../errors.ts";
import { concat } from "../../util/bytes.ts";
import type { ByteStream } from "../content_stream.ts";
import type { CheckedTexts } from "./guard_chain.ts";
import { listTexts, toTextMap, withTexts } from "./texts.ts";

type CheckResponse = (texts: readonly GuardedText[]) => CheckedTexts;

/** Maximum size of such content, bytes. */
const maxBytes = 16 * 1024 * 1024;

/**
 * Returns content whose texts have passed.
 *
 * @throws If they are blocked.
 */
export async function guardContent(stream: ByteStream, check: CheckResponse): Promise<ByteStream> {
  if (!isText(stream.type)) return stream;
  try {
    return emit(stream, await guardBytes(await readAll(stream), stream.type, check));
  } catch (error) {
    stream.cancel();
    throw error;
  }
}

/**
 * Returns text of a media type as it may be sent. Other types are unchanged.
 *
 * @throws If it is blocked.
 */
export async function guardBytes(bytes: Uint8Array, type: string, check: CheckResponse): Promise<Uint8Array> {
  if (!isText(type)) return bytes;
  const text = new TextDecoder().decode(bytes);
  const passed = /event-stream/i.test(type)
    ? await guardEvents(text, check)
    : await guardDocument(text, { check, isJson: /\bjson\b/i.test(type) });
  return passed === text ? bytes : new TextEncoder().encode(passed);
}

function isText(type: string): boolean {
  return /^text\/|\bjson\b|\bxml\b|subrip/i.test(type);
}

async function readAll(stream: ByteStream): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for (let chunk = await stream.read(); chunk !== undefined; chunk = await stream.read()) {
    size += chunk.length;
    if (size > maxBytes) {
      throw new UpstreamError("The text is too long for the guards", { kind: "invalid_response" });
    }
    chunks.push(chunk);
  }
  return concat(chunks);
}

async function guardDocument(
  text: string,
  { check, isJson }: { readonly check: CheckResponse; readonly isJson: boolean },
): Promise<string> {
  const body = isJson ? parseJson(text) : undefined;
  if (body === undefined) return (await check([{ path: "text", text }]))[0]!.text;
  const texts = listTexts(body, "response");
  const passed = await check(texts);
  return passed === texts ? text : JSON.stringify(withTexts(body, toTextMap(passed), "response"));
}

/** Checks the deltas of a transcript as one text. What is replaced stands in the first of them. */
async function guardEvents(text: string, check: CheckResponse): Promise<string> {
  const lines = text.split(/\r?\n/);
  const events = lines.map((line) => line.startsWith("data:") ? parseJson(line.slice(5)) : undefined);
  const isDelta = (event: unknown): event is { delta: string } => typeof Object(event).delta === "string";
  const delta = { path: "text", text: events.filter(isDelta).map(({ delta }) => delta).join("") };
  const others = events.flatMap((event, index) =>
    event === undefined || isDelta(event)
      ? []
      : listTexts(event, "response").map(({ path, text }) => ({ path: `events[${index}].${path}`, text }))
  );
  const texts = delta.text === "" ? others : [delta, ...others];
  const passed = await check(texts);
  if (passed === texts) return text;
  const byPath = toTextMap(passed);
  let rest = byPath.get("text") ?? "";
  const isChanged = rest !== delta.text;
  return lines.map((line, index) => {
    const event = events[index];
    if (event === undefined) return line;
    if (isDelta(event)) {
      if (!isChanged) return line;
      const part = rest;
      rest = "";
      return `data: ${JSON.stringify({ ...event, delta: part })}`;
    }
    const own = new Map([...byPath].flatMap(([path, text]) => {
      const prefix = `events[${index}].`;
      return path.startsWith(prefix) ? [[path.slice(prefix.length), text] as const] : [];
    }));
    return `data: ${JSON.stringify(withTexts(event, own, "response"))}`;
  }).join("\n");
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // such as `[DONE]`
  }
}

function emit({ type }: ByteStream, bytes: Uint8Array): ByteStream {
  let rest: Uint8Array | undefined = bytes;
  return {
    type,
    read: () => {
      const part = rest;
      rest = undefined;
      return Promise.resolve(part);
    },
    cancel: () => void (rest = undefined),
  };
}
