/** `prompt_cache`: requests get what each vendor needs to cache their prompts, where the client has set nothing. */
import { assert, assertAlmostEquals, assertEquals, assertMatch, assertNotEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { bedrock } from "../../support/_bedrock.ts";
import { type DialectFacts, type Json, speaking } from "../../support/_dialects.ts";
import { respondWithResponse } from "../../support/_responses_behaviours.ts";
import { behind, soon } from "../../support/_failover.ts";
import { startTestProxy, type TestProxy } from "../../support/proxy.ts";
import { type Behaviour, Gate, json, startUpstream, status, type Upstream } from "../../support/upstream.ts";

const short = { type: "ephemeral" };
const hour = { type: "ephemeral", ttl: "1h" };
const long = "All of this is known. ".repeat(600);
const sonnet = "claude-sonnet-4-5";

const text = (value: string, mark?: Json) => ({ type: "text", text: value, ...(mark && { cache_control: mark }) });
const user = (content: unknown) => ({ role: "user", content });
const said = (content: unknown) => ({ role: "assistant", content });
const tool = (name: string, more: Json = {}) => ({ name, input_schema: { type: "object" }, ...more });

/** A vendor and its model, and the settings of its provider and model. */
interface Target {
  readonly speaks?: Pick<DialectFacts, "respond" | "connector">;
  readonly connector?: string;
  readonly model?: string;
  readonly prompt_cache?: Json;
  readonly config?: Json;
  readonly settings?: Json;
  readonly script?: Behaviour | readonly Behaviour[];
  readonly sections?: Json;
}

const claude: Target = { speaks: speaking.anthropic, model: sonnet };
/** Has the Responses API. */
const responding: Target = { script: respondWithResponse(), config: { responses: true } };
const openai: Target = { speaks: speaking.openai, connector: "openai.llm.v1", model: "gpt-4o" };

/** A proxy over one provider, and that provider. */
async function over(
  { speaks = speaking.openai, connector = speaks.connector, script = speaks.respond(), ...target }: Target,
): Promise<{ proxy: TestProxy; upstream: Upstream } & AsyncDisposable> {
  const upstream = await startUpstream(script);
  const { prompt_cache = { auto: true }, config, settings, model = "small", sections } = target;
  const provider = { connector, base_url: upstream.url, api_key: "key-0123456789", prompt_cache, config };
  const proxy = await startTestProxy({
    upstreams: {},
    config: {
      providers: { only: provider },
      models: { only: { provider: "only", model, capabilities: ["chat-completion"], ...settings } },
      pools: { chat: { models: ["only"], retry: { max_attempts: 0 } } },
      ...sections,
    },
  });
  return {
    proxy,
    upstream,
    async [Symbol.asyncDispose]() {
      await proxy[Symbol.asyncDispose]();
      await upstream.close();
    },
  };
}

function post({ url }: TestProxy, path: string, body: Json | string, headers: Record<string, string> = {}) {
  return fetch(url + path, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: typeof body === "string" ? body : JSON.stringify({ model: "chat", ...body }),
  });
}

/** What the provider receives for a request. */
async function sent(
  target: Target,
  path: string,
  body: Json | string,
  headers: Record<string, string> = {},
): Promise<Json & { raw: string }> {
  await using scene = await over(target);
  const response = await post(scene.proxy, path, body, headers);
  assertEquals(response.status, 200, await response.clone().text());
  await response.body?.cancel();
  const { body: raw } = scene.upstream.requests.at(-1)!;
  return { ...JSON.parse(raw), raw };
}

const messages = "/v1/messages";
const chat = "/v1/chat/completions";
const responses = "/v1/responses";

