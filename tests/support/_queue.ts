/**
 * Pools with a queue over providers that hold each call until a test ends it.
 * @module
 */
import {
  type CallSettings,
  create,
  type MeshClient,
  MeshError,
  type MeshEvent,
  type Provider,
  type RoutingRecord,
  UpstreamError,
} from "../../mod.ts";
import { type FakeClock, fakeClock } from "../../src/runtime/test.ts";
import { until } from "./patience.ts";
import { createResponse, customProvider } from "./_custom_provider.ts";

/** A call that a provider has received. */
export interface HeldCall {
  /** The text of the request. */
  readonly text: string;
  /** The model. */
  readonly model: string;
  /** Responds with the text of the request. */
  respond(): void;
  /** Fails. */
  fail(kind: "server" | "rate_limited" | "request", retryAfterMs?: number): void;
}

/** Calls that providers have received. */
export class HeldCalls {
  /** All calls, in order. */
  readonly all: HeldCall[] = [];
  /** Calls in progress, in order. */
  readonly open: HeldCall[] = [];
  /** Maximum number of calls in progress at a time. */
  peak = 0;

  /** The texts of all calls, in order. */
  get texts(): string[] {
    return this.all.map(({ text }) => text);
  }

  /** Creates a provider. */
  provider(): Provider {
    return customProvider({
      complete: ({ model, body }, { signal }) =>
        new Promise((resolve, reject) => {
          const text = String(body.messages.at(-1)!.content);
          const leave = () => void this.open.splice(this.open.indexOf(call), 1);
          const call: HeldCall = {
            text,
            model: model.id,
            respond: () => {
              leave();
              resolve({ body: createResponse(text) });
            },
            fail: (kind, retryAfterMs) => {
              leave();
              const error = { message: "failed", type: "server_error", param: null, code: null };
              const fault = {
                status: kind === "request" ? 400 : 503,
                error,
                ...(retryAfterMs !== undefined && { retryAfterMs }),
              };
              reject(new UpstreamError("failed", { kind, fault }));
            },
          };
          signal.addEventListener("abort", () => {
            if (!this.open.includes(call)) return;
            leave();
            reject(signal.reason);
          });
          this.all.push(call);
          this.open.push(call);
          this.peak = Math.max(this.peak, this.open.length);
        }),
      classifyError: (error) => (error as UpstreamError).kind,
      isRetryable: () => true,
    });
  }
}

interface AskSettings extends CallSettings {
  readonly pool?: string;
}

/** A client over a pool `chat` with a queue. */
export interface QueueScene extends AsyncDisposable {
  readonly client: MeshClient;
  readonly clock: FakeClock;
  readonly calls: HeldCalls;
  readonly records: (MeshEvent | RoutingRecord)[];
  /** Number of waiting requests. */
  readonly waiting: number | undefined;
  /** Waits until as many requests are in progress, and as many wait. */
  becomes(inProgress: number, waiting: number): Promise<void>;
  /** Sends a request to a pool, by default `chat`, and returns the text of the response, or the code of the error. */
  ask(text: string, settings?: AskSettings): Promise<string>;
}

/** Settings of a {@linkcode queueScene}. */
export interface QueueTuning {
  /** Limits by model; each model has a provider of its own. */
  readonly limits: Readonly<Record<string, object>>;
  readonly queue?: Readonly<Record<string, unknown>>;
  /** The models of the pools `chat` and `other`. @default all */
  readonly members?: Readonly<Record<"chat" | "other", readonly string[]>>;
  /** Further settings of every model. */
  readonly model?: Readonly<Record<string, unknown>>;
  /** Further settings of the pool. */
  readonly pool?: Readonly<Record<string, unknown>>;
}

/** Returns the configuration of a pool `chat` with a queue, and of another one over the same models. */
export function queueConfig(tuning: QueueTuning, calls: HeldCalls): Record<string, unknown> {
  const { limits, queue = {}, model = {}, pool = {} } = tuning;
  const names = Object.keys(limits);
  const { members = { chat: names, other: names } } = tuning;
  return {
    providers: Object.fromEntries(names.map((name) => [name, { instance: calls.provider() }])),
    models: Object.fromEntries(
      names.map((
        name,
      ) => [name, { provider: name, capabilities: ["chat-completion"], limits: limits[name], ...model }]),
    ),
    pools: Object.fromEntries(
      Object.entries(members).map(([name, models]) => [
        name,
        { models, strategy: "priority", model_priority: models, queue, ...pool },
      ]),
    ),
  };
}

/** Starts a client. */
export async function queueScene(tuning: QueueTuning): Promise<QueueScene> {
  const [clock, calls, records] = [fakeClock(), new HeldCalls(), [] as (MeshEvent | RoutingRecord)[]];
  const config = queueConfig(tuning, calls);
  const client = create({ config, clock, random: () => 0.5, on: (record) => records.push(record) });
  await client.ready();
  return {
    client,
    clock,
    calls,
    records,
    get waiting() {
      return client.mesh.poolStatus().chat!.waiting;
    },
    becomes(inProgress, waiting) {
      const find = () => [calls.open.length, client.mesh.poolStatus().chat!.waiting];
      const what = `${inProgress} requests are in progress and ${waiting} wait`;
      return until(() => find().join() === [inProgress, waiting].join(), () => `${what}, not ${find().join(" and ")}`);
    },
    async ask(text, { pool = "chat", ...settings } = {}) {
      try {
        const answer = await client.chat.completions.create(
          { model: pool, messages: [{ role: "user", content: text }] },
          settings,
        );
        return answer.choices[0]!.message.content ?? "";
      } catch (error) {
        return MeshError.isInstance(error) ? error.code : (error as Error).name;
      }
    },
    [Symbol.asyncDispose]: () => client.close(),
  };
}
