/**
 * A mesh with sinks of the test.
 * @module
 */
import { ModelMesh, type Observability, type StatisticsReport } from "../../mod.ts";
import type { Engine } from "../../src/engine/engine.ts";
import { getEngine } from "../../src/engine/get_engine.ts";
import { chat } from "../../src/pipeline/operations/chat.ts";
import { type FakeClock, fakeClock } from "../../src/runtime/test.ts";
import { startUpstream, type Upstream } from "./upstream.ts";
import type { Script } from "./upstream.ts";
import { readLabels } from "../../src/pipeline/routing_constraints.ts";

/** A sink that records everything it receives. */
export interface Recorder extends Observability {
  // deno-lint-ignore no-explicit-any
  readonly taken: { readonly kind: "emit" | "log" | "trace" | "flush"; readonly record: any }[];
}

/** Creates a recording sink. */
export function recorder(): Recorder {
  const taken: Recorder["taken"] = [];
  return {
    taken,
    emit: (record) => void taken.push({ kind: "emit", record }),
    log: (record) => void taken.push({ kind: "log", record }),
    trace: (record) => void taken.push({ kind: "trace", record }),
    flush(report?: StatisticsReport) {
      if (report !== undefined) taken.push({ kind: "flush", record: report });
      return Promise.resolve();
    },
  };
}

/** A mesh with one model `a` in the pool `chat`. */
export interface SinkStage extends AsyncDisposable {
  readonly mesh: ModelMesh;
  readonly engine: Engine;
  readonly clock: FakeClock;
  readonly upstream: Upstream;
  ask(body?: Readonly<Record<string, unknown>>): Promise<void>;
}

/**
 * Starts a mesh.
 *
 * @param script Script of its provider.
 * @param observability The configuration section.
 * @param sinks Sinks by connector id.
 */
export async function sinkStage(
  script: Script,
  observability: Readonly<Record<string, unknown>>,
  sinks: Readonly<Record<string, Observability>> = {},
): Promise<SinkStage> {
  const upstream = await startUpstream(script);
  const clock = fakeClock();
  const mesh = new ModelMesh({ clock, random: () => 0.5 });
  for (const [id, sink] of Object.entries(sinks)) {
    mesh.registerConnector(id, { id, kind: "observability", create: () => sink });
  }
  await mesh.initialize({
    providers: {
      p: { connector: "openai.compatible.v1", base_url: upstream.url, api_key: "canary-key-0123456789" },
    },
    models: { a: { provider: "p", capabilities: ["chat-completion"], pricing: { input: 1, output: 2 } } },
    pools: { chat: { models: ["a"], retry: { max_attempts: 0 }, deactivation: { retry_limit: 1 } } },
    observability,
  });
  const engine = getEngine(mesh);
  let number = 0;
  return {
    mesh,
    engine,
    clock,
    upstream,
    async ask(body = {}) {
      const request = { model: "chat", messages: [{ role: "user" as const, content: "Hi" }], ...body };
      const delivery = "stream" in request && request.stream === true ? "stream" as const : "sync" as const;
      const labels = readLabels(request, {});
      const facts = { id: `r${++number}`, operation: chat, timeoutMs: 60_000, ...(labels && { labels }) };
      try {
        const answer = await engine.perform({ ...facts, delivery, model: "chat", body: request });
        if (answer.kind === "stream") { while (await answer.stream.read() !== undefined); }
      } catch {
        // the record has the error
      }
    },
    async [Symbol.asyncDispose]() {
      await mesh.close();
      await upstream.close();
    },
  };
}

/** A clock on which retries of a delivery are immediate; `waits` has the skipped delays, ms. */
export function retryingClock(now?: number): FakeClock & { readonly waits: readonly number[] } {
  const clock = fakeClock(now === undefined ? {} : { now });
  const after = clock.after.bind(clock);
  const waits: number[] = [];
  return Object.assign(clock, {
    waits,
    after(ms: number, task: () => void) {
      if (![1_000, 4_000, 16_000].includes(ms)) return after(ms, task);
      waits.push(ms);
      queueMicrotask(task);
      return () => {};
    },
  });
}
