/**
 * Misbehaving clients over sockets, and clients with a provider of the test.
 * @module
 */
import { connect, type Socket } from "node:net";
import { create, type CreateOptions, type MeshClient, type Provider } from "../../mod.ts";
import { customProvider } from "./_custom_provider.ts";
import { breathe } from "./_failover.ts";
import { type FakeClock, fakeClock } from "./_library.ts";

/** Returns a client of a pool `chat` with one model, `own`, of the test's provider. */
export function clientOfOwn(
  provider: Partial<Provider>,
  clock: FakeClock = fakeClock({ skipSleeps: true }),
  options: CreateOptions = {},
): MeshClient {
  return create({
    config: {
      providers: { own: { instance: customProvider(provider) } },
      models: { own: { provider: "own" } },
      pools: { chat: { models: ["own"], retry: { max_attempts: 0 } } },
    },
    clock,
    ...options,
  });
}

/** A connection with control of every byte of a request. */
export interface RawClient extends Disposable {
  /** Sends bytes. */
  write(data: string): void;
  /** Resolves with everything received, once it contains a text or the connection has ended. */
  answered(text: string): Promise<string>;
}

/**
 * Connects to a proxy.
 *
 * @param url URL of the proxy.
 * @param reads Whether data is read from the connection.
 */
export function rawClient(url: string, reads = true): RawClient {
  const socket = connect({ host: "127.0.0.1", port: Number(new URL(url).port) });
  const seen = { text: "", isOver: false };
  if (reads) listen(socket, seen);
  socket.on("error", () => {}); // resets are expected
  return {
    write: (data) => void socket.write(data),
    async answered(text) {
      while (!seen.text.includes(text) && !seen.isOver) await breathe();
      return seen.text;
    },
    [Symbol.dispose]: () => void socket.destroy(),
  };
}

function listen(socket: Socket, seen: { text: string; isOver: boolean }): void {
  socket.on("data", (data: Uint8Array) => seen.text += new TextDecoder().decode(data));
  socket.on("close", () => seen.isOver = true);
}

/** The headers of a chat request, without the empty line at the end. */
export const rawHead: string =
  "POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n";

/**
 * Advances the clock in small steps, with socket activity in between, until a promise settles.
 *
 * @param maxMs Maximum time, ms.
 * @returns The elapsed time, ms; more than `maxMs` if it has not settled.
 */
export async function timeUntil(clock: FakeClock, result: Promise<unknown>, maxMs: number): Promise<number> {
  let isSettled = false;
  const settled = () => void (isSettled = true);
  result.then(settled, settled);
  const from = clock.monotonic();
  const stepMs = maxMs / 20;
  for (let steps = 0; !isSettled && steps <= 20; steps++) {
    await breathe();
    if (!isSettled) await clock.advance(stepMs);
    await breathe();
  }
  return clock.monotonic() - from;
}
