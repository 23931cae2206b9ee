/** Instructions reach each server in roles and places that it accepts. */
import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import type { Json } from "../../support/_dialects.ts";
import { startTestProxy } from "../../support/proxy.ts";
import { openAiMembers, qwenTemplate, rejecting, type VendorBody } from "../../support/_strict_vendors.ts";
import { type Script, startUpstream } from "../../support/upstream.ts";

/** The messages that a vendor receives for a request. */
async function messagesAt(
  connector: string,
  script: Script,
  [path, body]: readonly [path: string, body: Json],
  parameters?: Json,
): Promise<VendorBody["messages"]> {
  await using upstream = await startUpstream(script);
  await using proxy = await startTestProxy({
    upstreams: {},
    config: {
      providers: { vendor: { connector, base_url: upstream.url, api_key: "key-of-the-vendor-0123456789" } },
      models: {
        one: {
          provider: "vendor",
          model: "m",
          capabilities: ["chat-completion"],
          ...(parameters === undefined ? {} : { parameters }),
        },
      },
      pools: { chat: { models: ["one"] } },
    },
  });
  const response = await fetch(`${proxy.url}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "chat", ...body }),
  });
  assertEquals([response.status, upstream.calls], [200, 1], await response.text());
  return (upstream.requests[0]!.json() as VendorBody).messages;
}

const user = { role: "user", content: "Hi" };
const chat = (messages: readonly Json[], stream = false) => ["/v1/chat/completions", { messages, stream }] as const;
const system = (content: unknown) => ({ role: "system", content });

const onlyFirst = ["openai.compatible.v1", "vllm.local.v1", "ollama.local.v1", "lmstudio.local.v1", "localai.local.v1"];

describe("Servers that apply chat templates get one instruction, at the start", () => {
  for (const connector of [...onlyFirst, "fireworks.api.v1"]) {
    it(`${connector}, non-streaming and streaming`, async () => {
      for (const stream of [false, true]) {
        // Codex: system, system; Claude Code: system, user, system
        for (const messages of [[system("A"), system("B"), user], [system("A"), user, system("B")]]) {
          const sent = await messagesAt(connector, rejecting(qwenTemplate), chat(messages, stream));
          assertEquals(sent, [{ role: "system", content: "A\n\nB" }, user]);
        }
      }
    });
  }

  it("whatever dialect the client speaks", async () => {
    const requests: readonly (readonly [path: string, body: Json])[] = [
      ["/v1/messages", { max_tokens: 9, system: "A", messages: [user, system("B")] }],
      ["/v1/messages", {
        max_tokens: 9,
        system: [{ type: "text", text: "A" }, { type: "text", text: "B" }],
        messages: [user],
      }],
      ["/v1/responses", { instructions: "A", input: [user, { role: "developer", content: "B" }] }],
    ];
    for (const request of requests) {
      const [first, ...others] = await messagesAt("vllm.local.v1", rejecting(qwenTemplate), request);
      assertEquals([first!.role, JSON.stringify(first!.content).replace(/[^AB]/g, "")], ["system", "AB"]);
      assertEquals(others.map(({ role }) => role), ["user"]);
    }
  });

  it("parts stay parts, in order, and blank instructions add nothing", async () => {
    const text = (value: string) => ({ type: "text", text: value });
    const messages = [system([text("A"), text("B")]), user, { role: "developer", content: "C" }, system("")];
    assertEquals(await messagesAt("vllm.local.v1", rejecting(qwenTemplate), chat(messages)), [
      { role: "system", content: [text("A"), text("B"), text("C")] },
      user,
    ]);
  });

  it("an instruction that comes late alone goes to the start", async () => {
    const messages = [user, system("A")];
    const sent = await messagesAt("vllm.local.v1", rejecting(qwenTemplate), chat(messages));
    assertEquals(sent, [system("A"), user]);
  });

  it("unless the model is configured otherwise", async () => {
    const messages = [system("A"), user, system("B")];
    const sent = await messagesAt("vllm.local.v1", rejecting(), chat(messages), { system: "anywhere" });
    assertEquals(sent, messages);
  });

  it("any other model, if it is configured so", async () => {
    const messages = [system("A"), user, { role: "developer", content: "B" }];
    const sent = await messagesAt("openai.llm.v1", rejecting(qwenTemplate), chat(messages), { system: "first" });
    assertEquals(sent, [system("A\n\nB"), user]);
    assertEquals(await messagesAt("openai.llm.v1", rejecting(openAiMembers), chat(messages)), messages);
  });
});

describe("The role developer", () => {
  const messages = [{ role: "developer", content: "A" }, user];
  for (const connector of [...onlyFirst, "groq.api.v1", "mistral.api.v1", "deepseek.api.v1", "cohere.nlp.v1"]) {
    it(`is system at ${connector}`, async () => {
      assertEquals(await messagesAt(connector, rejecting(qwenTemplate), chat(messages)), [system("A"), user]);
    });
  }

  for (const connector of ["openai.llm.v1", "azure.openai.v1", "openrouter.gateway.v1"]) {
    it(`stays at ${connector}`, async () => {
      assertEquals(await messagesAt(connector, rejecting(openAiMembers), chat(messages)), messages);
    });
  }

  it("stays, or is system, as the model is configured", async () => {
    const parameters = { developer_role: true, system: "anywhere" };
    assertEquals(await messagesAt("openai.compatible.v1", rejecting(), chat(messages), parameters), messages);
    const other = { developer_role: false };
    assertEquals(await messagesAt("openai.llm.v1", rejecting(qwenTemplate), chat(messages), other), [
      system("A"),
      user,
    ]);
  });
});
