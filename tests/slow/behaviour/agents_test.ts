/**
 * Requests of coding agents, over providers that reject what their vendors reject: every agent gets the response that it
 * expects, non-streaming and streaming. `tests/nightly/agents_test.ts` runs the agents themselves.
 */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { type AgentFixture, type AgentRequest, found, intention, picture } from "../../support/_agent_requests.ts";
import { playVendor, type Vendor, vendorConfig, vendors } from "../../support/_agent_vendors.ts";
import { claudeBackground, claudeCode, claudeSearch } from "../../support/_claude_code.ts";
import { codex } from "../../support/_codex.ts";
import { type Json, type Reply, speaking } from "../../support/_dialects.ts";
import { type DialectResponse, readDialectResponse } from "../../support/_dialect_calls.ts";
import { geminiCli, geminiHelper, geminiSearch } from "../../support/_gemini_cli.ts";
import { startTestProxy, type TestProxy } from "../../support/proxy.ts";
import { parseEvents } from "../../support/_responses.ts";
import { strictly } from "../../support/_strict_models.ts";
import { type Play, playTools, type Turn } from "../../support/_tool_loop.ts";
import { json, startUpstream, type Upstream } from "../../support/upstream.ts";

const agents: Readonly<Record<string, AgentFixture>> = {
  "Claude Code": claudeCode,
  Codex: codex,
  "Gemini CLI": geminiCli,
};

/** A proxy over a model that plays a task. */
async function withVendor(
  vendor: Vendor,
  play: Play,
  test: (proxy: TestProxy, upstream: Upstream) => Promise<void>,
): Promise<void> {
  await using upstream = await startUpstream(playVendor(vendor, play));
  await using proxy = await startTestProxy({ upstreams: {}, config: vendorConfig({ vendor, url: upstream.url }) });
  await test(proxy, upstream);
}

function send({ url }: TestProxy, { path, headers, body }: AgentRequest): Promise<Response> {
  const all = { ...headers, "content-type": "application/json" };
  return fetch(url + path, { method: "POST", headers: all, body: JSON.stringify(body) });
}

/** A model that calls two tools, and then says what it has seen. */
const working = ({ calls }: AgentFixture) => ({ results }: Turn): Reply =>
  results.length === 0
    ? { pieces: ["I read", " both."], thoughts: "Both at once", calls }
    : { pieces: ["Seen: ", ...results.map((result) => found.find((word) => result.includes(word)) ?? result)] };

const ends: Readonly<Record<AgentFixture["dialect"], readonly [calls: string, text: string]>> = {
  messages: ["tool_use", "end_turn"],
  responses: ["completed", "completed"],
  gemini: ["STOP", "STOP"],
};

/** The order of events that the agents rely on. */
const checks: Readonly<Record<AgentFixture["dialect"], (body: string) => void>> = {
  messages(body) {
    const names = [...body.matchAll(/^event: (\w+)$/gm)].map(([, name]) => name).join(" ");
    const block = "content_block_start( content_block_delta)* content_block_stop";
    assertMatch(names, new RegExp(`^message_start( ping)?( ${block})+ message_delta message_stop$`));
  },
  responses(body) {
    const events = parseEvents(body);
    assertEquals([events[0]!.type, events.at(-1)!.type], ["response.created", "response.completed"]);
    const ofItem = (index: number) => events.filter((event) => event.output_index === index).map(({ type }) => type);
    const { output, usage } = events.at(-1)!.response as { output: Json[]; usage: Json };
    assert(Number(usage.total_tokens) > 0);
    for (const index of output.keys()) {
      const types = ofItem(index);
      assertEquals([types[0], types.at(-1)], ["response.output_item.added", "response.output_item.done"]);
    }
    const done = events.filter(({ type }) => type === "response.output_item.done").map(({ item }) => item);
    assertEquals(done, output);
  },
  gemini(body) {
    const events = body.trimEnd().split("\n\n").map((event) => JSON.parse(event.slice("data: ".length)));
    assertEquals(
      events.findIndex(({ candidates: [{ finishReason }] }) => finishReason !== undefined),
      events.length - 1,
    );
    assert(events.at(-1).usageMetadata.totalTokenCount > 0);
  },
};

