/**
 * Encodes messages of AWS's binary event stream.
 * @module
 */
import { crc32 } from "node:zlib";

const encoder = new TextEncoder();

/**
 * Encodes a message.
 *
 * @param headers String headers.
 * @param body Body; an object is encoded as JSON.
 */
export function eventFrame(headers: Readonly<Record<string, string>>, body: unknown): Uint8Array {
  const head = Object.entries(headers).flatMap(([name, value]) => {
    const [nameBytes, valueBytes] = [encoder.encode(name), encoder.encode(value)];
    return [nameBytes.length, ...nameBytes, 7, valueBytes.length >> 8, valueBytes.length & 255, ...valueBytes];
  });
  const content = encoder.encode(typeof body === "string" ? body : JSON.stringify(body));
  const bytes = new Uint8Array(16 + head.length + content.length);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, bytes.length);
  view.setUint32(4, head.length);
  view.setUint32(8, crc32(bytes.subarray(0, 8)));
  bytes.set(head, 12);
  bytes.set(content, 12 + head.length);
  view.setUint32(bytes.length - 4, crc32(bytes.subarray(0, bytes.length - 4)));
  return bytes;
}

/**
 * Encodes an event message.
 *
 * @param type Event type, such as `contentBlockDelta`.
 * @param body Body; an object is encoded as JSON.
 */
export function event(type: string, body: unknown): Uint8Array {
  return eventFrame({
    ":message-type": "event",
    ":event-type": type,
    ":content-type": "application/json",
  }, body);
}

/**
 * Encodes an exception message.
 *
 * @param type Exception type, such as `throttlingException`.
 */
export function exception(type: string, message: string): Uint8Array {
  return eventFrame({
    ":message-type": "exception",
    ":exception-type": type,
    ":content-type": "application/json",
  }, { message });
}
