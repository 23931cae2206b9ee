/**
 * Requests begun in one turn of the event loop: each one finds those before it counted. Calls over HTTP arrive one after
 * the other and prove nothing of the kind; these begin in one `Promise.all`.
 */
import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { connect } from "node:net";
import { MeshError, ModelMesh } from "../../mod.ts";
import { createHandler } from "../../proxy.ts";
import { behind, eveningClock, soon, stage } from "../support/_failover.ts";
import { clientOver, getText, messages, type TestClient } from "../support/_library.ts";
import { tally, tuned, type Tuning } from "../support/_tuned.ts";
import { type Behaviour, Gate, ok, type Script, startUpstream, status, stream } from "../support/upstream.ts";
import { raise } from "../support/raise.ts";

const tenCents = { pricing: { input: 0, output: 0, per_request: 0.1 } };
const noRetry = { retry: { max_attempts: 0 } };
const usage = (tokens: number) => ({ prompt_tokens: 0, completion_tokens: tokens, total_tokens: tokens });
const free = ok({ text: "from b" });

/** A client over scripted providers. */
interface Scene extends AsyncDisposable {
  readonly test: TestClient;
  readonly calls: () => Record<string, number>;
  /** Begins so many calls in one turn, and says what came of them: a text, or an error's code. */
  ask(count: number, body?: object): Promise<Record<string, number>>;
}

async function scene(cast: Readonly<Record<string, Script>>, tuning: Tuning): Promise<Scene> {
  const names = Object.keys(cast);
  const upstreams = await Promise.all(Object.values(cast).map((script) => startUpstream(script)));
  const urls = Object.fromEntries(names.map((name, index) => [name, upstreams[index]!.url]));
  const test = clientOver({ upstreams: urls, clock: eveningClock(), ...tuned(tuning)(urls) });
  await test.client.ready();
  return {
    test,
    calls: () => Object.fromEntries(names.map((name, index) => [name, upstreams[index]!.calls])),
    async ask(count, body = {}) {
      const calls = Array.from({ length: count }, () => outcome(test, body));
      return tally(await soon(Promise.all(calls)));
    },
    async [Symbol.asyncDispose]() {
      await test[Symbol.asyncDispose]();
      await Promise.all(upstreams.map((upstream) => upstream.close()));
    },
  };
}

async function outcome({ client }: TestClient, body: object): Promise<string> {
  try {
    return getText(await client.chat.completions.create({ messages, ...body })) ?? "";
  } catch (error) {
    if (MeshError.isInstance(error)) return error.code;
    throw error;
  }
}

/** A provider that answers once so many calls have arrived, so that all of them are under way at once. */
function together(calls: number, behaviour: Behaviour): Behaviour {
  const gate = new Gate();
  gate.reached(calls).then(() => gate.openAll()).catch(raise);
  return behind(gate, behaviour);
}

const a = ok({ text: "from a", usage: usage(10) });

describe("30 calls begun in one turn", () => {
  it("fit three times into a daily limit of $0.35 at $0.10 each", async () => {
    const budget = { budget: { daily_limit: 0.35 } };
    await using test = await scene({ a: together(3, a) }, { models: { a: tenCents }, providers: { a: budget } });
    assertEquals(await test.ask(30), { "from a": 3, budget_exceeded: 27 });
    assertEquals(test.calls(), { a: 3 });
  });

  const limits = { concurrent: 2, rpm: 3, rpd: 3, tpm: 300 };
  for (const [name, limit] of Object.entries(limits)) {
    it(`keep to ${name}: ${limit}`, async () => {
      const sent = name === "concurrent" ? 2 : 3;
      const tuning = { models: { a: { limits: { [name]: limit } } } };
      await using test = await scene({ a: together(sent, a), b: free }, tuning);
      assertEquals(await test.ask(30, { max_tokens: 95 }), { "from a": sent, "from b": 30 - sent });
    });
  }

  it("are one trial request and 29 elsewhere where a model is half-open", async () => {
    const pool = { ...noRetry, deactivation: { retry_limit: 1 } };
    await using test = await scene({ a: [status(500), a], b: free }, { pool });
    await test.ask(1);
    await test.test.clock.advance(60_000);
    assertEquals(await test.ask(30), { "from a": 1, "from b": 29 });
  });

  it("keep min_delta: one goes to the model, the others elsewhere", async () => {
    await using test = await scene({ a, b: free }, { pool: { rate_limit: { min_delta: "5s" } } });
    assertEquals(await test.ask(2), { "from a": 1, "from b": 1 });
  });
});

