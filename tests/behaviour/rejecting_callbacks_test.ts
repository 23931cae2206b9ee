/**
 * Functions of a program that are asked at once, and reject: each is a failure of that function, and of nothing else.
 * A rejection without a handler ends the test run.
 */
import { assertEquals, assertRejects } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import {
  create,
  type CreateOptions,
  MeshError,
  type Provider,
  type SelectionStrategy,
  type TraceEntry,
} from "../../mod.ts";
import { customProvider } from "../support/_custom_provider.ts";
import { stage } from "../support/_failover.ts";
import { getText, messages } from "../support/_library.ts";
import { ok, status } from "../support/upstream.ts";

/** A function that rejects, in the place of one whose result is needed at once. */
const rejects = (): never => Promise.reject(new Error("lost")) as never;

/** What a promise of another library looks like. */
const rejectsByThen = (): never =>
  ({ then: (_: unknown, fail: (error: Error) => void) => fail(new Error("lost")) }) as never;

const first: SelectionStrategy = { select: ([one]) => one, score: () => 0 };
const [a, b] = ["a", "b"].map((text) => ok({ text })) as [ReturnType<typeof ok>, ReturnType<typeof ok>];

const policies: readonly (readonly [name: string, own: Partial<SelectionStrategy>])[] = [
  ["select", { select: rejects }],
  ["select, thenable", { select: rejectsByThen }],
  ["shouldDeactivate", { shouldDeactivate: rejects }],
  ["getReason", { getReason: rejects }],
  ["shouldRecover", { shouldRecover: rejects }],
  ["getRecoverySchedule", { getRecoverySchedule: rejects }],
  ["all of them", { select: rejects, shouldDeactivate: rejects, getReason: rejects, shouldRecover: rejects }],
];

describe("A rotation connector", () => {
  for (const [name, own] of policies) {
    it(`that rejects in ${name} is replaced by what is built in`, async () => {
      const pool = { strategy: { ...first, ...own }, model_priority: undefined, retry: { max_attempts: 0 } };
      const deactivation = { retry_limit: 2 };
      await using scene = await stage({ a: status(500), b }, { pool: { ...pool, deactivation } });
      const texts = (await scene.askTimes(2)).map(({ text }) => text);
      assertEquals([texts, scene.states().a], [["b", "b"], "retry_limit for 60s"]);
      await scene.clock.advance(61_000);
      assertEquals((await scene.ask()).text, "b");
    });
  }

  it("that rejects in score fails explain() alone", async () => {
    const strategy = { ...first, score: rejects };
    await using scene = await stage({ a, b }, { pool: { strategy, model_priority: undefined } });
    await assertRejects(() => scene.proxy.mesh.explain({ model: "chat", messages }), MeshError, "strategy");
    assertEquals((await scene.ask()).text, "a");
  });
});

async function createClient(provider: Partial<Provider>, options: CreateOptions = {}) {
  const traces: TraceEntry[] = [];
  const client = create({
    config: {
      providers: { own: { instance: customProvider(provider) } },
      models: { m: { provider: "own", capabilities: ["chat-completion"], pricing: { input: 1, output: 1 } } },
      pools: { chat: { models: ["m"], retry: { max_attempts: 0 } } },
    },
    ...options,
  });
  client.mesh.addSink({
    emit: () => {},
    trace: (entry) => void traces.push(entry),
    flush: () => Promise.resolve(),
  });
  await client.ready();
  return { client, traces };
}

const hooks: readonly (keyof Provider)[] = [
  ...["supports", "getCapabilities", "getPricing", "getRateLimits", "getModelInfo", "reportUsage", "dialects"] as const,
];

describe("A provider's own method", () => {
  for (const hook of hooks) {
    it(`that rejects in ${hook} costs no request`, async () => {
      const { client } = await createClient({ [hook]: rejects });
      for (let count = 0; count < 2; count++) {
        assertEquals(getText(await client.chat.completions.create({ messages })), "Custom");
      }
      await client.responses.create({ input: "Hi" });
      await client.close();
    });
  }

  it("that rejects while it classifies its own error leaves the error the provider's", async () => {
    const complete = () => Promise.reject(new Error("down"));
    for (
      const own of [{ classifyError: rejects }, { isRetryable: rejects }, {
        classifyError: rejects,
        isRetryable: rejects,
      }]
    ) {
      const { client } = await createClient({ complete, ...own });
      const error = await assertRejects(() => client.chat.completions.create({ messages }), MeshError);
      assertEquals(error.code, "all_attempts_failed");
      await client.close();
    }
  });

  it("that returns a promise in place of a stream fails the attempt", async () => {
    const { client } = await createClient({ stream: rejects });
    const error = await assertRejects(() => client.chat.completions.create({ messages, stream: true }), MeshError);
    assertEquals(error.code, "all_attempts_failed");
    await client.close();
  });
});

describe("A listener, a sink and middleware", () => {
  it("may reject, also by a promise of another library", async () => {
    const lost = { emit: rejectsByThen, log: rejectsByThen, trace: rejectsByThen, flush: rejectsByThen };
    const { client } = await createClient({ reportUsage: rejectsByThen }, { on: rejectsByThen });
    client.mesh.addSink(lost);
    assertEquals(getText(await client.chat.completions.create({ messages })), "Custom");
    await client.close();
  });

  it("reject to the caller, who receives what they rejected with", async () => {
    const failing = [{ beforeRequest: rejects }, { afterResponse: rejects }, {
      beforeRequest: rejects,
      onError: rejects,
    }];
    for (const middleware of failing) {
      const { client } = await createClient({}, { middleware });
      await assertRejects(() => client.chat.completions.create({ messages }), Error, "lost");
      await client.close();
    }
  });
});
