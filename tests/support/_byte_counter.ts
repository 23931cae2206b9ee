/** A provider that counts the bytes it gets, and keeps none. */
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A provider that counts. */
interface ByteCounter extends AsyncDisposable {
  /** With the version prefix. */
  readonly url: string;
  /** Bytes of all requests so far. */
  readonly received: number;
}

/**
 * Starts one.
 *
 * @param answer Writes the response, once a request is complete.
 */
export async function startByteCounter(
  answer: (response: ServerResponse, path: string, received: number) => void,
): Promise<ByteCounter> {
  let received = 0;
  const server = createServer((request, response) => {
    request.on("data", (bytes: Uint8Array) => received += bytes.length);
    request.on("end", () => answer(response, request.url!, received));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    get received() {
      return received;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
