/**
 * Bodies that come in chunks, over Node's client.
 * @module
 */
import type { ClientRequest } from "node:http";

/**
 * Writes a body as it comes, no faster than it is taken; one that breaks off ends the call.
 *
 * @param body Read once.
 * @param sent Connected.
 */
export async function writeIncoming(body: AsyncIterable<Uint8Array>, sent: ClientRequest): Promise<void> {
  try {
    for await (const chunk of body) {
      if (sent.destroyed) return;
      if (!sent.write(chunk)) await drained(sent);
    }
    sent.end();
  } catch (error) {
    sent.destroy(error instanceof Error ? error : undefined); // without its end it is no body
  }
}

/** Resolves when there is room for more, or the call is over. */
function drained(sent: ClientRequest): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      sent.off("drain", done);
      sent.off("close", done);
      resolve();
    };
    sent.on("drain", done);
    sent.on("close", done);
  });
}
