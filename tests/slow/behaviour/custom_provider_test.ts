import { assert, assertEquals, assertRejects, assertStrictEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import {
  type CallOptions,
  type ChatStream,
  type CompletionRequest,
  create,
  DeadlineError,
  ModelMesh,
  type Provider,
  type ProviderConnector,
  ProviderError,
  type ProviderSettings,
  routingOf,
  StreamInterruptedError,
  UpstreamError,
  type UsageReport,
} from "../../../mod.ts";
import { createChunk, createResponse, customProvider } from "../../support/_custom_provider.ts";
import { type FakeClock, fakeClock, getText, messages } from "../../support/_library.ts";

/** A client whose pool has a provider of the test's own first, and a good one after it. */
function createClient(overrides: Partial<Provider>, clock: FakeClock = fakeClock(), retries = 0) {
  const settings = { deactivation: { retry_limit: 1 }, retry: { max_attempts: retries } };
  const pool = { models: ["first", "second"], strategy: "priority", ...settings };
  const client = create({
    config: {
      providers: {
        own: { instance: customProvider(overrides), api_key: "key-of-own-0123456789" },
        good: { instance: customProvider({ complete: () => Promise.resolve({ body: createResponse("Second") }) }) },
      },
      models: {
        first: { provider: "own", model: "first-1", pricing: { input: 1_000_000, output: 1_000_000 } },
        second: { provider: "good" },
      },
      pools: { chat: pool, alone: { ...pool, models: ["first"] } },
    },
    clock,
  });
  return { client, clock, [Symbol.asyncDispose]: () => client.close() };
}

async function read(stream: ChatStream): Promise<string> {
  let text = "";
  for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? "";
  return text;
}

const never = () => new Promise<never>(() => {});
const stream = { messages, stream: true } as const;

describe("A provider of the program's own", () => {
  it("serves non-streaming and streaming responses, and gets what it needs and what was used", async () => {
    const reported: unknown[] = [];
    const usage: UsageReport[] = [];
    const note = ({ model, stream, body }: CompletionRequest, { credential, signal }: CallOptions) =>
      reported.push([model.id, stream, body.seed, credential, signal.aborted]);
    const good = customProvider();
    await using one = createClient({
      complete: (request, options) => (note(request, options), good.complete(request, options)),
      stream: (request, options) => (note(request, options), good.stream!(request, options)),
      reportUsage: (report) => usage.push(report),
    });
    assertEquals(getText(await one.client.chat.completions.create({ messages, seed: 7 })), "Custom");
    assertEquals(await read(await one.client.chat.completions.create({ ...stream, seed: 8 })), "Custom");
    assertEquals(reported, [
      ["first-1", false, 7, "key-of-own-0123456789", false],
      ["first-1", true, 8, "key-of-own-0123456789", false],
    ]);
    assertEquals(usage, [{ model: "first-1", tokensIn: 3, tokensOut: 2, costUsd: 5 }]);
  });

  it("classes its own failures: what it calls retryable is tried again, what it calls the request's is passed on", async () => {
    let calls = 0;
    await using flaky = createClient(
      {
        complete: () =>
          calls++ === 0 ? Promise.reject(new Error("once")) : Promise.resolve({ body: createResponse("Again") }),
        isRetryable: () => true,
      },
      fakeClock({ skipSleeps: true }),
      1,
    );
    assertEquals(getText(await flaky.client.chat.completions.create({ messages })), "Again");
    const error = { message: "Too long", type: "", param: null, code: "context_length_exceeded" };
    const fault = new UpstreamError("no", { kind: "request", fault: { status: 400, error } });
    await using strict = createClient({ complete: () => Promise.reject(fault), classifyError: () => "request" });
    const call = () => strict.client.chat.completions.create({ model: "alone", messages });
    const { status, code, message } = await assertRejects(call, ProviderError);
    assertEquals([status, code, message], [400, "context_length_exceeded", "Too long"]);
    assertEquals(strict.client.mesh.poolStatus().alone?.active, 1);
  });

  const junk: readonly (readonly [what: string, overrides: Partial<Provider>])[] = [
    ...[undefined, null, "text", 42, {}, Object.create(null), new Error("sk-0123456789abcdefghij")].map((thrown) =>
      [`throws ${typeof thrown === "object" ? thrown && "an object" : typeof thrown}`, {
        complete: () => Promise.reject(thrown),
        stream: () => ({ [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(thrown) }) }),
      }] as const
    ),
    ["throws before it promises anything", {
      complete: () => {
        throw new Error("early");
      },
      stream: () => {
        throw new Error("early");
      },
    }],
    ["cannot class its errors", {
      complete: () => Promise.reject(new Error()),
      stream: () => ({ [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(new Error()) }) }),
      classifyError: () => {
        throw new Error("neither");
      },
    }],
    ...[undefined, null, {}, { body: null }, { body: {} }, { body: { choices: "x" } }, { body: { choices: [null] } }]
      .map((value) =>
        [`answers ${JSON.stringify(value)}`, {
          complete: () => Promise.resolve(value as never),
          stream: () => ({
            [Symbol.asyncIterator]: () => ({ next: () => Promise.resolve({ value: value as never }) }),
          }),
        }] as const
      ),
    ["returns no promise and no iterator", { complete: () => undefined as never, stream: () => undefined as never }],
  ];
  for (const [what, overrides] of junk) {
    it(`that ${what} is left for the next one, and its text is not shown`, async () => {
      await using one = createClient(overrides);
      const answer = await one.client.chat.completions.create({ messages });
      assertEquals(getText(answer), "Second");
      assertEquals(routingOf(answer)?.replaced_provider, "own");
      assertEquals(one.client.mesh.poolStatus().chat?.models[0]?.status, "standby");
      await using other = createClient(overrides);
      assertEquals(await read(await other.client.chat.completions.create(stream)), "Custom");
      const failed = await assertRejects(() => other.client.chat.completions.create({ model: "alone", messages }));
      assert(!String(failed).includes("0123456789abcdefghij"));
    });
  }

  it("whose bookkeeping fails costs no request", async () => {
    await using one = createClient({
      reportUsage: () => {
        throw new Error("full");
      },
    });
    const answer = await one.client.chat.completions.create({ messages });
    assertEquals([getText(answer), routingOf(answer)?.attempts], ["Custom", 0]);
  });

  for (const streamed of [false, true]) {
    it(`that never settles is left at the time limits all the same (${streamed ? "streamed" : "whole"})`, async () => {
      const silent = { [Symbol.asyncIterator]: () => ({ next: never }) };
      await using one = createClient({ complete: never, stream: () => silent });
      const request = { messages, stream: streamed };
      const late = assertRejects(() => one.client.chat.completions.create(request, { timeout: 1000 }), DeadlineError);
      await one.clock.advance(1000);
      await late;
      const controller = new AbortController();
      const left = one.client.chat.completions.create(request, { signal: controller.signal }).catch((error) => error);
      await one.clock.advance(1000);
      controller.abort("left");
      assertEquals(await left, "left");
      assertEquals(one.client.mesh.poolStatus().chat?.active, 2);
      const served = one.client.chat.completions.create(request);
      await one.clock.advance(streamed ? 60_000 : 240_000);
      assertEquals(routingOf(await served)?.fallback_chain.map(({ outcome }) => outcome), [
        streamed ? "first_token_timeout" : "timeout",
        "ok",
      ]);
    });
  }

  it("whose stream stops giving is cut off at the silence limit, and cancel() does not wait for it", async () => {
    const stalls = () => {
      let given = 0;
      return { next: () => given++ === 0 ? Promise.resolve({ done: false, value: createChunk("Half") }) : never() };
    };
    await using one = createClient({ stream: () => ({ [Symbol.asyncIterator]: stalls }) });
    const chunks = (await one.client.chat.completions.create(stream))[Symbol.asyncIterator]();
    await chunks.next();
    const broken = assertRejects(() => chunks.next(), StreamInterruptedError);
    await one.clock.advance(60_000);
    assertEquals((await broken).partialText, "Half");
    await using other = createClient({ stream: () => ({ [Symbol.asyncIterator]: stalls }) });
    const answer = await other.client.chat.completions.create(stream);
    const reader = answer[Symbol.asyncIterator]();
    await reader.next();
    const next = reader.next();
    answer.cancel();
    assertEquals(await next, { done: true, value: undefined });
  });

  it("that fails after its time is over disturbs no request", async () => {
    let reject: (error: Error) => void = () => {};
    await using one = createClient({ complete: () => new Promise((_, fail) => reject = fail) });
    const late = assertRejects(() => one.client.chat.completions.create({ messages }, { timeout: 10 }), DeadlineError);
    await one.clock.advance(10);
    await late;
    reject(new Error("too late"));
    await one.clock.advance(0);
    assertEquals(one.client.mesh.poolStatus().chat?.active, 2);
  });
});