describe("the prompts of Claude", () => {
  const conversation = {
    max_tokens: 9,
    tools: [tool("first"), tool("last")],
    system: long,
    messages: [user(long), said("Well"), user([text("More"), text("And more")]), said("Yes"), user("Go on")],
  };
  const marked = {
    tools: [tool("first"), tool("last", { description: long, cache_control: short })],
    system: [text(long, short)],
    messages: [
      user(long),
      said("Well"),
      user([text("More"), text("And more", short)]),
      said("Yes"),
      user([text("Go on", short)]),
    ],
  };
  const tools = [tool("first"), tool("last", { description: long })];

  it("are marked after tools, instructions, and the last two turns of the user", async () => {
    const body = await sent(claude, messages, { ...conversation, tools });
    assertEquals({ tools: body.tools, system: body.system, messages: body.messages }, marked);
  });

  it("are marked the same for clients of OpenAI's API", async () => {
    const { tools, system, messages: turns } = await sent(claude, chat, {
      tools: [
        { type: "function", function: { name: "first", parameters: { type: "object" } } },
        { type: "function", function: { name: "last", description: long, parameters: { type: "object" } } },
      ],
      messages: [{ role: "system", content: long }, ...conversation.messages],
    });
    const marks = (tools as Json[]).map((one) => one.cache_control);
    assertEquals([marks, system], [[undefined, short], marked.system]);
    const ends = (turns as { content: Json[] }[]).map(({ content }) => content.at(-1)!.cache_control);
    assertEquals(ends, [undefined, undefined, short, undefined, short]);
  });

  it("are marked for an hour in the vendor's spelling", async () => {
    const target = { ...claude, prompt_cache: { auto: true, ttl: "1h" } };
    const { system } = await sent(target, messages, conversation);
    assertEquals(system, [text(long, hour)]);
  });

  it("are not marked below the minimum of the model", async () => {
    const body = { max_tokens: 9, system: "Be kind", messages: [user("Hi")] };
    const { system, messages: turns } = await sent(claude, messages, body);
    assertEquals([system, turns], ["Be kind", [user("Hi")]]);
    for (const [model, chars] of [["claude-opus-5", 1_600], [sonnet, 3_200], ["claude-haiku-4-5", 12_400]] as const) {
      for (const [length, isMarked] of [[chars - 200, false], [chars, true]] as const) {
        const { system } = await sent({ ...claude, model }, messages, { ...body, system: "x".repeat(length) });
        assertEquals(Array.isArray(system), isMarked, `${model} ${length}`);
      }
    }
  });

  it("are marked only in sections without a mark of the client, whose marks stay", async () => {
    const own = { max_tokens: 9, tools, system: [text(long, short)], messages: [user(long)] };
    const body = await sent(claude, messages, own);
    assertEquals(body.system, own.system);
    assertEquals((body.tools as Json[])[1]!.cache_control, short);
    assertEquals(body.messages, [user([text(long, short)])]);
  });

  it("have at most four marks with those of the client, the most useful first", async () => {
    const many = [text("a", short), text("b", short), text(long, short)];
    const body = await sent(claude, messages, { ...conversation, tools, system: many });
    assertEquals(body.system, many);
    assertEquals([body.tools, (body.messages as Json[])[2]], [tools, conversation.messages[2]]);
    assertEquals((body.messages as Json[])[4], marked.messages[4]);
    const whole = await sent(claude, messages, { ...conversation, tools, cache_control: short });
    assertEquals([whole.messages, whole.system], [conversation.messages, marked.system]);
  });

  it("have no longer mark after a shorter one", async () => {
    const target = { ...claude, prompt_cache: { auto: true, ttl: "1h" } };
    const after = await sent(target, messages, { ...conversation, tools, system: [text(long, short)] });
    assertEquals((after.tools as Json[])[1]!.cache_control, hour);
    assertEquals((after.messages as Json[])[4], user([text("Go on", short)]));
    const before = await sent(claude, messages, { ...conversation, tools, cache_control: hour });
    assertEquals([(before.tools as Json[])[1]!.cache_control, before.system], [hour, [text(long, hour)]]);
  });

  it("are marked at blocks that take a mark", async () => {
    const { tools: sentTools, messages: turns } = await sent(claude, messages, {
      max_tokens: 9,
      tools: [tool("last", { description: long }), tool("later", { defer_loading: true })],
      messages: [
        user([text(long), text(" ")]),
        said([{ type: "tool_use", id: "t1", name: "last", input: {} }]),
        user([{ type: "tool_result", tool_use_id: "t1", content: "Done" }]),
        said([text("Let me")]),
      ],
    });
    assertEquals((sentTools as Json[]).map((one) => one.cache_control), [short, undefined]);
    const marks = (turns as { content: Json[] }[]).map(({ content }) => content.map((block) => block.cache_control));
    assertEquals(marks, [[short, undefined], [undefined], [short], [undefined]]);
  });

  it("differ from the client's bytes only in the marks", async () => {
    const input = '{"id": 12345678901234567890, "price": 1.0}';
    const body = (mark: string) =>
      `{"model":"${mark === "" ? "chat" : sonnet}","max_tokens":9,"messages":[ {"role":"user","content":${
        JSON.stringify(long)
      }},` +
      `{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"f","input":${input}}]}, ` +
      `{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"1.50"${mark}}]}]}`;
    const { raw } = await sent(claude, messages, body(""));
    const mark = ',"cache_control":{"type":"ephemeral"}';
    const first = `[{"type":"text","text":${JSON.stringify(long)}${mark}}]`;
    assertEquals(raw, body(mark).replace(JSON.stringify(long), first));
  });

  it("are not marked without the setting", async () => {
    for (const prompt_cache of [undefined, { auto: false }]) {
      const { raw } = await sent({ ...claude, prompt_cache: prompt_cache ?? {} }, messages, conversation);
      assert(!raw.includes("cache_control"), raw);
    }
  });

  it("cost what the vendor charges for writes of each duration", async () => {
    const usage = {
      input_tokens: 0,
      output_tokens: 0,
      cache_read_input_tokens: 0,
      cache_creation_input_tokens: 1_000_000,
    };
    const creation = { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 1_000_000 };
    for (const [ttl, cost] of [["5m", "1.25"], ["1h", "2"]] as const) {
      const script = speaking.anthropic.respond({
        usage: { ...usage, ...(ttl === "1h" ? { cache_creation: creation } : {}) },
      });
      const settings = { pricing: { input: 1, output: 5 } };
      await using scene = await over({ ...claude, script, settings, prompt_cache: { auto: true, ttl } });
      const response = await post(scene.proxy, messages, conversation);
      await response.body?.cancel();
      assertEquals(response.headers.get("x-mesh-cost-usd"), cost);
    }
  });
});

