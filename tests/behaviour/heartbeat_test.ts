/**
 * Heartbeats: while a model thinks, a stream begins and says that it is alive, in each dialect's way; what happens after
 * that, happens in the stream.
 */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { fakeClock } from "../../src/runtime/test.ts";
import { happens, until } from "../support/patience.ts";
import { startTestProxy, type TestProxyOptions } from "../support/proxy.ts";
import { type Behaviour, formatHead, Gate, startUpstream, status, stream } from "../support/upstream.ts";

interface Dialect {
  readonly path: string;
  readonly body: Record<string, unknown>;
  readonly heartbeat: string;
  readonly error: RegExp;
}

const messages = [{ role: "user", content: "Hi" }];
const comment = ": heartbeat\n\n";
const dialects: Readonly<Record<string, Dialect>> = {
  chat: { path: "/v1/chat/completions", body: { messages }, heartbeat: comment, error: /^data: \{"error":\{/ },
  completions: { path: "/v1/completions", body: { prompt: "Hi" }, heartbeat: comment, error: /^data: \{"error":\{/ },
  "two prompts": {
    path: "/v1/completions",
    body: { prompt: ["Hi", "Ho"] },
    heartbeat: comment,
    error: /^data: \{"error":\{/,
  },
  messages: {
    path: "/v1/messages",
    body: { messages, max_tokens: 9 },
    heartbeat: 'event: ping\ndata: {"type":"ping"}\n\n',
    error: /^event: error\ndata: \{"type":"error",/,
  },
  responses: { path: "/v1/responses", body: { input: "Hi" }, heartbeat: comment, error: /response\.failed/ },
  gemini: {
    path: "/v1beta/models/chat:streamGenerateContent?alt=sse",
    body: { contents: [{ role: "user", parts: [{ text: "Hi" }] }] },
    heartbeat: comment,
    error: /^data: \{"error":\{/,
  },
  "gemini's array": {
    path: "/v1beta/models/chat:streamGenerateContent",
    body: { contents: [{ role: "user", parts: [{ text: "Hi" }] }] },
    heartbeat: "\n",
    error: /^\[\{"error":\{/,
  },
};

/** A proxy whose clock is advanced by the test, and a request to it. */
async function open(upstreams: Record<string, Behaviour>, options: Omit<TestProxyOptions, "upstreams"> = {}) {
  const started = await Promise.all(Object.values(upstreams).map((behaviour) => startUpstream(behaviour)));
  const clock = fakeClock();
  const urls = Object.fromEntries(Object.keys(upstreams).map((name, at) => [name, started[at]!.url]));
  const proxy = await startTestProxy({ upstreams: urls, clock, ...options });
  const post = ({ path, body }: Dialect) =>
    fetch(proxy.url + path, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ model: "chat", ...(path.startsWith("/v1/") ? { stream: true } : {}), ...body }),
    });
  return {
    clock,
    proxy,
    post,
    upstreams: started,
    async [Symbol.asyncDispose]() {
      await proxy[Symbol.asyncDispose]();
      for (const upstream of started) await upstream.close();
    },
  };
}

/** Reads a body piece by piece. */
function createReader(response: Response) {
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  return {
    next: async () => (await reader.read()).value ?? "",
    async rest() {
      let text = "";
      for (let { value, done } = await reader.read(); !done; { value, done } = await reader.read()) text += value;
      return text;
    },
    cancel: () => reader.cancel(),
  };
}

const sse = (event: Record<string, unknown>, name?: string) =>
  `${name === undefined ? "" : `event: ${name}\n`}data: ${JSON.stringify(event)}\n\n`;
const chunk = (content: string, finish_reason: string | null = null) =>
  sse({
    id: "1",
    object: "chat.completion.chunk",
    created: 1,
    model: "a",
    choices: [{ index: 0, delta: { content }, finish_reason }],
  });
const block = (text: string) =>
  sse({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text } }, "content_block_delta");
const usage = { input_tokens: 1, output_tokens: 1 };
const message = { id: "1", type: "message", role: "assistant", model: "a", content: [], usage };

const claude = [
  sse({ type: "message_start", message }, "message_start") +
  sse({ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } }, "content_block_start") +
  block("Hello"),
  block(" World") + sse({ type: "content_block_stop", index: 0 }, "content_block_stop") +
  sse({ type: "message_delta", delta: { stop_reason: "end_turn" }, usage }, "message_delta") +
  sse({ type: "message_stop" }, "message_stop"),
] as const;
const candidate = (text: string, end = {}) =>
  sse({ candidates: [{ content: { role: "model", parts: [{ text }] }, index: 0, ...end }] });
const delta = (text: string) =>
  sse({ type: "response.output_text.delta", output_index: 0, content_index: 0, delta: text });
const response = { id: "resp_1", object: "response", created_at: 1, status: "completed", model: "a", output: [] };

/** A provider's first content, a sign of life, and the end. */
interface Alive {
  readonly connector: string;
  readonly events: readonly [first: string, ping: string, last: string];
  /** Whether it is asked in the Responses dialect itself. */
  readonly isResponses?: true;
}

const alive: readonly Alive[] = [
  {
    connector: "openai.compatible.v1",
    events: [chunk("Hello"), ": thinking\n\n", `${chunk(" World", "stop")}data: [DONE]\n\n`],
  },
  { connector: "anthropic.claude.v1", events: [claude[0], sse({ type: "ping" }, "ping"), claude[1]] },
  { connector: "anthropic.claude.v1", events: [claude[0], ": thinking\n\n", claude[1]] },
  {
    connector: "google.gemini.v1",
    events: [candidate("Hello"), ": thinking\n\n", candidate(" World", { finishReason: "STOP" })],
  },
  {
    connector: "openai.compatible.v1",
    events: [delta("Hello"), ": thinking\n\n", delta(" World") + sse({ type: "response.completed", response })],
    isResponses: true,
  },
];

/** Posts a request whose provider waits at a gate; its stream begins by a heartbeat, ten seconds later. */
async function openLate(
  { post, clock }: Pick<Awaited<ReturnType<typeof open>>, "post" | "clock">,
  dialect: Dialect,
  reached: Promise<unknown>,
) {
  const asked = post(dialect);
  await happens("the provider is asked", reached);
  await clock.advance(10_000);
  const response = await happens("the stream begins", asked);
  const body = createReader(response);
  assertEquals(await body.next(), dialect.heartbeat);
  return { response, body };
}

const after = (gate: Gate, behaviour: Behaviour): Behaviour => ({
  async play(exchange) {
    await gate.pass();
    await behaviour.play(exchange);
  },
});

describe("A stream without content after ten seconds", () => {
  for (const [name, dialect] of Object.entries(dialects)) {
    const calls = name === "two prompts" ? 2 : 1;

    it(`begins with a heartbeat, has one every 15 s, and then its content: ${name}`, async () => {
      const gate = new Gate();
      await using scene = await open({ a: stream({ pieces: ["Hello"], gate }) });
      const { response, body } = await openLate(scene, dialect, gate.reached(calls));
      assertEquals([response.status, response.headers.get("x-mesh-model")], [200, null]);
      assertEquals(response.headers.get("cache-control"), "no-cache");
      assertEquals(response.headers.get("x-accel-buffering"), "no");
      const next = body.next();
      await scene.clock.advance(15_000);
      assertEquals(await happens("the second heartbeat", next), dialect.heartbeat);
      gate.openAll();
      assertMatch(await body.rest(), /Hello/);
    });

    it(`goes on unseen after a failure: ${name}`, async () => {
      const gate = new Gate();
      const upstreams = { a: after(gate, status(500)), b: stream({ pieces: ["Hello"] }) };
      await using scene = await open(upstreams, { pool: { retry: { max_attempts: 0 } } });
      const { body } = await openLate(scene, dialect, gate.reached(calls));
      gate.openAll();
      const rest = await body.rest();
      assert(/Hello/.test(rest) && !/"error":\{/.test(rest), rest);
    });

    it(`ends with an event when all fails: ${name}`, async () => {
      const gate = new Gate();
      await using scene = await open({ a: after(gate, status(500)) }, { pool: { retry: { max_attempts: 0 } } });
      const { body } = await openLate(scene, dialect, gate.reached(calls));
      gate.openAll();
      const rest = await body.rest();
      assertMatch(rest, dialect.error);
      assert(!rest.includes("[DONE]"), rest);
    });

    it(`stops its call when the client leaves: ${name}`, async () => {
      const gate = new Gate();
      await using scene = await open({ a: stream({ gate }) });
      const { body } = await openLate(scene, dialect, gate.reached(calls));
      await body.cancel();
      await until(() => scene.upstreams[0]!.open === 0, "the call of the provider is closed");
      assertEquals(scene.proxy.mesh.poolStatus().chat!.active, 1);
    });
  }

  it("before them, has an ordinary error", async () => {
    const gate = new Gate();
    await using scene = await open({ a: after(gate, status(500)) }, { pool: { retry: { max_attempts: 0 } } });
    const asked = scene.post(dialects.chat!);
    await happens("the provider is asked", gate.reached(1));
    await scene.clock.advance(9_999);
    gate.openAll();
    const response = await asked;
    assertEquals(response.status, 502);
    await response.body?.cancel();
  });

  it("waits for it when heartbeats are off, and has them at the interval that is set", async () => {
    for (const [heartbeat, steps] of [["0s", 60_000], ["2s", 2_000]] as const) {
      const gate = new Gate();
      await using scene = await open({ a: stream({ pieces: ["Hello"], gate }) }, {
        config: { proxy: { heartbeat } },
        provider: { execution: { timeout: "300s" } },
      });
      const asked = scene.post(dialects.chat!);
      await happens("the provider is asked", gate.reached(1));
      await scene.clock.advance(10_000);
      if (heartbeat !== "0s") {
        const body = createReader(await happens("the stream begins", asked));
        await body.next();
        const next = body.next();
        await scene.clock.advance(steps);
        assertEquals(await happens("the second heartbeat", next), comment);
        await body.cancel();
        continue;
      }
      await scene.clock.advance(steps);
      gate.openAll();
      const response = await asked;
      assertEquals(response.headers.get("x-mesh-model"), "a");
      assert(!(await response.text()).includes("heartbeat"));
    }
  });
});

describe("A stream that falls silent", () => {
  for (const [name, dialect] of Object.entries(dialects)) {
    if (name === "two prompts") continue;
    it(`has a heartbeat every 15 s: ${name}`, async () => {
      const gate = new Gate();
      await using scene = await open({ a: stream({ pieces: ["Hello", " World"], gate }) });
      gate.open(2);
      const body = createReader(await scene.post(dialect));
      let text = "";
      while (!text.includes("Hello")) text += await body.next();
      await happens("the provider waits", gate.reached(3));
      const next = body.next();
      await scene.clock.advance(15_000);
      assertEquals(await happens("the heartbeat", next), dialect.heartbeat);
      gate.openAll();
      assertMatch(await body.rest(), /World/);
    });
  }

  it("passes on its provider's comments, and pings of the Messages API", async () => {
    for (const [name, dialect] of Object.entries(dialects)) {
      if (name === "two prompts") continue;
      for (const { connector, events: [first, ping, last], isResponses } of alive) {
        if (isResponses && name !== "responses") continue;
        const gate = new Gate();
        const talking: Behaviour = {
          async play(exchange) {
            await exchange.write(formatHead(200, { "content-type": "text/event-stream" }) + first);
            await gate.pass();
            await exchange.write(ping);
            await gate.pass();
            await exchange.write(last);
            exchange.close();
          },
        };
        const config = isResponses ? { config: { responses: true } } : {};
        await using scene = await open({ a: talking }, { provider: { connector, ...config } });
        const body = createReader(await scene.post(dialect));
        let text = "";
        while (!text.includes("Hello")) text += await body.next();
        gate.open();
        const said = await happens("what shows that the provider is alive", body.next());
        // the native stream of a dialect has the provider's own event
        assertEquals(said, dialect.heartbeat, `${name} over ${connector}`);
        gate.openAll();
        assertMatch(await body.rest(), /World/, name);
      }
    }
  });
});

describe("Every stream", () => {
  it("says that it must be neither cached nor collected", async () => {
    for (const [name, dialect] of Object.entries(dialects)) {
      await using scene = await open({ a: stream() });
      const response = await scene.post(dialect);
      assertEquals(response.headers.get("cache-control"), "no-cache", name);
      assertEquals(response.headers.get("x-accel-buffering"), "no", name);
      await response.text();
    }
  });
});
