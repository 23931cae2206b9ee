/**
 * Replies of providers as data, and what becomes of them when they are mutated: values, events, frames, bytes, headers,
 * statuses.
 * @module
 */
import { eventFrame } from "./event_frames.ts";
import { mutated, mutatedText, pick, type Random } from "./_mutations.ts";
import { type Behaviour, completeResponse, formatHead, raw, startUpstream } from "./upstream.ts";

/** A server-sent event: the lines before its data, and the data. */
interface SentEvent {
  readonly head: string;
  readonly data: unknown;
}

/** A message of AWS's event stream. */
interface Frame {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

/** The body of a reply. */
export type ReplyBody =
  | { readonly kind: "json"; readonly value: unknown }
  | { readonly kind: "events"; readonly events: readonly SentEvent[] }
  | { readonly kind: "frames"; readonly frames: readonly Frame[] }
  | { readonly kind: "bytes"; readonly bytes: Uint8Array; readonly type: string };

/**
 * Asks a scripted provider once, and returns what it says.
 *
 * @param path Path of the request.
 * @param body Body of the request.
 */
export async function captured(behaviour: Behaviour, path: string, body: object): Promise<ReplyBody> {
  await using upstream = await startUpstream(behaviour);
  const url = new URL(path, upstream.url);
  const response = await fetch(url, { method: "POST", body: JSON.stringify(body) });
  const type = response.headers.get("content-type") ?? "";
  const bytes = new Uint8Array(await response.arrayBuffer());
  if (type.includes("eventstream")) return { kind: "frames", frames: [...framesIn(bytes)] };
  const text = new TextDecoder().decode(bytes);
  if (type.includes("json")) return { kind: "json", value: JSON.parse(text) };
  return type.includes("event-stream") ? { kind: "events", events: eventsIn(text) } : { kind: "bytes", bytes, type };
}

function eventsIn(text: string): SentEvent[] {
  return text.split("\n\n").filter((block) => block !== "").map((block) => {
    const at = block.indexOf("data: ");
    const data = block.slice(at + "data: ".length);
    return { head: block.slice(0, at), data: data.startsWith("{") ? JSON.parse(data) : data };
  });
}

function* framesIn(bytes: Uint8Array): Generator<Frame> {
  const decoder = new TextDecoder();
  for (let at = 0; at < bytes.length;) {
    const view = new DataView(bytes.buffer, bytes.byteOffset + at);
    const [total, headLength] = [view.getUint32(0), view.getUint32(4)];
    const headers: Record<string, string> = {};
    for (let next = at + 12; next < at + 12 + headLength;) {
      const nameEnd = next + 1 + bytes[next]!;
      const valueEnd = nameEnd + 3 + bytes[nameEnd + 1]! * 256 + bytes[nameEnd + 2]!;
      headers[decoder.decode(bytes.subarray(next + 1, nameEnd))] = decoder.decode(
        bytes.subarray(nameEnd + 3, valueEnd),
      );
      next = valueEnd;
    }
    yield { headers, body: JSON.parse(decoder.decode(bytes.subarray(at + 12 + headLength, at + total - 4))) };
    at += total;
  }
}

/** A reply as it is sent. */
export interface WireReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
}

const mediaTypes = {
  json: "application/json",
  events: "text/event-stream",
  frames: "application/vnd.amazon.eventstream",
};

/** Returns a reply as its provider means it. */
export function written(body: ReplyBody): WireReply {
  const type = body.kind === "bytes" ? body.type : mediaTypes[body.kind];
  return { status: 200, headers: { "content-type": type }, body: encoded(body) };
}

/** Returns the behaviour that sends a reply. */
export function sending({ status, headers, body }: WireReply): Behaviour {
  if ("content-length" in headers || status < 200) return raw(joined(formatHead(status, headers), body), "close");
  return completeResponse(status, body, undefined, headers);
}

function joined(head: string, body: string | Uint8Array): Uint8Array {
  const encoder = new TextEncoder();
  return new Uint8Array([...encoder.encode(head), ...(typeof body === "string" ? encoder.encode(body) : body)]);
}

function encoded(body: ReplyBody): string | Uint8Array {
  if (body.kind === "json") return JSON.stringify(body.value) ?? "";
  if (body.kind === "bytes") return body.bytes;
  if (body.kind === "frames") {
    return new Uint8Array(body.frames.flatMap(({ headers, body }) => [...eventFrame(headers, body ?? "null")]));
  }
  const textOf = (data: unknown) => typeof data === "string" ? data : JSON.stringify(data);
  return body.events.map(({ head, data }) => `${head}data: ${textOf(data)}\n\n`).join("");
}