describe("a budget", () => {
  it("reserves what writes to the cache may cost, for an hour as configured", async () => {
    const reserved: number[] = [];
    for (const ttl of ["5m", "1h"]) {
      const gate = new Gate();
      const script = behind(gate, speaking.anthropic.respond());
      const settings = { pricing: { input: 1_000, output: 0 } };
      const sections = { budget: { daily_limit: 1_000 } };
      await using scene = await over({ ...claude, script, settings, sections, prompt_cache: { auto: true, ttl } });
      const asked = post(scene.proxy, messages, { max_tokens: 9, messages: [user(long)] });
      await soon(gate.reached(1));
      const { budgets } = await (await fetch(`${scene.proxy.url}/mesh/status`)).json();
      reserved.push(budgets[0].reserved_usd);
      gate.openAll();
      await (await asked).body?.cancel();
    }
    assertAlmostEquals(reserved[1]! / reserved[0]!, 2 / 1.25);
  });
});

describe("the prompts of Bedrock", () => {
  const body = {
    tools: [{ type: "function", function: { name: "f", description: long, parameters: { type: "object" } } }],
    messages: [{ role: "system", content: long }, user(long), said("Well"), user("Go on")],
  };
  const config = { region: "eu-central-1" };
  const target = (model: string, ttl?: string): Target => ({
    speaks: bedrock,
    model,
    config,
    prompt_cache: { auto: true, ...(ttl === undefined ? {} : { ttl }) },
  });
  const point = (ttl?: string) => ({ cachePoint: { type: "default", ...(ttl === undefined ? {} : { ttl }) } });
  type Converse = { system: Json[]; messages: { content: Json[] }[]; toolConfig: { tools: Json[] } };

  it("have cache points after tools, instructions and the last two turns of the user", async () => {
    for (
      const [model, ttl, own] of [
        ["global.anthropic.claude-sonnet-4-5-20250929-v1:0", "1h", "1h"],
        ["anthropic.claude-sonnet-4-20250514-v1:0", "1h", undefined], // takes five minutes alone
        ["global.anthropic.claude-sonnet-4-5-20250929-v1:0", "5m", undefined],
      ] as const
    ) {
      const converse = await sent(target(model, ttl), chat, body) as Json as Converse;
      assertEquals(converse.system, [{ text: long }, point(own)], model);
      assertEquals(converse.toolConfig.tools[1], point(own));
      assertEquals(converse.messages.map(({ content }) => content), [
        [{ text: long }, point(own)],
        [{ text: "Well" }],
        [{ text: "Go on" }, point(own)],
      ]);
    }
  });

  it("have none in the tools of Nova, and none for models without a cache", async () => {
    const nova = await sent(target("amazon.nova-lite-v1:0", "1h"), chat, body) as Json as Converse;
    assertEquals([nova.toolConfig.tools.length, nova.system], [1, [{ text: long }, point()]]);
    assert(!(await sent(target("meta.llama3-3-70b-instruct-v1:0"), chat, body)).raw.includes("cachePoint"));
  });
});

