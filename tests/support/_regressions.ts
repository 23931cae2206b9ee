/**
 * Clients by socket that do not behave, and clients over a provider of the test's own.
 * @module
 */
import { connect, type Socket } from "node:net";
import { create, type CreateOptions, type MeshClient, type Provider } from "../../mod.ts";
import { customProvider } from "./_custom_provider.ts";
import { breathe } from "./_failover.ts";
import { type FakeClock, fakeClock } from "./_library.ts";

/** A client of a pool `chat` with one model, `own`, of a provider of the test's own. */
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

/** A connection on which a test decides about every byte of a request. */
export interface RawClient extends Disposable {
  /** Sends these bytes. */
  write(data: string): void;
  /** Resolves with all that came, once it contains this text or the connection is over. */
  answered(text: string): Promise<string>;
}

/**
 * Connects to a proxy.
 *
 * @param url The proxy's.
 * @param reads False: nothing is ever read from the connection.
 */
export function rawClient(url: string, reads = true): RawClient {
  const socket = connect({ host: "127.0.0.1", port: Number(new URL(url).port) });
  const seen = { text: "", isOver: false };
  if (reads) listen(socket, seen);
  socket.on("error", () => {}); // being cut off is part of the test
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

/** The head of a chat request up to its last header line, without the blank line. */
export const rawHead: string =
  "POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n";

/**
 * Lets time pass in small steps, and sockets do their part in between, until a promise is settled.
 *
 * @param clock The clock.
 * @param result What is awaited.
 * @param mostMs Longest time to let pass.
 * @returns How much time passed; more than `mostMs` when it was not settled.
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
