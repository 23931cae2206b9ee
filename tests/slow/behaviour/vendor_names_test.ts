/** Each vendor gets names of tools and ids of calls that it accepts; clients get their own. */
import { assert, assertEquals, assertNotEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { agentBodies, type AgentRequest } from "../../support/_agent_turns.ts";
import { askForCalls, clientDialects, type DialectResponse } from "../../support/_dialect_calls.ts";
import type { Json } from "../../support/_dialects.ts";
import { startTestProxy } from "../../support/proxy.ts";
import {
  callingLast,
  catchRejection,
  createConfig,
  createReply,
  readSent,
  type SentCalls,
  serverVendors,
  type StrictVendor,
  strictVendors,
  vendorNamed,
} from "../../support/_strict_calls.ts";
import { json, startUpstream } from "../../support/upstream.ts";

/** What a vendor was sent for a request of a client, and what the client got. */
interface Exchanged {
  readonly sent: SentCalls;
  /** The body that the vendor was sent. */
  readonly body: Json;
  readonly answer: DialectResponse;
}

interface Asked {
  readonly dialect: string;
  readonly stream: boolean;
  readonly request: AgentRequest | { readonly body: Json };
  /** Settings of the model. */
  readonly settings?: Json;
}

async function exchange(vendor: StrictVendor, { dialect, stream, request, settings }: Asked): Promise<Exchanged> {
  await using upstream = await startUpstream(callingLast(vendor));
  await using proxy = await startTestProxy({ upstreams: {}, config: createConfig(vendor, upstream.url, settings) });
  const body = "body" in request ? request.body : agentBodies[dialect]!(request);
  const answer = await askForCalls(proxy.url, { dialect, stream, body });
  assertEquals([answer.status, upstream.calls], [200, 1], `${vendor.connector} ${dialect}: ${answer.body}`);
  const [first] = upstream.requests;
  return { sent: readSent(vendor, first!), body: first!.json(), answer };
}

const long = `mcp__${"a".repeat(130)}`;
const tools = ["fs_read", "fs.read", "fs/read", "läs", "1st", `${long}__one`, `${long}__two`];
const calls = [
  { id: "functions.fs.read:0", name: "fs.read" },
  { id: "functions_fs_read_0", name: "fs_read" },
  { id: "call_1|fc_2", name: `${long}__two` },
  { id: `call_${"x".repeat(70)}1`, name: "läs" },
  { id: `call_${"x".repeat(70)}2`, name: "fs/read" },
];

/** Every dialect of clients, non-streaming and streaming, except the vendor's own: that passes on as it came. */
const translatedFor = ({ native }: StrictVendor) =>
  Object.keys(clientDialects).filter((name) => name !== native)
    .flatMap((dialect) => [false, true].map((stream) => ({ dialect, stream })));

describe("Names of tools and ids of calls", () => {
  for (const vendor of [...strictVendors, ...serverVendors]) {
    it(`suit ${vendor.connector}, and clients see their own`, async () => {
      for (const asked of translatedFor(vendor)) {
        const request = { tools, calls };
        const { sent, answer } = await exchange(vendor, { ...asked, request });
        assertEquals(answer.calls.map(({ name, input }) => [name, input]), [[tools.at(-1), { path: "b" }]]);
        const sentNames = new Map(sent.tools.map((name, at) => [name, tools[at]]));
        assertEquals(sent.calls.map(({ name }) => sentNames.get(name)), calls.map(({ name }) => name));
        assertEquals(sent.results, sent.calls.map(({ id }) => id!));
        assertEquals(new Set(sent.results).size, calls.length);
      }
    });
  }

  it("of the tool that must be called are those of the tools", async () => {
    for (const vendor of strictVendors) {
      for (const asked of translatedFor(vendor)) {
        const { sent, answer } = await exchange(vendor, { ...asked, request: { tools, choice: "fs.read" } });
        const name = sent.tools[sent.tools.length === 1 ? 0 : 1]; // others of a restricted list are not declared
        assertEquals(sent.choice ?? name, name);
        assertEquals(answer.calls[0]!.name, sent.tools.length === 1 ? "fs.read" : tools.at(-1));
      }
    }
  });

  it("stay as they are where they are accepted", async () => {
    for (const vendor of strictVendors) {
      const accepted = { tools: ["read", "fs_read-2"], calls: [{ id: "abcDEF123", name: "fs_read-2" }] };
      for (const asked of translatedFor(vendor)) {
        const { sent } = await exchange(vendor, { ...asked, request: accepted });
        assertEquals(sent.tools, accepted.tools);
        assertEquals(sent.calls.map(({ id, name }) => ({ id, name })), accepted.calls);
      }
    }
  });

  it("are the same in every turn", async () => {
    const mistral = vendorNamed("mistral.api.v1");
    const turn = async (some: typeof calls) =>
      (await exchange(mistral, { dialect: "chat", stream: false, request: { tools, calls: some } })).sent;
    const [first, second] = [await turn(calls.slice(0, 2)), await turn(calls)];
    assertEquals(second.calls.slice(0, 2), first.calls);
    assertEquals(second.tools, first.tools);
  });

  it("are close to the client's own", async () => {
    const request = { tools: ["github.search", "läs"], calls: [{ id: "functions.x:0", name: "läs" }] };
    const { sent } = await exchange(vendorNamed("anthropic.claude.v1"), { dialect: "chat", stream: false, request });
    assertEquals([sent.tools, sent.calls[0]!.id], [["github_search", "l_s"], "functions_x_0"]);
  });

  it("of calls that repeat an id are distinct at Claude, each with its results", async () => {
    const repeated = ["read", "write", "read"].map((name) => ({ id: "functions.f:0", name }));
    for (const vendor of [vendorNamed("anthropic.claude.v1"), vendorNamed("openai.llm.v1")]) {
      const [first, second, third] = repeated.map(({ id, name }) => ({
        id,
        type: "function",
        function: { name, arguments: "{}" },
      }));
      const result = (content: string) => ({ role: "tool", tool_call_id: "functions.f:0", content });
      const messages = [
        { role: "user", content: "Hi" },
        { role: "assistant", content: null, tool_calls: [first, second] },
        ...[result("1"), result("2")],
        { role: "assistant", content: null, tool_calls: [third] },
        result("3"),
      ];
      const { sent, body } = await exchange(vendor, {
        dialect: "chat",
        stream: false,
        request: { body: { messages } },
      });
      const isClaude = vendor.dialect === "anthropic";
      assertEquals(new Set(sent.calls.map(({ id }) => id)).size, isClaude ? 3 : 1);
      assertEquals(sent.results, sent.calls.map(({ id }) => id!));
      if (isClaude) assertEquals(JSON.stringify(body.messages).match(/"text":"[123]"/g)?.length, 3);
    }
  });

  it("of calls in a native request suit the Responses API", async () => {
    const azure = vendorNamed("azure.openai.v1");
    const reply = { id: "resp_1", object: "response", status: "completed", model: "gpt-4o", output: [] };
    await using upstream = await startUpstream((request) => {
      const items = request.json().input as readonly { call_id?: string }[];
      return items.some(({ call_id: id = "" }) => id.length > 64)
        ? catchRejection(azure, "Invalid 'input[1].call_id': string too long. Expected a string with maximum length 64")
        : json(reply);
    });
    await using proxy = await startTestProxy({ upstreams: {}, config: createConfig(azure, upstream.url) });
    const body = agentBodies.responses!({ tools: ["read"], calls: calls.map(({ id }) => ({ id, name: "read" })) });
    const answer = await askForCalls(proxy.url, { dialect: "responses", stream: false, body });
    assertEquals(answer.status, 200, answer.body);
    const items = upstream.requests[0]!.json().input as readonly { type?: string; call_id: string }[];
    const idsOf = (type: string) => items.flatMap((item) => item.type === type ? [item.call_id] : []);
    assertEquals(idsOf("function_call"), idsOf("function_call_output"));
    assertEquals([new Set(idsOf("function_call")).size, idsOf("function_call")[0]], [calls.length, calls[0]!.id]);
  });

  it("of calls that the vendor has made come back unchanged", async () => {
    for (const asked of translatedFor(vendorNamed("mistral.api.v1"))) {
      const { answer } = await exchange(vendorNamed("mistral.api.v1"), { ...asked, request: { tools, calls } });
      assertEquals(answer.calls[0]!.id, "newcall12");
    }
  });

  it("suit Mistral's models on other servers", async () => {
    for (const connector of ["openrouter.gateway.v1", "ollama.local.v1", "openai.compatible.v1"]) {
      const vendor = { ...vendorNamed("mistral.api.v1"), connector, model: "mistralai/devstral-small-2512" };
      const request = { tools: ["read"], calls: calls.map(({ id }) => ({ id, name: "read" })), text: "And now b?" };
      const { sent } = await exchange(vendor, { dialect: "messages", stream: true, request });
      assertEquals(sent.roles.slice(-2), ["assistant", "user"], connector);
    }
  });

  it("suit a server as its model is configured", async () => {
    const compatible: StrictVendor = { ...vendorNamed("mistral.api.v1"), connector: "ollama.local.v1" };
    const parameters = {
      tool_call_ids: { characters: "alphanumeric", min_length: 9, max_length: 9 },
      tool_names: { characters: "word", max_length: 64 },
    };
    const asked = { dialect: "messages", stream: true, request: { tools, calls } };
    const { sent, answer } = await exchange(compatible, { ...asked, settings: { parameters } });
    assertEquals(answer.calls[0]!.name, tools.at(-1));
    assert(sent.calls.every(({ id }) => /^[a-zA-Z0-9]{9}$/.test(id!)));
  });

  it("are mapped back if a vendor repeats an id", async () => {
    const mistral = vendorNamed("mistral.api.v1");
    await using upstream = await startUpstream((request) => {
      const { id, name } = readSent(mistral, request).calls[0]!;
      return createReply(mistral, { calls: [{ id: id!, name, input: {} }] });
    });
    await using proxy = await startTestProxy({ upstreams: {}, config: createConfig(mistral, upstream.url) });
    for (const stream of [false, true]) {
      const body = agentBodies.chat!({ tools, calls: calls.slice(0, 1) });
      const answer = await askForCalls(proxy.url, { dialect: "chat", stream, body });
      assertEquals(answer.calls.map(({ id, name }) => ({ id, name })), calls.slice(0, 1));
    }
    assertNotEquals(readSent(mistral, upstream.requests[0]!).calls[0]!.id, calls[0]!.id);
  });
});