describe("limits of a pool, with 40 calls begun in one turn", () => {
  const limits = { request_limit: 8, token_limit: 800, budget_limit: 0.8 };
  for (const [what, limit] of Object.entries(limits)) {
    it(`${what}: eight fit each model`, async () => {
      const deactivation = { [what]: limit };
      const models = { a: tenCents, b: tenCents };
      const cast = { a: together(8, ok({ text: "from a", usage: usage(100) })), b: together(8, free) };
      await using test = await scene(cast, {
        pool: { deactivation: { ...deactivation, quota_window: "daily" } },
        models,
      });
      const refusal = what === "budget_limit" ? "budget_exceeded" : "no_active_model";
      // five tokens read by estimate
      assertEquals(await test.ask(40, { max_tokens: 95 }), { "from a": 8, "from b": 8, [refusal]: 24 });
      assertEquals(test.calls(), { a: 8, b: 8 });
    });
  }

  it("count a stream that its client cut, and a response without usage, by estimate", async () => {
    const gate = new Gate();
    gate.open(2); // the role and the first piece
    const cut = stream({ pieces: ["from", " a"], gate });
    const noUsage = ok({ text: "from a", usage: null });
    for (const [script, isStream] of [[cut, true], [noUsage, false]] as const) {
      const deactivation = { token_limit: 5, quota_window: "daily" }; // what the request reads
      await using test = await scene({ a: script, b: free }, { pool: { deactivation } });
      const { client } = test.test;
      if (isStream) {
        for await (const _ of await client.chat.completions.create({ messages, max_tokens: 95, stream: true })) break;
      } else await client.chat.completions.create({ messages, max_tokens: 95 });
      assertEquals(await test.ask(1), { "from b": 1 });
    }
  });

  it("give back what a failed call reserved", async () => {
    const deactivation = { token_limit: 100, retry_limit: 5, quota_window: "daily" };
    await using test = await scene({ a: [status(500), a], b: free }, { pool: { ...noRetry, deactivation } });
    assertEquals(await test.ask(1, { max_tokens: 95 }), { "from b": 1 });
    assertEquals(await test.ask(1, { max_tokens: 95 }), { "from a": 1 });
  });
});

describe("a call that is sent", () => {
  it("counts: of 100 calls of $0.60 at once one fits under $1, and none of forty after them", async () => {
    const sixty = { pricing: { input: 0, output: 0, per_request: 0.6 } };
    const budget = { budget: { daily_limit: 1 } };
    await using test = await scene({ a }, { models: { a: sixty }, providers: { a: budget } });
    assertEquals(await test.ask(100), { "from a": 1, budget_exceeded: 99 });
    for (let call = 0; call < 40; call++) assertEquals(await test.ask(1), { budget_exceeded: 1 });
  });

  it("counts also where it costs more than was left", async () => {
    const price = { pricing: { input: 0, output: 10_000 } }; // a cent for each token written
    const budget = { budget: { daily_limit: 1 } };
    const dear = ok({ text: "from a", usage: usage(60) });
    await using test = await scene({ a: together(2, dear) }, { models: { a: price }, providers: { a: budget } });
    assertEquals(await test.ask(2, { max_tokens: 40 }), { "from a": 2 }); // reserved: $0.80; spent: $1.20
    assertEquals(await test.ask(40, { max_tokens: 1 }), { budget_exceeded: 40 });
    assertEquals(test.calls(), { a: 2 });
  });

  it("reserves by the larger of its two token limits", async () => {
    const price = { pricing: { input: 0, output: 10_000 } };
    const budget = { budget: { daily_limit: 1 } };
    const tuning = { models: { a: price, b: { pricing: { input: 0, output: 0 } } }, providers: { a: budget } };
    await using test = await scene({ a, b: free }, tuning);
    assertEquals(await test.ask(1, { max_completion_tokens: 1, max_tokens: 20_000 }), { "from b": 1 });
    assertEquals(await test.ask(1, { max_completion_tokens: 1, max_tokens: -1 }), { "from a": 1 });
  });
});

describe("the proxy", () => {
  it("holds requests begun in one turn to a limit", async () => {
    await using upstream = await startUpstream(together(2, a));
    const mesh = new ModelMesh({ clock: eveningClock() });
    const provider = { connector: "openai.compatible.v1", base_url: upstream.url, api_key: "key-0123456789" };
    const model = { provider: "a", capabilities: ["chat-completion"], limits: { concurrent: 2 } };
    await mesh.initialize({ providers: { a: provider }, models: { a: model }, pools: { chat: { models: ["a"] } } });
    const handler = createHandler(mesh);
    const ask = () =>
      handler(
        new Request("http://127.0.0.1/v1/chat/completions", {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify({ model: "chat", messages }),
        }),
      );
    const answers = await soon(Promise.all(Array.from({ length: 30 }, ask)));
    assertEquals(tally(answers.map(({ status }) => status)), { 200: 2, 429: 28 });
    await Promise.all(answers.map((answer) => answer.body?.cancel()));
    await mesh.close();
  });

  it("holds requests that come in one segment over many sockets to a limit", async () => {
    const tuning = tuned({ models: { a: { limits: { concurrent: 2 } } } });
    const gate = new Gate();
    await using test = await stage({ a: behind(gate, a) }, tuning);
    const port = Number(new URL(test.proxy.url).port);
    const body = JSON.stringify({ model: "chat", messages });
    const head = ["POST /v1/chat/completions HTTP/1.1", "host: 127.0.0.1", "content-type: application/json"];
    const request = [...head, `content-length: ${body.length}`, "connection: close", "", body].join("\r\n");
    let refused = 0;
    const exchanges = Array.from({ length: 12 }, async () => {
      const line = await exchange(port, request);
      // those that are served wait until all the others have been refused
      if (!line.includes(" 200 ") && ++refused === 10) gate.openAll();
      return line;
    });
    const answers = await soon(Promise.all(exchanges));
    assertEquals(tally(answers), { "HTTP/1.1 200 OK": 2, "HTTP/1.1 429 Too Many Requests": 10 });
  });
});

/** The status line that bytes on a socket of their own are answered with. */
function exchange(port: number, bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = "";
    const socket = connect(port, "127.0.0.1", () => socket.write(bytes));
    socket.setEncoding("utf8");
    socket.on("data", (data) => text += data);
    socket.on("error", reject);
    socket.on("close", () => resolve(text.split("\r\n")[0]!));
  });
}