async function assertTurns(agent: AgentFixture, proxy: TestProxy, stream: boolean): Promise<void> {
  const { dialect, calls, request } = agent;
  const ask = async (turn: 1 | 2): Promise<DialectResponse> => {
    const answer = await readDialectResponse(await send(proxy, request({ turn, stream })), { dialect, stream });
    assertEquals(answer.status, 200, answer.body);
    if (stream) checks[dialect](answer.body);
    return answer;
  };
  const first = await ask(1);
  const plain = calls.map(({ name, input }) => ({ name, input }));
  assertEquals(first.calls.map(({ name, input }) => ({ name, input })), plain);
  assertEquals([first.text, first.end], [intention, ends[dialect][0]]);
  const second = await ask(2);
  assertEquals([second.calls, second.end], [[], ends[dialect][1]]);
  assertEquals(found.every((word) => second.text.includes(word)), true, second.text);
}

for (const [name, agent] of Object.entries(agents)) {
  describe(`${name} calls tools and gets the response`, () => {
    for (const [vendor, facts] of Object.entries(vendors)) {
      for (const stream of [true, false]) {
        it(`over ${vendor}, ${stream ? "streamed" : "whole"}`, () =>
          withVendor(facts, working(agent), async (proxy, upstream) => {
            await assertTurns(agent, proxy, stream);
            assertEquals(upstream.calls, 2); // nothing had to be tried again
          }));
      }
    }
  });
}

describe("Pictures that tools find reach the model", () => {
  for (const [name, { dialect, request }] of Object.entries(agents)) {
    for (const [vendor, facts] of Object.entries(vendors)) {
      it(`from ${name} to ${vendor}`, () =>
        withVendor(facts, () => ({ pieces: ["A dot."] }), async (proxy, upstream) => {
          const asked = request({ turn: 2, stream: true, hasPicture: true });
          const answer = await readDialectResponse(await send(proxy, asked), { dialect, stream: true });
          assertEquals([answer.status, answer.text], [200, "A dot."], answer.body);
          assertEquals([upstream.calls, upstream.requests[0]!.body.includes(picture)], [1, true]);
        }));
    }
  }
});

/** A model that searches, and names what it has found. */
function searching({ tools, results }: Turn): Reply {
  if (results.length > 0) return { pieces: ["It is kumquat: [A](https://a.example/)."] };
  return { calls: [{ id: "call_s", name: tools.at(-1)!, input: { query: "first word" } }] };
}

const engineConfig = (base_url: string) => ({
  providers: { engine: { connector: "openai.compatible.v1", base_url, api_key: "key-of-engine-0123456789" } },
  models: { engine: { provider: "engine", capabilities: ["web-search"] } },
  pools: { search: { models: ["engine"] } },
});

describe("The agents search the web", () => {
  const results = [{ title: "A", url: "https://a.example/", snippet: "kumquat" }];
  const requests = { "Claude Code": claudeSearch, "Gemini CLI": geminiSearch };
  for (const [name, request] of Object.entries(requests)) {
    for (const [vendor, facts] of Object.entries(vendors)) {
      it(`${name} over ${vendor}`, async () => {
        await using upstream = await startUpstream(playVendor(facts, searching));
        await using engine = await startUpstream(json({ object: "search", model: "m", results }));
        const config = vendorConfig({ vendor: facts, url: upstream.url });
        const added: Readonly<Record<string, Json>> = engineConfig(engine.url);
        const joined = Object.fromEntries(
          Object.entries(added).map(([key, more]) => [key, { ...config[key] as Json, ...more }]),
        );
        const all = { ...config, ...joined, proxy: { tools: { web_search: { pool: "search" } } } };
        await using proxy = await startTestProxy({ upstreams: {}, config: all });
        const response = await send(proxy, request);
        const body = await response.text();
        assertEquals([response.status, engine.calls, upstream.calls], [200, 1, 2], body);
        const text = [...body.matchAll(/"text":\s*"([^"]*)"/g)].map(([, piece]) => piece).join("");
        for (const words of ["kumquat", "https://a.example/"]) assertEquals(text.includes(words), true, body);
      });
    }
  }
});

