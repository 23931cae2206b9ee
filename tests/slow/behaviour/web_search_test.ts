/**
 * Web search for every model: the search tools of three APIs, run by the search pool of the proxy, over models of three
 * vendors.
 */
import { assertEquals, assertMatch, assertStringIncludes, assertThrows } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { ConfigError, MeshConfig } from "../../../mod.ts";
import { dataIn, saidIn } from "../../support/_dialect_responses.ts";
import { type Dialect, dialects, type Json, type Reply, speaking } from "../../support/_dialects.ts";
import { playTools, readTurn, type Turn } from "../../support/_tool_loop.ts";
import { askSearching, cited, pages, searchClients, searchOnce, startSearchStage } from "../../support/_web_search.ts";
import { ok, type ReceivedRequest, startUpstream, status, type Upstream } from "../../support/upstream.ts";

type Name = keyof typeof searchClients;
const clients = Object.keys(searchClients) as Name[];
const answer = cited.join("");
const [page] = pages as [{ url: string; title: string }];
const link = "[Kumquats](https://fruit.example/kumquat)";

/** The response as a client gathers it. */
// deno-lint-ignore no-explicit-any
async function read(client: Name, stream: boolean, response: Response): Promise<any> {
  const text = await response.text();
  assertEquals(response.status, 200, text);
  return stream ? saidIn[client]!.gather(dataIn(text)) : JSON.parse(text);
}

/** What each client has of a search, of its citation, and of the text. */
const seen: Readonly<Record<Name, (answered: Json) => Json>> = {
  responses: ({ output }) => {
    const items = (output as Json[]).filter(({ type }) => type !== "reasoning");
    const [search, message] = items as [Json & { action: Json }, Json & { content: Json[] }];
    const [{ text, annotations }] = message.content as [{ text: string; annotations: Json[] }];
    const [{ type, url, title, start_index, end_index }] = annotations as [Json];
    return {
      search: [search.type, search.status, search.action.query],
      source: [type, url, title, text.slice(start_index as number, end_index as number)],
      text,
      count: items.length + annotations.length,
    };
  },
  messages: ({ content, usage }) => {
    const blocks = content as Json[];
    const [use, result, ...texts] = blocks as [Json, Json & { content: Json[] }, ...Json[]];
    const source = texts.flatMap(({ citations }) => citations as Json[] ?? [])[0] as Json;
    const found = result.content.map(({ type, url, title }) => [type, url, title]);
    assertEquals(found, pages.map(({ url, title }) => ["web_search_result", url, title]));
    assertEquals([result.type, result.tool_use_id], ["web_search_tool_result", use.id]);
    assertEquals((usage as Json).server_tool_use, { web_search_requests: 1, web_fetch_requests: 0 });
    return {
      search: [use.type, use.name, (use.input as Json).query],
      source: [source.type, source.url, source.title],
      text: texts.map(({ text }) => text).join(""),
    };
  },
  gemini: ({ candidates }) => {
    const [{ content, groundingMetadata: { webSearchQueries, groundingChunks, groundingSupports } }] =
      // deno-lint-ignore no-explicit-any
      candidates as any;
    const [{ segment: { startIndex, endIndex } }] = groundingSupports;
    const text = content.parts.map((part: Json) => part.text).join("");
    return {
      search: webSearchQueries,
      source: [groundingChunks[0].web.uri, groundingChunks[0].web.title, text.slice(startIndex, endIndex)],
      text,
    };
  },
};

const expected: Readonly<Record<Name, Json>> = {
  responses: {
    search: ["web_search_call", "completed", "kumquat"],
    source: ["url_citation", page.url, page.title, link],
    text: answer,
    count: 3,
  },
  messages: {
    search: ["server_tool_use", "web_search", "kumquat"],
    source: ["web_search_result_location", page.url, page.title],
    text: answer,
  },
  gemini: { search: ["kumquat"], source: [page.url, page.title, link], text: answer },
};

/** A turn of a model of the dialect, in the last request that it received. */
function lastTurn(dialect: Dialect, { requests }: Pick<Upstream, "requests">): Turn {
  return readTurn(dialect, requests.at(-1)!);
}