describe("registerConnector()", () => {
  const acme = (seen: unknown[]): ProviderConnector => ({
    id: "whatever",
    kind: "provider",
    vendor: "acme",
    models: [{ id: "acme-1", capabilities: ["chat-completion"], defaultFor: ["chat-completion"] }],
    keyless: true,
    create: (settings) => (seen.push(settings), customProvider()),
  });

  it("makes a provider and a strategy known by their ids", async () => {
    const seen: unknown[] = [];
    const mesh = new ModelMesh();
    mesh.registerConnector("acme.llm.v1", acme(seen));
    const last = { select: <View>(candidates: readonly View[]) => candidates.at(-1), score: () => 0 };
    mesh.registerConnector("acme.last-one.v1", { id: "acme.last-one.v1", kind: "strategy", create: () => last });
    await mesh.initialize({
      providers: { "acme.llm.v1": { config: { region: "moon" } } },
      pools: { chat: { capability: "chat-completion", strategy: "last-one" } },
    });
    const [settings] = seen as ProviderSettings[];
    assertEquals([seen.length, settings?.id, { ...settings?.config as object }], [1, "acme.llm.v1", {
      region: "moon",
    }]);
    assertEquals(mesh.listModels().map(({ name, provider }) => [name, provider]), [["acme.acme-1", "acme.llm.v1"]]);
    assertEquals(mesh.poolStatus().chat?.strategy, "acme.last-one.v1");
    await mesh.close();
  });

  it("replaces one that comes with the package", async () => {
    const mesh = new ModelMesh({ env: { OPENAI_API_KEY: "key-0123" } });
    mesh.registerConnector("openai.llm.v1", acme([]));
    await mesh.initialize({ providers: { "openai.llm.v1": {} }, pools: { chat: { models: ["acme.acme-1"] } } });
    assertStrictEquals(mesh.listModels().length, 1);
    await mesh.close();
  });
});