describe("the prompts of Claude behind a gateway in OpenAI's form", () => {
  const body = {
    tools: [{
      type: "function",
      function: { name: "f", description: long, parameters: { type: "object", properties: {} } },
    }],
    messages: [
      { role: "system", content: "Be kind" },
      user("Go"),
      { ...said(null), tool_calls: [{ id: "t1", type: "function", function: { name: "f", arguments: "{}" } }] },
      { role: "tool", tool_call_id: "t1", content: "Done" },
    ],
  };

  it("are marked after instructions and the last two turns, which follow the tools", async () => {
    for (const connector of ["openrouter.gateway.v1", "vercel.gateway.v1"]) {
      const { tools, messages } = await sent({ connector, model: "anthropic/claude-sonnet-4.5" }, chat, body);
      assertEquals(tools, body.tools);
      const contents = (messages as { content: unknown }[]).map(({ content }) => content);
      assertEquals(contents, [[text("Be kind", short)], [text("Go", short)], null, [text("Done", short)]], connector);
    }
    const small = await sent({ connector: "openrouter.gateway.v1", model: "anthropic/claude-haiku-4.5" }, chat, {
      messages: [user(long.slice(0, 6_000))],
    });
    assert(!small.raw.includes("cache_control"), small.raw);
  });

  it("keep the marks of the client, and those of other models have none", async () => {
    const own = { ...body, messages: [user([text(long, short)]), said("Well"), user("Go on")] };
    const { messages } = await sent(
      { connector: "openrouter.gateway.v1", model: "anthropic/claude-sonnet-4.5" },
      chat,
      own,
    );
    assertEquals(messages, own.messages);
    const { raw } = await sent({ connector: "openrouter.gateway.v1", model: "openai/gpt-4o" }, chat, body);
    assert(!raw.includes("cache_control"), raw);
  });
});

describe("prompt_cache_key", () => {
  const turn = (name: string, more: unknown[] = []) => ({
    messages: [{ role: "system", content: "Be kind" }, user(`I am ${name}`), ...more],
  });
  const session = (name: string) => ({ "x-mesh-session": name });
  const later = [said("Hello"), user("More")];

  it("is one for each session, and does not reveal it", async () => {
    const keys = [];
    for (const [name, who] of [["s-1", "x"], ["s-1", "y"], ["s-2", "x"]] as const) {
      keys.push((await sent(openai, chat, turn(who), session(name))).prompt_cache_key);
    }
    assertMatch(String(keys[0]), /^[0-9a-f]{32}$/);
    assertEquals(keys[1], keys[0]);
    assertNotEquals(keys[2], keys[0]);
  });

  it("is one for each conversation without a session, and one for each client", async () => {
    const keys = [turn("x"), turn("x", later), turn("y")].map((body) => sent(openai, chat, body));
    const [first, second, other] = (await Promise.all(keys)).map(({ prompt_cache_key: key }) => key);
    assertMatch(String(first), /^[0-9a-f]{32}$/);
    assertEquals(second, first);
    assertNotEquals(other, first);
    const tokens = ["one", "two"].map((name) => ({ token: `token-of-${name}-0123456789`, name }));
    const sections = { proxy: { auth: { method: "bearer", tokens } } };
    const ofClients = tokens.map(({ token }) =>
      sent({ ...openai, sections }, chat, turn("x"), { authorization: `Bearer ${token}`, ...session("s") })
    );
    const [one, two] = await Promise.all(ofClients);
    assertNotEquals(one!.prompt_cache_key, two!.prompt_cache_key);
  });

  it("is in native requests of the Responses API, and in chat requests that go there", async () => {
    const native = await sent(
      { ...openai, ...responding },
      responses,
      { input: "Hi", instructions: "Be kind" },
      session("s-1"),
    );
    const [key] = [native.prompt_cache_key];
    assertMatch(String(key), /^[0-9a-f]{32}$/);
    const translated = await sent(
      { ...openai, ...responding, settings: { api: "responses" } },
      chat,
      turn("x"),
      session("s-1"),
    );
    assertEquals(translated.prompt_cache_key, key);
  });

  it("is the client's own, if it has sent one", async () => {
    const own = { prompt_cache_key: "own" };
    assertEquals((await sent(openai, chat, { ...turn("x"), ...own })).prompt_cache_key, "own");
    const native = await sent({ ...openai, ...responding }, responses, { input: "Hi", ...own });
    assertEquals(native.prompt_cache_key, "own");
  });

  it("is sent to vendors that take it, in the APIs that do", async () => {
    const to = (connector: string) => sent({ connector, model: "some-model" }, chat, turn("x"));
    for (const connector of ["mistral.api.v1", "fireworks.api.v1"]) {
      assertMatch(String((await to(connector)).prompt_cache_key), /^[0-9a-f]{32}$/, connector);
    }
    for (const connector of ["xai.grok.v1", "groq.api.v1", "openai.compatible.v1"]) {
      assertEquals((await to(connector)).prompt_cache_key, undefined, connector);
    }
    const xai = await sent({ connector: "xai.grok.v1", model: "grok-4", ...responding }, responses, { input: "Hi" });
    assertMatch(String(xai.prompt_cache_key), /^[0-9a-f]{32}$/);
  });

  it("is left out for a model that rejects it", async () => {
    const refuses = status(400, {
      error: { message: "Unknown parameter: prompt_cache_key", param: "prompt_cache_key" },
    });
    await using scene = await over({ ...openai, script: [refuses, speaking.openai.respond()] });
    for (const name of ["x", "y"]) {
      const response = await post(scene.proxy, chat, turn(name));
      assertEquals(response.status, 200, await response.text());
    }
    const keys = scene.upstream.requests.map((request) => typeof request.json().prompt_cache_key);
    assertEquals(keys, ["string", "undefined", "undefined"]);
  });
});

