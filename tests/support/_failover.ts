/**
 * A proxy over scripted providers, with everything tests inspect: responses, upstream requests, state of models, and
 * events.
 * @module
 */
import { assertMatch } from "@std/assert";
import type { MeshEvent, RoutingRecord } from "../../mod.ts";
import { type FakeClock, fakeClock } from "../../src/runtime/test.ts";
import { breathe } from "./_breathe.ts";
import { happens, until } from "./patience.ts";
import { startTestProxy, testConfig, type TestProxy, type TestProxyOptions } from "./proxy.ts";
import {
  type Behaviour,
  type Gate,
  type ReceivedRequest,
  type Script,
  startUpstream,
  type Upstream,
} from "./upstream.ts";

export { breathe };

/** A provider on whose port nothing listens. */
export const refusing = "refusing";

/** Below the ports that a system gives away: another program could have one of those a moment later. */
const refusingAddress = "http://127.0.0.1:2/v1";

/** Providers by model name, in order of priority. */
export type Cast = Readonly<Record<string, Script | typeof refusing>>;

/** Options of a {@linkcode Stage} other than its providers. */
export type StageOptions = Omit<TestProxyOptions, "upstreams">;

/** An error body, the members a test compares. */
export interface SeenError {
  readonly message: string;
  readonly type: string;
  readonly param: string | null;
  readonly code: string | null;
}

/** What a client saw of a non-streaming response. */
export interface Seen {
  readonly status: number;
  /** The response's text. */
  readonly text: string | null | undefined;
  readonly error: SeenError | undefined;
  /** `<model> <attempts>/<fallbacks>` of the `x-mesh-*` headers. */
  readonly route: string;
  readonly headers: Headers;
  readonly body: unknown;
}

/** One chunk, the members a test looks at. */
export interface SeenChunk {
  readonly choices: readonly { readonly delta: Record<string, unknown>; readonly finish_reason: string | null }[];
  readonly usage?: unknown;
}

/** What a client saw of a streamed response. */
export interface SeenStream extends Omit<Seen, "body" | "text"> {
  /** The texts of all chunks, joined. */
  readonly text: string;
  readonly chunks: readonly SeenChunk[];
  /** How many lines `data: [DONE]` came. */
  readonly done: number;
  /** What the last line was: a chunk, an error or `[DONE]`. */
  readonly last: "chunk" | "error" | "done" | "nothing";
}

/** The scene of one test. */
export class Stage implements AsyncDisposable {
  readonly proxy: TestProxy;
  readonly upstreams: Readonly<Record<string, Upstream>>;

  constructor(proxy: TestProxy, upstreams: Readonly<Record<string, Upstream>>) {
    this.proxy = proxy;
    this.upstreams = upstreams;
  }

  get clock(): FakeClock {
    return this.proxy.clock;
  }

  /** Asks the pool `chat` for a non-streaming response. */
  async ask(body: Readonly<Record<string, unknown>> = {}, init: RequestInit = {}): Promise<Seen> {
    return readSeen(await this.proxy.chat(body, init));
  }

  /** Asks the pool `chat` for a streamed response. */
  async askStream(body: Readonly<Record<string, unknown>> = {}, init: RequestInit = {}): Promise<SeenStream> {
    return await readSeenStream(await this.proxy.chat({ stream: true, ...body }, init));
  }

  /** Asks for a non-streaming response so many times, one after the other. */
  async askTimes(count: number): Promise<Seen[]> {
    const all: Seen[] = [];
    while (all.length < count) all.push(await this.ask());
    return all;
  }

  /** The n-th call of a provider (from 1), once it has arrived. */
  received(name: string, number = 1): Promise<ReceivedRequest> {
    return soon(this.upstreams[name]!.received(number));
  }

  /** Calls each provider has got. */
  get calls(): Record<string, number> {
    return Object.fromEntries(Object.entries(this.upstreams).map(([name, { calls }]) => [name, calls]));
  }

  /** Each model of a pool: `active`, or the reason of its standby and what is left of it. */
  states(pool = "chat"): Record<string, string> {
    const { models } = this.proxy.mesh.poolStatus()[pool]!;
    return Object.fromEntries(models.map(({ name, status, reason, retryAt }) => {
      const seconds = (Date.parse(retryAt ?? "") - this.clock.now()) / 1000;
      return [name, status === "active" ? status : `${reason} for ${seconds}s`];
    }));
  }

  /** The events but outages and those of budgets, oldest first, such as `rotation a>b server` and `deactivation a retry_limit`. */
  get events(): string[] {
    return this.#reported("event").filter(({ event }) => !/^(outage|budget)$/.test(event)).map(
      ({ event, model, provider, from, to, reason }) => {
        const who = event === "rotation" ? `${from}>${to}` : model ?? `provider ${provider}`;
        return `${event} ${who} ${reason}`;
      },
    );
  }

  /** The last routing decision. */
  get routing(): RoutingRecord {
    return this.#reported("routing").at(-1)!;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.proxy[Symbol.asyncDispose]();
    await Promise.all(Object.values(this.upstreams).map((upstream) => upstream.close()));
  }

  #reported<Type extends "event" | "routing">(type: Type): Extract<MeshEvent | RoutingRecord, { type: Type }>[] {
    return this.proxy.records.filter((record) => record.type === type) as never;
  }
}

/**
 * Starts providers and a proxy over them.
 *
 * @param options Settings; or what makes them of the providers' addresses.
 */
