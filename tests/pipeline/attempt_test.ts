/** One model, asked until it serves or another one is to be asked. */
import { assertEquals, assertRejects } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import type { RetrySettings } from "../../src/config/settings/settings.ts";
import type { CompletionRequest, FailureKind } from "../../src/contracts/provider.ts";
import { NetworkError, UpstreamError } from "../../src/errors.ts";
import { Hub } from "../../src/observe/hub.ts";
import { retry, tryModel } from "../../src/pipeline/attempt.ts";
import { type Received, Result } from "../../src/pipeline/result.ts";
import type { RequestPlan } from "../../src/pipeline/eligibility.ts";
import type { RouteDeps } from "../../src/pipeline/request.ts";
import { RequestContext } from "../../src/pipeline/request_context.ts";
import { createFakeResponse, fakeClock, settle, testRuntime } from "../../src/runtime/test.ts";
import { RetryBudget } from "../../src/state/limits/retry_budget.ts";
import { createMember, createModel } from "../support/_members.ts";

const retrySettings: RetrySettings = {
  maxAttempts: 2,
  backoff: "fixed",
  initialDelayMs: 100,
  maxDelayMs: 10_000,
  retryableCodes: new Set(),
  nonRetryableCodes: new Set(),
  scope: "any",
  honorRetryAfter: true,
};

/** A response of the model. */
interface Text extends Received {
  readonly text: string;
}

/** What the model does when it is asked: answers, fails in some way, or says nothing. */
type Behaviour = "answer" | "silence" | FailureKind | Error;

interface Options {
  /** In turn; the last one stays. */
  readonly behaviours: readonly Behaviour[];
  /** Retries that the provider's budget allows. */
  readonly budget?: number;
  /** The request's deadline. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
  /** Whether waits are over at once; true by default. */
  readonly skipSleeps?: boolean;
  /** Called before each try. */
  readonly onTry?: (model: ReturnType<typeof createMember>) => void;
}

function start({ behaviours, budget = 10, timeoutMs = 60_000, signal, skipSleeps = true, onTry }: Options) {
  const clock = fakeClock({ skipSleeps });
  const runtime = testRuntime({ clock, send: () => Promise.resolve(createFakeResponse()) });
  const provider = {
    classifyError: (error: unknown) => UpstreamError.isInstance(error) ? error.kind : "network",
    isRetryable: (error: unknown) => UpstreamError.isInstance(error) && error.kind === "server",
  };
  const model = createModel("a", {}, {
    instance: {
      vendor: "acme",
      entry: { id: "acme", timeoutMs: 1000, silenceMs: 100 },
      provider,
      retryBudget: new RetryBudget({ ratio: 0, min: budget, windowMs: 10_000 }),
    } as never,
  });
  const member = createMember(model);
  const plan = {
    request: { timeoutMs, signal, delivery: "sync", operation: {} },
    pool: { name: "chat", routing: { retry: retrySettings, providerRetry: new Map() } },
    eligible: [createMember(createModel("b"))],
    load: { input: 1, output: 1 },
  } as unknown as RequestPlan;
  const hub = new Hub(runtime.clock);
  const context = new RequestContext(plan, { runtime, hub, redact: (text: string) => text } as unknown as RouteDeps);
  const left = [...behaviours];
  const scope: Parameters<typeof tryModel<Text>>[0] = {
    context,
    alone: false,
    member,
    permit: member.state.admit(plan.load, 0),
    completion: {} as CompletionRequest,
    dropped: [],
    call: async (_member, _completion, connection) => {
      onTry?.(member);
      const behaviour = left.length > 1 ? left.shift()! : left[0]!;
      if (behaviour instanceof Error) throw behaviour;
      await connection.send({ method: "POST", url: "https://api.acme.example", headers: {} });
      if (behaviour === "silence") await new Promise<never>(() => {});
      if (behaviour !== "answer") {
        throw new UpstreamError(`It failed: ${behaviour}`, { kind: behaviour as FailureKind });
      }
      return { text: "Hello", isEmpty: false };
    },
  };
  const end = tryModel(scope).then((end) => end instanceof Result ? end : retry(scope, end));
  return { clock, context, end };
}

/** How an attempt ended: the response, or the failure and what follows; how often it called, and what it waited, ms. */
async function run(options: Options) {
  const { clock, context, end } = start(options);
  const result = await end;
  context.end();
  if (result instanceof Result) result.connection.close();
  return {
    end: result instanceof Result ? result.received.text : result.failure.kind,
    calls: context.attempts,
    waits: clock.sleeps,
  };
}

describe("An attempt", () => {
  const never = new NetworkError("Nothing listens there", { neverSent: true });
  const cases: readonly (readonly [
    what: string,
    options: Options,
    end: string,
    calls: number,
    waits: readonly number[],
  ])[] = [
    ["ends with the answer", { behaviours: ["answer"] }, "Hello", 1, []],
    ["asks again after a wait where the failure may pass", { behaviours: ["server", "answer"] }, "Hello", 2, [100]],
    ["asks no more often than configured", { behaviours: ["server"] }, "server", 3, [100, 100]],
    ["asks once where the failure would be the same", { behaviours: ["request"] }, "request", 1, []],
    ["asks once where the quota is gone", { behaviours: ["quota_exhausted"] }, "quota_exhausted", 1, []],
    ["leaves a model that cannot be reached to the others", { behaviours: [never] }, "network", 0, []],
    ["asks once where the provider's retries are used up", { behaviours: ["server"], budget: 0 }, "server", 1, []],
    ["asks as often as they last", { behaviours: ["server"], budget: 1 }, "server", 2, [100]],
    ["does not wait beyond the deadline", { behaviours: ["server"], timeoutMs: 100 }, "server", 1, []],
    [
      "does not ask again a model that went to standby meanwhile",
      {
        behaviours: ["server"],
        onTry: ({ breakers }) => void breakers.own.open("manual", 0, Infinity),
      },
      "server",
      1,
      [100],
    ],
  ];
  for (const [what, options, end, calls, waits] of cases) {
    it(what, async () => assertEquals(await run(options), { end, calls, waits: [...waits] }));
  }

  it("gives a model up that does not answer in time, and takes that for its failure", async () => {
    const { clock, context, end } = start({ behaviours: ["silence"], timeoutMs: 1500 });
    await settle();
    await clock.advance(1000);
    const { failure } = await end as { failure: { kind: string } };
    assertEquals([failure.kind, context.upstreamMs], ["timeout", 1000]);
    context.end();
  });

  it("throws the deadline of the request: the model has not failed", async () => {
    const { clock, context, end } = start({ behaviours: ["silence"], timeoutMs: 500 });
    const thrown = assertRejects(() => end, Error, "not answered within the 500 ms");
    await clock.advance(500);
    await thrown;
    context.end();
  });

  for (const [where, behaviour, waits] of [["in a try", "silence", []], ["in a wait", "server", [100]]] as const) {
    it(`throws the client's abort ${where}`, async () => {
      const client = new AbortController();
      const { clock, context, end } = start({ behaviours: [behaviour], signal: client.signal, skipSleeps: false });
      await settle();
      assertEquals(clock.sleeps, [...waits]);
      client.abort("gone");
      assertEquals(await end.catch((error) => error), "gone");
      context.end();
    });
  }
});