describe("the use of prompt caches", () => {
  const answer = (written: number, read: number) =>
    json({
      ...{ id: "msg_1", type: "message", role: "assistant", model: sonnet, stop_reason: "end_turn" },
      content: [{ type: "text", text: "Hi" }],
      usage: {
        input_tokens: 10,
        output_tokens: 1,
        cache_creation_input_tokens: written,
        cache_read_input_tokens: read,
      },
    });
  const ask = { max_tokens: 9, messages: [user("Hi")] };

  /** Asks so many times, and returns the warnings. */
  async function warnings(script: readonly Behaviour[]): Promise<string[]> {
    await using scene = await over({ ...claude, script });
    const traces: string[] = [];
    scene.proxy.mesh.addSink({
      emit: () => {},
      trace: ({ severity, message }) => severity === "warning" && traces.push(message),
      flush: () => Promise.resolve(),
    });
    for (const _ of script) await (await post(scene.proxy, messages, ask)).body?.cancel();
    return traces.filter((message) => message.includes("prompt cache"));
  }

  it("is reported if twenty writes had no read, once until a read", async () => {
    const writes = (count: number) => Array.from({ length: count }, () => answer(100, 0));
    assertEquals(await warnings(writes(19)), []);
    assertEquals(await warnings([...writes(19), answer(0, 100), ...writes(19)]), []);
    const [warning, ...others] = await warnings(writes(45));
    assertMatch(warning!, /^The last 20 writes to the prompt cache of "only" were not read/);
    assertEquals(others, []);
    assertEquals((await warnings([...writes(20), answer(0, 1), ...writes(20)])).length, 2);
  });

  it("is measured as the share of input that was read from them", async () => {
    await using scene = await over({ ...claude, script: [answer(90, 0), answer(0, 90)] });
    await fetch(`${scene.proxy.url}/metrics`).then((response) => response.text());
    for (const _ of [1, 2]) await (await post(scene.proxy, messages, ask)).body?.cancel();
    const metrics = await (await fetch(`${scene.proxy.url}/metrics`)).text();
    assertMatch(metrics, /^modelmesh_cached_input_ratio\{model="only",provider="only"\} 0\.45$/m);
    assertMatch(
      metrics,
      /^modelmesh_cached_input_tokens_total\{pool="chat",model="only",provider="only",client=""\} 90$/m,
    );
  });
});