describe("a search tool, with proxy.tools.web_search", () => {
  for (const client of clients) {
    for (const dialect of dialects) {
      for (const stream of [false, true]) {
        it(`is run for the model and answered in the client's items: ${client}, ${dialect}, ${stream}`, async () => {
          await using stage = await startSearchStage({ dialect });
          const response = await askSearching(stage, client, { stream });
          assertEquals(seen[client](await read(client, stream, response)), expected[client]);
          const { engine, model } = stage;
          assertEquals([engine.calls, engine.requests[0]!.json().query, model.calls], [1, "kumquat", 2]);
          const { results } = lastTurn(dialect, model);
          for (const { title, url, snippet } of pages) {
            for (const words of [title, url, snippet]) assertStringIncludes(results[0]!, words as string);
          }
        });
      }
    }
  }

  it("is billed to the client: each call of the model, and each search", async () => {
    const tokens = [{ token: "token-of-alice-0123456789", name: "alice", pools: ["chat"] }];
    await using stage = await startSearchStage({
      proxySettings: { auth: { tokens }, tools: { web_search: { pool: "search" } } },
    });
    const headers = { authorization: `Bearer ${tokens[0]!.token}` };
    const response = await askSearching(stage, "responses", { stream: false, headers });
    const { usage } = await read("responses", false, response);
    const records = stage.proxy.records.filter(({ type }) => type === "routing") as unknown as Json[];
    assertEquals(records.map(({ operation, client, cost_usd }) => [operation, client, typeof cost_usd]), [
      ["chat", "alice", "number"],
      ["search", "alice", "number"],
      ["chat", "alice", "number"],
    ]);
    const sum = records.reduce((total, { cost_usd }) => total + Math.round(cost_usd as number * 1e9), 0);
    assertEquals(Math.round(Number(response.headers.get("x-mesh-cost-usd")) * 1e9), sum);
    const tokensIn = records.reduce(
      (total, { operation, tokens_in }) => total + (operation === "chat" ? tokens_in as number : 0),
      0,
    );
    assertEquals(usage.input_tokens, tokensIn);
  });

  it("ends where the client's budget is spent", async () => {
    const token = "token-of-alice-0123456789";
    const auth = { tokens: [{ token, name: "alice", budget: { daily_limit: 0.004 } }] };
    await using stage = await startSearchStage({ proxySettings: { auth, tools: { web_search: { pool: "search" } } } });
    const headers = { authorization: `Bearer ${token}` };
    const response = await askSearching(stage, "messages", { stream: false, headers });
    const { content } = await read("messages", false, response);
    assertEquals([stage.engine.calls, content[1].content], [0, {
      type: "web_search_tool_result_error",
      error_code: "unavailable",
    }]);
  });

  for (const stream of [false, true]) {
    it(`counts once against the rate of the client, ${stream ? "" : "non-"}streaming`, async () => {
      const token = "token-of-alice-0123456789";
      const auth = { tokens: [{ token, name: "alice", rpm: 1 }] };
      await using stage = await startSearchStage({
        proxySettings: { auth, tools: { web_search: { pool: "search" } } },
      });
      const headers = { authorization: `Bearer ${token}` };
      await read("responses", stream, await askSearching(stage, "responses", { stream, headers }));
      const second = await askSearching(stage, "responses", { stream, headers });
      assertEquals([second.status, stage.engine.calls], [429, 1]);
      await second.body?.cancel();
    });

    it(`is run up to max_uses, then the model has to answer, ${stream ? "" : "non-"}streaming`, async () => {
      const play = ({ tools, results }: Turn): Reply =>
        tools.includes("web_search")
          ? { calls: [{ id: `call_${results.length}`, name: "web_search", input: { query: `q${results.length}` } }] }
          : { pieces: ["Enough"] };
      await using stage = await startSearchStage({ play, settings: { pool: "search", max_uses: 3 } });
      const body = searchClients.responses.body({ tools: [searchClients.responses.other] });
      const { output } = await read("responses", stream, await askSearching(stage, "responses", { stream, body }));
      const searches = output.filter(({ type }: Json) => type === "web_search_call");
      assertEquals([searches.length, stage.engine.calls, stage.model.calls], [3, 3, 4]);
      assertEquals(output.at(-1).content[0].text, "Enough");
    });

    it(`may allow less itself, and a model that goes on gets no results, ${stream ? "" : "non-"}streaming`, async () => {
      const call = (id: string) => ({ id, name: "web_search", input: { query: id } });
      const play = ({ results }: Turn): Reply =>
        results.length === 0 ? { calls: [call("one"), call("two")] } : { pieces: ["Enough"] };
      await using stage = await startSearchStage({ play });
      const body = searchClients.messages.body({ tool: { max_uses: 1 } });
      const { content } = await read("messages", stream, await askSearching(stage, "messages", { stream, body }));
      assertEquals([stage.engine.calls, content[3].content.error_code], [1, "max_uses_exceeded"]);
      assertEquals(stage.model.requests[1]!.json().tool_choice, "none");
    });

    it(`ends with a model that calls again and again, ${stream ? "" : "non-"}streaming`, async () => {
      const call = { id: "call_s1", name: "web_search", input: { query: "kumquat" } };
      await using stage = await startSearchStage({
        play: () => ({ calls: [call] }),
        settings: { pool: "search", max_uses: 2 },
      });
      for (const client of ["messages", "responses"] as const) {
        const answered = await read(client, stream, await askSearching(stage, client, { stream }));
        if (client === "messages") assertEquals(answered.stop_reason, "end_turn");
        else assertEquals(answered.status, "completed");
      }
      assertEquals([stage.engine.calls, stage.model.calls], [4, 8]);
    });

    it(`asks again where the model wrote no query, and not for ever, ${stream ? "" : "non-"}streaming`, async () => {
      const play = ({ results }: Turn): Reply =>
        results.length > 0 ? { pieces: ["Enough"] } : { calls: [{ id: "call_s1", name: "web_search", input: {} }] };
      await using stage = await startSearchStage({ play });
      const { content } = await read("messages", stream, await askSearching(stage, "messages", { stream }));
      assertEquals([content[1].content.error_code, content[2].text], ["invalid_tool_input", "Enough"]);
      assertEquals(stage.engine.calls, 0);
    });

    it(`leaves calls of the client's tools to the client, with what was found, ${stream ? "" : "non-"}streaming`, async () => {
      const play = ({ results }: Turn): Reply =>
        results.length > 0 ? { pieces: ["Done"] } : {
          pieces: ["I look and search."],
          calls: [
            { id: "call_s1", name: "web_search", input: { query: "kumquat" } },
            { id: "call_l1", name: "look", input: {} },
          ],
        };
      await using stage = await startSearchStage({ play });
      const { body, other } = searchClients.responses;
      const asked = body({ tools: [other] });
      const { output } = await read(
        "responses",
        stream,
        await askSearching(stage, "responses", { stream, body: asked }),
      );
      assertEquals(
        output.map(({ type }: Json) => type).filter((type: string) => type !== "reasoning"),
        ["message", "web_search_call", "function_call"],
      );
      assertEquals([stage.model.calls, stage.engine.calls], [1, 1]);
      const input = [
        { role: "user", content: "What is a kumquat?" },
        ...output,
        { type: "function_call_output", call_id: output.at(-1).call_id, output: "seen" },
      ];
      await read("responses", stream, await askSearching(stage, "responses", { stream, body: { ...asked, input } }));
      const { body: sent } = stage.model.requests[1]!;
      for (const words of ["kumquat", "A small fruit.", page.url, "seen"]) assertStringIncludes(sent, words);
    });

    it(`is a failed search for the model when the search engine fails, ${stream ? "" : "non-"}streaming`, async () => {
      await using stage = await startSearchStage({ engine: status(503) });
      const { output } = await read("responses", stream, await askSearching(stage, "responses", { stream }));
      const search = output.find(({ type }: Json) => type === "web_search_call");
      assertEquals([search.status, output.at(-1).content[0].annotations], ["failed", []]);
      assertMatch(lastTurn("openai", stage.model).results[0]!, /failed/);
    });

    it(`names the pages without a place where the model cites none, ${stream ? "" : "non-"}streaming`, async () => {
      const play = (turn: Turn): Reply => turn.results.length === 0 ? searchOnce(turn) : { pieces: ["It is small."] };
      await using stage = await startSearchStage({ play });
      const { output } = await read("responses", stream, await askSearching(stage, "responses", { stream }));
      const { annotations } = output.at(-1).content[0];
      assertEquals(annotations.map(({ url }: Json) => url), pages.map(({ url }) => url));
    });

    it(`searches where it has to, and once only, ${stream ? "" : "non-"}streaming`, async () => {
      await using stage = await startSearchStage();
      const body = { ...searchClients.responses.body(), tool_choice: { type: "web_search" } };
      await read("responses", stream, await askSearching(stage, "responses", { stream, body }));
      const [first, second] = stage.model.requests.map((request) => request.json().tool_choice);
      assertEquals([first.function.name, second], ["web_search", "auto"]);
    });
  }

  it("names the addresses that it has found to a client that includes them", async () => {
    await using stage = await startSearchStage();
    const body = { ...searchClients.responses.body(), include: ["web_search_call.action.sources"] };
    for (const stream of [false, true]) {
      const { output } = await read("responses", stream, await askSearching(stage, "responses", { stream, body }));
      const { action } = output.find(({ type }: Json) => type === "web_search_call");
      assertEquals(action.sources, pages.map(({ url }) => ({ type: "url", url })));
    }
  });

  it("has its events in the order of the API", async () => {
    await using stage = await startSearchStage();
    const events = dataIn(await (await askSearching(stage, "responses", { stream: true })).text());
    const types = events.map(({ type }) => String(type)).filter((type) =>
      /web_search_call|created|completed/.test(type)
    );
    const stages = ["in_progress", "searching", "completed"].map((stage) => `response.web_search_call.${stage}`);
    assertEquals(types, ["response.created", ...stages, "response.completed"]);
    assertEquals(events.map(({ sequence_number }) => sequence_number), events.map((_, index) => index));
    const blocks = dataIn(await (await askSearching(stage, "messages", { stream: true })).text());
    const order = blocks.map(({ type }) => String(type)).filter((type) => type !== "ping").join(" ");
    assertMatch(
      order,
      /^message_start( content_block_start( content_block_delta)* content_block_stop)+ message_delta message_stop$/,
    );
    const starts = blocks.flatMap(({ index, type }) => type === "content_block_start" ? [index] : []);
    assertEquals(starts, starts.map((_, index) => index));
  });

  it("finds only pages of the domains that the tool allows", async () => {
    await using stage = await startSearchStage();
    const body = searchClients.messages.body({ tool: { allowed_domains: ["fruit.example"] } });
    const { content } = await read("messages", false, await askSearching(stage, "messages", { stream: false, body }));
    assertEquals(content[1].content.map(({ url }: Json) => url), [page.url]);
    const blocking = searchClients.gemini.body({ tool: { excludeDomains: ["fruit.example"] } });
    await read("gemini", false, await askSearching(stage, "gemini", { stream: false, body: blocking }));
    assertEquals(lastTurn("openai", stage.model).results[0]!.includes(page.url), false);
  });

  it("is aborted with the client", async () => {
    let leave = () => {};
    const isGone = new Promise<void>((resolve) => leave = resolve);
    let begin = () => {};
    const hasBegun = new Promise<void>((resolve) => begin = resolve);
    const engine = {
      play: async ({ closed }: { closed: Promise<unknown> }) => {
        begin();
        await closed;
        leave();
      },
    };
    await using stage = await startSearchStage({ engine: engine as never });
    const stopper = new AbortController();
    const response = await askSearching(stage, "responses", { stream: true, signal: stopper.signal });
    const reading = response.text().catch(() => "left");
    await hasBegun;
    stopper.abort();
    assertEquals(await reading, "left");
    await isGone;
    assertEquals(stage.model.calls, 1);
  });

  for (const stream of [false, true]) {
    it(`goes on over another vendor when one fails between two rounds, ${stream ? "" : "non-"}streaming`, async () => {
      await using other = await startUpstream(playTools("anthropic", searchOnce));
      const script = (request: ReceivedRequest) => {
        const turn = readTurn("openai", request);
        return turn.results.length > 0 ? status(503) : speaking.openai.respond(searchOnce(turn));
      };
      await using stage = await startSearchStage({
        script,
        others: { other: { connector: speaking.anthropic.connector, url: other.url, model: speaking.anthropic.model } },
      });
      const { output } = await read("responses", stream, await askSearching(stage, "responses", { stream }));
      assertEquals([output.at(-1).content[0].text, stage.engine.calls], [answer, 1]);
      assertEquals(lastTurn("anthropic", other).results.length, 1);
    });
  }

  it("is reported in the client's own words when no model is left between two rounds", async () => {
    const script = (request: ReceivedRequest) => {
      const turn = readTurn("openai", request);
      return turn.results.length > 0 ? status(503) : speaking.openai.respond(searchOnce(turn));
    };
    await using stage = await startSearchStage({ script });
    const whole = await askSearching(stage, "messages", { stream: false });
    assertEquals([whole.status, (await whole.json()).type], [529, "error"]);
    const response = await askSearching(stage, "responses", { stream: true });
    const events = dataIn(await response.text());
    assertEquals(events.at(-1)!.type, "response.failed");
  });

  it("is text for the models of the API itself, which do not know it", async () => {
    await using stage = await startSearchStage();
    const { body } = searchClients.messages;
    const { content } = await read("messages", false, await askSearching(stage, "messages", { stream: false }));
    await using claude = await startUpstream(speaking.anthropic.respond());
    await using native = await startSearchStage({
      settings: undefined,
      others: { claude: { connector: speaking.anthropic.connector, url: claude.url, model: speaking.anthropic.model } },
    });
    const messages = [...body().messages as Json[], { role: "assistant", content }, { role: "user", content: "And?" }];
    const asked = { ...body(), tools: [searchClients.messages.other], messages, model: "claude" };
    await read("messages", false, await askSearching(native, "messages", { stream: false, body: asked }));
    const { body: sent } = claude.requests[0]!;
    assertMatch(sent, /Searched the web for: kumquat/);
    for (const words of ["A small fruit.", page.url]) assertStringIncludes(sent, words);
    assertEquals(/server_tool_use|web_search_tool_result|mesh:/.test(sent), false);
  });

  it("is left to the provider that stores the conversation", async () => {
    await using stage = await startSearchStage({ script: ok() });
    const body = { ...searchClients.responses.body(), previous_response_id: "resp_1" };
    const response = await askSearching(stage, "responses", { stream: false, body });
    const { error } = await response.json();
    assertEquals([response.status, stage.model.calls, stage.engine.calls], [400, 0, 0], error.message);
  });

  it("needs a pool that exists", () => {
    const config = (pool: string) => ({
      pools: { search: { capability: "web-search" } },
      proxy: { tools: { web_search: { pool } } },
    });
    MeshConfig.parse(config("search"));
    assertThrows(() => MeshConfig.parse(config("serach")), ConfigError, "proxy.tools.web_search.pool");
  });
});