/** Errors of several vendors, to be mutated. */
const errors: readonly unknown[] = [
  { error: { message: "No", type: "invalid_request_error", param: "tools", code: "invalid_value" } },
  { type: "error", error: { type: "overloaded_error", message: "Busy" }, request_id: "req_1" },
  {
    error: {
      code: 429,
      message: "Slow down",
      status: "RESOURCE_EXHAUSTED",
      details: [{ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "7s" }],
    },
  },
  { message: "Too many tokens", __type: "ThrottlingException" },
  { detail: [{ loc: ["body", "model"], msg: "field required", type: "value_error" }] },
];

const statuses = [
  201,
  204,
  206,
  299,
  301,
  302,
  304,
  400,
  401,
  402,
  403,
  404,
  408,
  409,
  413,
  422,
  429,
  451,
  500,
  503,
  529,
];

const oddHeaders: readonly Readonly<Record<string, string>>[] = [
  { "content-type": "text/html" },
  { "content-type": "" },
  { "content-type": "application/json; charset=utf-16" },
  { "content-type": "text/event-stream; charset=x" },
  { "content-encoding": "gzip" },
  { "retry-after": "-1" },
  { "retry-after": "Wed, 99 Foo 2026" },
  { "retry-after": "9".repeat(40), "retry-after-ms": "NaN" },
  { "x-ratelimit-remaining-requests": "-5", "x-ratelimit-reset-requests": "1h1h" },
  { "x-ratelimit-limit-tokens": "1e400", "x-ratelimit-remaining-tokens": "many", "x-ratelimit-reset-tokens": "" },
  { "anthropic-ratelimit-requests-remaining": "0", "anthropic-ratelimit-requests-reset": "soon" },
  { "x-should-retry": "maybe", "x-request-id": "\u00e9" },
  { "content-length": "3" },
  { "content-length": "999999" },
  { location: "http://[" },
];

/**
 * Returns a reply with mutations: of its values, of the order of its events, of its bytes, sometimes of status and headers.
 *
 * @param random Random number generator.
 */
export function mutatedReply(body: ReplyBody, random: Random): WireReply {
  const isError = random() < 0.12;
  const chosen: ReplyBody = isError ? { kind: "json", value: pick(errors, random) } : body;
  const changed = encoded(mutatedBody(chosen, random));
  const { headers } = written(chosen);
  const isTorn = random() < 0.15;
  return {
    status: isError || random() < 0.05 ? pick(statuses, random) : 200,
    headers: random() < 0.1 ? { ...headers, ...pick(oddHeaders, random) } : headers,
    body: isTorn ? torn(changed, random) : changed,
  };
}

function torn(body: string | Uint8Array, random: Random): string | Uint8Array {
  if (typeof body === "string") return mutatedText(body, random);
  const at = Math.floor(random() * body.length);
  if (random() < 0.5) return body.subarray(0, at);
  const flipped = body.slice();
  flipped[at] = 255 - (flipped[at] ?? 0);
  return flipped;
}

function mutatedBody(body: ReplyBody, random: Random): ReplyBody {
  if (body.kind === "bytes") return body;
  if (body.kind === "json") return { kind: "json", value: mutated(body.value, random) };
  if (body.kind === "events") {
    return {
      kind: "events",
      events: shuffled(body.events, (event) => ({ ...event, data: mutated(event.data, random) }), random),
    };
  }
  const frames = shuffled(body.frames, (frame) => ({ ...frame, body: mutated(frame.body, random) }), random);
  return { kind: "frames", frames };
}

/** Changes one to three entries of a list: their content, their place, or their number. */
function shuffled<Entry>(list: readonly Entry[], change: (entry: Entry) => Entry, random: Random): Entry[] {
  const all = [...list];
  const count = 1 + Math.floor(random() * 3);
  for (let index = 0; index < count && all.length > 0; index++) {
    const at = Math.floor(random() * all.length);
    const kind = random();
    if (kind < 0.7) all[at] = change(all[at]!);
    else if (kind < 0.8) all.splice(at, 1);
    else if (kind < 0.9) all.splice(at, 0, all[at]!);
    else all.push(...all.splice(at, 1));
  }
  return all;
}
