/**
 * A scripted provider on loopback, with OpenAI's dialect by default. It behaves or misbehaves as scripted, records
 * requests, and never waits for time: a slow response waits at a `Gate`.
 * @module
 */
import type { Behaviour } from "./_behaviours.ts";
import { type RawServer, type ReceivedRequest, startRawServer } from "./_raw_http.ts";

export * from "./_behaviours.ts";
export * from "./_openai_behaviours.ts";
export type { Exchange, ReceivedRequest } from "./_raw_http.ts";

/**
 * One behaviour for all requests, a list of behaviours for consecutive requests (the last one repeats), or a function of
 * the request.
 */
export type Script = Behaviour | readonly Behaviour[] | ((request: ReceivedRequest) => Behaviour);

/** A running provider. */
export interface Upstream {
  /** Base URL, such as `http://127.0.0.1:40000/v1`. */
  readonly url: string;
  /** Its port. */
  readonly port: number;
  /** Number of requests. */
  readonly calls: number;
  /** Number of accepted connections. */
  readonly connections: number;
  /** Number of open connections. */
  readonly open: number;
  /** Requests, oldest first. */
  readonly requests: readonly ReceivedRequest[];
  /** Resolves with the n-th request, starting at 1. */
  received(number: number): Promise<ReceivedRequest>;
  /** Changes its behaviour from the next request on. */
  follow(script: Script): void;
  /** Closes it and all connections. */
  close(): Promise<void>;
  /** Closes it. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** Starts a provider. */
export async function startUpstream(script: Script): Promise<Upstream> {
  const requests: ReceivedRequest[] = [];
  const waiting: { number: number; resolve: (request: ReceivedRequest) => void }[] = [];
  let choose = chooser(script);
  const server: RawServer = await startRawServer(async (exchange) => {
    const { request } = exchange;
    requests.push(request);
    for (const { number, resolve } of waiting) if (number === request.number) resolve(request);
    await choose(request).play(exchange);
  });
  const close = () => server.close();
  return {
    url: `http://127.0.0.1:${server.port}/v1`,
    port: server.port,
    requests,
    get calls() {
      return requests.length;
    },
    get connections() {
      return server.connections;
    },
    get open() {
      return server.open;
    },
    received: (number) =>
      new Promise((resolve) => {
        const request = requests[number - 1];
        if (request === undefined) waiting.push({ number, resolve });
        else resolve(request);
      }),
    follow: (next) => choose = chooser(next),
    close,
    [Symbol.asyncDispose]: close,
  };
}

function chooser(script: Script): (request: ReceivedRequest) => Behaviour {
  if (typeof script === "function") return script;
  if (!Array.isArray(script)) return () => script as Behaviour;
  let turn = 0;
  return () => script[Math.min(turn++, script.length - 1)];
}

/** Returns a URL that refuses connections: an address of this machine that no test server uses. */
export function refusingUrl(): Promise<string> {
  return Promise.resolve("http://127.77.0.1:8081/v1");
}