describe("a guard", () => {
  const guards = { personal: { connector: "mesh.guard.pii.v1", action: "restore" } };
  const mail = "ada@example.com";
  /** Searches for what it was asked. */
  const play = ({ tools, results, body }: Turn): Reply => {
    if (results.length > 0) return { pieces: ["I have read."] };
    const [query] = body.match(/Who has[^"]*/)!;
    return { calls: [{ id: "call_s1", name: tools.find((tool) => /search/.test(tool))!, input: { query } }] };
  };
  const ways: Readonly<Record<string, { readonly proxySettings: Json; readonly headers?: Record<string, string> }>> = {
    "the proxy": { proxySettings: { guards: ["personal"] } },
    "the client": {
      proxySettings: { auth: { tokens: [{ token: "t-app-0123456789abc", name: "app", guards: ["personal"] }] } },
      headers: { authorization: "Bearer t-app-0123456789abc" },
    },
  };
  for (const [owner, { proxySettings, headers = {} }] of Object.entries(ways)) {
    it(`of ${owner} sees the queries of searches`, async () => {
      await using stage = await startSearchStage({ guards, play, proxySettings });
      const body = { ...searchClients.responses.body(), input: `Who has the address ${mail}?` };
      const response = await askSearching(stage, "responses", { stream: false, body, headers });
      const text = await response.text();
      assertEquals(response.status, 200, text);
      assertEquals(stage.engine.calls, 1);
      for (const { requests } of [stage.model, stage.engine]) {
        assertEquals(JSON.stringify(requests.map((request) => request.json())).includes(mail), false);
      }
    });
  }
});