export async function stage(
  cast: Cast,
  options: StageOptions | ((urls: Readonly<Record<string, string>>) => StageOptions) = {},
): Promise<Stage> {
  const upstreams: Record<string, Upstream> = {};
  const urls: Record<string, string> = {};
  for (const [name, script] of Object.entries(cast)) {
    if (script !== refusing) upstreams[name] = await startUpstream(script);
    urls[name] = upstreams[name]?.url ?? refusingAddress;
  }
  const rest = typeof options === "function" ? options(urls) : options;
  return new Stage(await startTestProxy({ upstreams: urls, clock: eveningClock(), ...rest }), upstreams);
}

/**
 * A configuration with several models per provider: names to providers, in order of priority.
 *
 * @param models Model name to provider.
 * @param settings Of the pool, of every provider, and of single ones.
 */
export function severalModels(
  models: Readonly<Record<string, string>>,
  settings: Pick<StageOptions, "pool" | "provider"> & { readonly of?: Readonly<Record<string, object>> } = {},
): (urls: Readonly<Record<string, string>>) => StageOptions {
  return (upstreams) => {
    const names = Object.keys(models);
    const { providers } = testConfig({ upstreams, provider: settings.provider ?? {} }) as {
      providers: Record<string, object>;
    };
    return {
      config: {
        providers: Object.fromEntries(
          Object.entries(providers).map(([id, entry]) => [id, { ...entry, ...settings.of?.[id] }]),
        ),
        models: Object.fromEntries(
          names.map((name) => [name, { provider: models[name], capabilities: ["chat-completion"] }]),
        ),
        pools: { chat: { models: names, strategy: "priority", model_priority: names, ...settings.pool } },
      },
    };
  };
}

/** Returns a fake clock at 18:00 UTC, six hours before midnight. */
export function eveningClock(): FakeClock {
  return fakeClock({ now: Date.UTC(2026, 0, 1, 18), skipSleeps: true });
}

/**
 * Returns a behaviour that starts once a gate opens.
 *
 * @param behaviour The behaviour from then on.
 */
export function behind(gate: Gate, behaviour: Behaviour): Behaviour {
  return {
    async play(exchange) {
      await gate.pass();
      await behaviour.play(exchange);
    },
  };
}

/**
 * Lets time pass, then what it sets off over real sockets: until a promise is settled.
 *
 * @param ms How much.
 * @param result What it is to set off.
 */
export async function after<Result>(clock: FakeClock, ms: number, result: Promise<Result>): Promise<Result> {
  await clock.advance(ms);
  return await soon(result);
}

/**
 * What is to happen without time passing. Fails, instead of waiting for ever, when it does not.
 *
 * @param result What is awaited.
 * @param what What it is, to be named then.
 */
export function soon<Result>(result: Promise<Result>, what = "what takes no time of the fake clock"): Promise<Result> {
  return happens(what, result);
}

/** Lets requests go that a gate holds, once so many of them are sent and all the others have come back. */
export async function letGo(answers: readonly Promise<Seen>[], gate: Gate, sent: number): Promise<Seen[]> {
  let back = 0;
  const all = answers.map((answer) => answer.finally(() => back++));
  await soon(gate.reached(sent));
  await until(() => back === answers.length - sent);
  gate.openAll();
  return await soon(Promise.all(all));
}

/** Whether a promise is still open once all that can happen without time passing has happened. */
export async function isOpen(promise: Promise<unknown>): Promise<boolean> {
  let open = true;
  promise.then(() => open = false, () => open = false);
  await breathe();
  return open;
}

function formatRoute(headers: Headers): string {
  const [model, attempts, fallbacks] = ["model", "attempts", "fallbacks"].map((name) => headers.get(`x-mesh-${name}`));
  return `${model} ${attempts}/${fallbacks}`;
}

async function readSeen(response: Response): Promise<Seen> {
  const { status, headers } = response;
  const body = await response.json() as {
    choices?: { message: { content: string | null } }[];
    error?: SeenError;
  };
  const text = body.choices?.[0]?.message.content;
  return { status, headers, route: formatRoute(headers), text, error: body.error, body };
}

async function readSeenStream(response: Response): Promise<SeenStream> {
  const { status, headers } = response;
  return { status, headers, route: formatRoute(headers), ...readStream(await response.text()) };
}

/**
 * Reads a stream as the standard lays it out: one `data:` line per event, LF only.
 *
 * @param text All of it.
 */
export function readStream(text: string): Pick<SeenStream, "text" | "chunks" | "done" | "last" | "error"> {
  if (text !== "") assertMatch(text, /^(data: [^\r\n]+\n\n)+$/);
  const data = text.split("\n\n").slice(0, -1).map((line) => line.slice("data: ".length));
  const values = data.filter((item) => item !== "[DONE]").map((item) =>
    JSON.parse(item) as SeenChunk & { error?: SeenError }
  );
  const chunks = values.filter(({ error }) => error === undefined);
  const last = data.at(-1);
  return {
    chunks,
    text: chunks.flatMap(({ choices }) => choices.map(({ delta }) => delta.content ?? "")).join(""),
    done: data.filter((item) => item === "[DONE]").length,
    error: values.find(({ error }) => error !== undefined)?.error,
    last: last === undefined ? "nothing" : last === "[DONE]" ? "done" : last.includes('"error"') ? "error" : "chunk",
  };
}
