/** One request from model to model: which are asked, in which order, and what ends it. */
import { assertEquals, assertRejects } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import type { RoutingRecord } from "../../src/contracts/events.ts";
import type { RetryScope } from "../../src/config/settings/settings.ts";
import { NoActiveModelError, UpstreamError } from "../../src/errors.ts";
import { Hub } from "../../src/observe/hub.ts";
import type { RouteDeps } from "../../src/pipeline/request.ts";
import type { Call, Received } from "../../src/pipeline/result.ts";
import { rotate } from "../../src/pipeline/route.ts";
import { createFakeResponse, fakeClock, testRuntime } from "../../src/runtime/test.ts";
import { RetryBudget } from "../../src/state/limits/retry_budget.ts";
import { createMember, createModel, createPool } from "../support/_members.ts";

/** What a model does when it is asked: answers, says nothing at all, or fails in a class of its own. */
type Behaviour = "answer" | "empty" | "server" | "request" | "auth";

interface Scene {
  /** By `<model>@<provider>`, in the order in which the strategy prefers them. */
  readonly models: Readonly<Record<string, Behaviour>>;
  /** How far a request that failed may go. @default any */
  readonly scope?: RetryScope;
}

/** Never asks the same model twice: that is the attempt's own test. */
const retry = { maxAttempts: 0, backoff: "fixed", initialDelayMs: 0, maxDelayMs: 0, honorRetryAfter: true };

/** What the routing asks of an operation. */
const operation = {
  name: "chat",
  reword: () => ({ edits: {}, dropped: [] }),
  readUsage: () => ({ quantities: { input: 1, output: 1 }, tokens: 2, isEstimated: false }),
};

function scene({ models, scope = "any" }: Scene) {
  const clock = fakeClock();
  const runtime = testRuntime({ clock, send: () => Promise.resolve(createFakeResponse()) });
  const codes = { retryableCodes: new Set(), nonRetryableCodes: new Set() };
  const routing = {
    modelPriority: [],
    providerPriority: [],
    retry: { ...retry, ...codes, scope },
    providerRetry: new Map(),
    deactivation: { errorCodes: new Set() },
    recovery: { cooldownMs: 1_000 },
  };
  const instances = new Map<string, object>();
  const members = Object.entries(models).map(([path, behaviour]) => {
    const [name = "", id = "acme"] = path.split("@");
    const instance = instances.get(id) ?? {
      vendor: id,
      entry: { id, timeoutMs: 1000, silenceMs: 100 },
      provider: {
        classifyError: (error: unknown) => UpstreamError.isInstance(error) ? error.kind : "network",
        isRetryable: () => false,
        reportUsage: () => {},
      },
      retryBudget: new RetryBudget({ ratio: 0, min: 10, windowMs: 10_000 }),
    };
    instances.set(id, instance);
    return { ...createMember(createModel(name, {}, { instance } as never)), behaviour };
  });
  const pool = { ...createPool([]), members, routing } as never as ReturnType<typeof createPool>;
  const asked: string[] = [];
  const records: RoutingRecord[] = [];
  const hub = new Hub(clock);
  hub.add({ emit: (record: unknown) => void records.push(record as RoutingRecord) } as never, ["event"]);
  const call: Call<Text> = async ({ model }, _completion, connection) => {
    asked.push(model.name);
    await connection.send({ method: "POST", url: "https://api.acme.example", headers: {} });
    const behaviour = members.find((member) => member.model === model)!.behaviour;
    if (behaviour === "answer" || behaviour === "empty") {
      return { text: `from ${model.name}`, isEmpty: behaviour === "empty" };
    }
    throw new UpstreamError(`It failed: ${behaviour}`, { kind: behaviour });
  };
  const plan = {
    request: { id: "r-1", operation, model: "a", delivery: "sync", body: { messages: [] }, timeoutMs: 60_000 },
    pool,
    eligible: members,
    load: { input: 1, output: 1 },
    isConstrained: false,
    call,
  };
  const deps = { runtime, hub, redact: (text: string) => text } as unknown as RouteDeps;
  const states = () =>
    members.map(({ state }) => {
      state.refresh(clock.monotonic());
      return `${state.name} ${state.reason ?? state.status}, ${state.inFlight} in flight`;
    });
  return { start: () => rotate<Text>(plan as never, deps), asked, members, records, states };
}

/** A response of a model. */
interface Text extends Received {
  readonly text: string;
}

/** The models asked, and what came of the request: the response, or the error's name. */
async function run(of: Scene): Promise<string> {
  const { start, asked } = scene(of);
  const end = await start().then(
    (result) => {
      result.settle("success", { usage: undefined, written: () => 0 });
      return result.received.text;
    },
    (error: Error) => error.name,
  );
  return `${asked.join(", ")}: ${end}`;
}

describe("A request goes from model to model", () => {
  const cases: readonly (readonly [what: string, scene: Scene, end: string])[] = [
    ["and ends with the first that serves", { models: { a: "answer", b: "answer" } }, "a: from a"],
    ["past those that fail", { models: { a: "server", b: "server", c: "answer" } }, "a, b, c: from c"],
    ["each asked once, then it fails", { models: { a: "server", b: "server" } }, "a, b: ProviderError"],
    ["past an empty answer, where another says more", { models: { a: "empty", b: "answer" } }, "a, b: from b"],
    ["but two empty answers are enough", { models: { a: "empty", b: "empty", c: "answer" } }, "a, b: from a"],
    ["an empty answer is better than none", { models: { a: "empty", b: "server" } }, "a, b: from a"],
    ["its own fault goes no further than to three", {
      models: { a: "request", b: "request", c: "request", d: "answer" },
    }, "a, b, c: ProviderError"],
    ["past all models of a provider that refuses the key", {
      models: { "a@one": "auth", "b@one": "answer", "c@two": "answer" },
    }, "a, c: from c"],
    ["within a provider, where its scope says so", {
      models: { "a@one": "server", "b@two": "answer", "c@one": "answer" },
      scope: "same_provider",
    }, "a, c: from c"],
    [
      "to no other, where its scope says so",
      { models: { a: "server", b: "answer" }, scope: "same_model" },
      [
        "a: ProviderError",
      ].join(),
    ],
  ];
  for (const [what, of, end] of cases) it(what, async () => assertEquals(await run(of), end));
});

describe("A request that is over", () => {
  it("holds its permit until the response is settled, and leaves one record", async () => {
    const { start, states, records } = scene({ models: { a: "server", b: "answer" } });
    const result = await start();
    assertEquals(states(), ["a retry_limit, 0 in flight", "b active, 1 in flight"]);
    assertEquals(records.filter(({ type }) => type === "routing"), []);
    result.settle("success", { usage: undefined, written: () => 0 });
    result.settle("failure", { usage: undefined, written: () => 0 });
    assertEquals(states(), ["a retry_limit, 0 in flight", "b active, 0 in flight"]);
    const [record, ...others] = records.filter(({ type }) => type === "routing");
    assertEquals([others, record?.fallback_chain.map(({ model, outcome }) => `${model} ${outcome}`)], [
      [],
      ["a server", "b ok"],
    ]);
  });

  it("asks no model in standby, and says why it was not served", async () => {
    const { start, members, asked, records } = scene({ models: { a: "answer", b: "answer" } });
    for (const { breakers } of members) breakers.own.open("manual", 0, Infinity);
    await assertRejects(() => start(), NoActiveModelError, "a (manual), b (manual)");
    assertEquals([asked, records.map((record) => record.status)], [[], [503]]);
  });
});