describe("What the agents ask beside their task", () => {
  for (const [vendor, facts] of Object.entries(vendors)) {
    it(`Claude Code's background model is a pool over ${vendor}, with its JSON`, () =>
      withVendor(facts, () => ({ pieces: ['{"title":', '"Two words"}'] }), async (proxy, upstream) => {
        const answer = await readDialectResponse(await send(proxy, claudeBackground), {
          dialect: "messages",
          stream: true,
        });
        assertEquals([answer.status, answer.text, answer.end], [200, '{"title":"Two words"}', "end_turn"], answer.body);
        assertEquals(upstream.calls, 1);
      }));

    it(`Gemini CLI gets JSON from ${vendor}`, () =>
      withVendor(facts, () => ({ pieces: ['{"reason":"short","score":7}'] }), async (proxy, upstream) => {
        const answer = await readDialectResponse(await send(proxy, geminiHelper), { dialect: "gemini", stream: false });
        assertEquals([answer.status, JSON.parse(answer.text)], [200, { reason: "short", score: 7 }], answer.body);
        assertEquals(upstream.calls, 1);
      }));
  }

  it("a dated model that the provider has is sent as it came", async () => {
    await using upstream = await startUpstream(strictly("anthropic", playTools("anthropic", () => ({}))));
    await using proxy = await startTestProxy({
      upstreams: {},
      config: {
        providers: { "anthropic.claude.v1": { base_url: upstream.url, api_key: "key-of-the-vendor-0123456789" } },
        pools: { chat: { capability: "chat-completion" } },
      },
    });
    const answer = await readDialectResponse(await send(proxy, claudeBackground), {
      dialect: "messages",
      stream: true,
    });
    assertEquals([answer.status, upstream.requests[0]!.json().model], [200, "claude-haiku-4-5-20251001"]);
  });

  it("a release of a model that the vendor dates or numbers otherwise is sent as it came", async () => {
    await using upstream = await startUpstream(speaking.gemini.respond({ pieces: ["Hi"] }));
    await using proxy = await startTestProxy({
      upstreams: {},
      config: {
        providers: { "google.gemini.v1": { base_url: upstream.url, api_key: "key-of-the-vendor-0123456789" } },
        pools: { chat: { capability: "chat-completion" } },
      },
    });
    for (const model of ["gemini-2.5-flash-001", "gemini-2.5-flash-preview-09-2025"]) {
      const answered = await proxy.chat({ model });
      assertEquals([answered.status, (await answered.json()).choices[0].message.content], [200, "Hi"], model);
      assert(upstream.requests.at(-1)!.path.includes(`/${model}:`), upstream.requests.at(-1)!.path);
    }
  });

  it("counts of tokens, which call no provider", () =>
    withVendor(vendors["gpt-4o of OpenAI"]!, () => ({}), async (proxy, upstream) => {
      const { stream: _, max_tokens: __, ...body } = claudeCode.request({ turn: 2, stream: true }).body;
      const { path, headers } = claudeCode.request({ turn: 2, stream: true });
      const counted = await send(proxy, { path: path.replace("messages", "messages/count_tokens"), headers, body });
      const { input_tokens: count } = await counted.json();
      const gemini = geminiCli.request({ turn: 2, stream: false });
      const { contents } = gemini.body;
      const other = await send(proxy, { ...gemini, path: "/v1beta/models/chat:countTokens", body: { contents } });
      const { totalTokens } = await other.json();
      assertEquals([counted.status, count > 300, other.status, totalTokens > 30], [200, true, 200, true]);
      assertEquals(upstream.calls, 0);
    }));

  it("the models, each agent in its own shape, with the aliases", () =>
    withVendor(vendors["gpt-4o of OpenAI"]!, () => ({}), async (proxy, upstream) => {
      const list = async (path: string, headers: Readonly<Record<string, string>>) =>
        await (await fetch(proxy.url + path, { headers })).json();
      const { headers } = claudeCode.request({ turn: 1, stream: true });
      const anthropic = await list("/v1/models?limit=1000", headers);
      const wanted = ["chat", "claude-haiku-4-5-20251001"];
      const has = (ids: readonly string[]) => wanted.every((id) => ids.includes(id));
      assertEquals([anthropic.has_more, has(anthropic.data.map(({ id }: Json) => id))], [false, true]);
      const { type, display_name: name, created_at: created } = anthropic.data[0];
      assertEquals([type, typeof name, isNaN(Date.parse(created))], ["model", "string", false]);
      const openAi = await list("/v1/models?client_version=0.171.0", codex.request({ turn: 1, stream: true }).headers);
      assertEquals([openAi.object, has(openAi.data.map(({ id }: Json) => id))], ["list", true]);
      const google = await list("/v1beta/models", geminiHelper.headers);
      assertEquals(has(google.models.map(({ name }: Json) => String(name).replace(/^models\//, ""))), true);
      assertEquals(upstream.calls, 0);
    }));
});
