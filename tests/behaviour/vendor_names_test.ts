/** Each vendor gets names of tools and ids of calls that it accepts; clients get their own. */
import { assert, assertEquals, assertNotEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { agentBodies, type AgentRequest } from "../support/_agent_turns.ts";
import { askForCalls, clientDialects, type ReadAnswer } from "../support/_dialect_calls.ts";
import type { Json } from "../support/_dialects.ts";
import { startTestProxy } from "../support/proxy.ts";
import {
  callingLast,
  configOf,
  readSent,
  replyOf,
  type SentCalls,
  strictBedrock,
  type StrictVendor,
  strictVendors,
  vendorNamed,
} from "../support/_strict_calls.ts";
import { startUpstream } from "../support/upstream.ts";

/** What a vendor was sent for a request of a client, and what the client got. */
interface Exchanged {
  readonly sent: SentCalls;
  readonly answer: ReadAnswer;
}

interface Asked {
  readonly dialect: string;
  readonly stream: boolean;
  readonly request: AgentRequest;
  /** Settings of the model. */
  readonly settings?: Json;
}

async function exchange(vendor: StrictVendor, { dialect, stream, request, settings }: Asked): Promise<Exchanged> {
  await using upstream = await startUpstream(callingLast(vendor));
  await using proxy = await startTestProxy({ upstreams: {}, config: configOf(vendor, upstream.url, settings) });
  const answer = await askForCalls(proxy.url, { dialect, stream, body: agentBodies[dialect]!(request) });
  assertEquals([answer.status, upstream.calls], [200, 1], `${vendor.connector} ${dialect}: ${answer.body}`);
  return { sent: readSent(vendor, upstream.requests[0]!), answer };
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

/** Every dialect of clients, whole and streamed, except the vendor's own: that passes on as it came. */
const translatedFor = ({ native }: StrictVendor) =>
  Object.keys(clientDialects).filter((name) => name !== native)
    .flatMap((dialect) => [false, true].map((stream) => ({ dialect, stream })));

describe("Names of tools and ids of calls", () => {
  for (const vendor of [...strictVendors, strictBedrock]) {
    it(`suit ${vendor.connector}, and clients see their own`, async () => {
      for (const asked of translatedFor(vendor)) {
        const request = { tools, calls };
        const { sent, answer } = await exchange(vendor, { ...asked, request });
        assertEquals(answer.calls.map(({ name, input }) => [name, input]), [[tools.at(-1), { path: "b" }]]);
        const sentNames = new Map(sent.tools.map((name, at) => [name, tools[at]]));
        assertEquals(sent.calls.map(({ name }) => sentNames.get(name)), calls.map(({ name }) => name));
        assertEquals(sent.results, sent.calls.map(({ id }) => id!));
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

  it("of calls that the vendor has made come back unchanged", async () => {
    for (const asked of translatedFor(vendorNamed("mistral.api.v1"))) {
      const { answer } = await exchange(vendorNamed("mistral.api.v1"), { ...asked, request: { tools, calls } });
      assertEquals(answer.calls[0]!.id, "newcall12");
    }
  });

  it("suit a server as its model is configured", async () => {
    const compatible: StrictVendor = { ...vendorNamed("mistral.api.v1"), connector: "vllm.local.v1" };
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
      return replyOf(mistral, { calls: [{ id: id!, name, input: {} }] });
    });
    await using proxy = await startTestProxy({ upstreams: {}, config: configOf(mistral, upstream.url) });
    for (const stream of [false, true]) {
      const body = agentBodies.chat!({ tools, calls: calls.slice(0, 1) });
      const answer = await askForCalls(proxy.url, { dialect: "chat", stream, body });
      assertEquals(answer.calls.map(({ id, name }) => ({ id, name })), calls.slice(0, 1));
    }
    assertNotEquals(readSent(mistral, upstream.requests[0]!).calls[0]!.id, calls[0]!.id);
  });
});
