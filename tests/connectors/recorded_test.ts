/** Vendors of OpenAI's dialect: what each one's responses become, by the shapes of its public reference. */
import { assert, assertEquals, assertNotMatch } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { servesOperation } from "../../src/capability/operations.ts";
import { UpstreamError } from "../../src/errors.ts";
import { readRateHeaders } from "../../src/util/rate_headers.ts";
import { speaking } from "../support/_dialects.ts";
import { loadedProviders } from "../support/connectors.ts";
import { completeResponse, emptyBody, html200, json, type Script, status } from "../support/upstream.ts";
import { gather } from "./_anthropic.ts";
import { type Call, catchFailure, connected, createScene } from "./_provider_calls.ts";
import { recorded } from "./_recorded.ts";
import { recordedMore } from "./_recorded_more.ts";
import { recordedOpenModels } from "./_recorded_open_models.ts";
import type { Recorded } from "./_recorded_parts.ts";

const now = 1_700_000_000_000;
const all: Readonly<Record<string, Recorded>> = { ...recorded, ...recordedMore, ...recordedOpenModels };
/** What speaks another dialect, and any server at all. */
const others = [
  "anthropic.claude.v1",
  "google.gemini.v1",
  "aws.bedrock.v1",
  "google.vertex.v1",
  "openai.compatible.v1",
];

function toStream(events: Recorded["events"]) {
  const lines = events.map((one) => typeof one === "string" ? `${one}\n\n` : `data: ${JSON.stringify(one)}\n\n`);
  return completeResponse(200, `${lines.join("")}data: [DONE]\n\n`, "text/event-stream");
}

/** A function called with arguments that are not JSON, as the model wrote them. */
const call = { id: "call_1", type: "function", function: { name: "weather", arguments: '{"city": "Zü' } };
const called = (message: object, finish: string | null) => ({
  id: "c1",
  created: 1,
  model: "one",
  choices: [{ index: 0, finish_reason: finish, logprobs: null, ...message }],
});

for (const [id, facts] of Object.entries(all)) {
  const over = <Result>(script: Script, use: (call: Call) => Promise<Result>) =>
    createScene({ ...speaking.openai, connector: id, unknownEvent: "" }).over(script, use);
  describe(`${id}, as recorded`, () => {
    for (const [code, body, kind] of facts.errors) {
      it(`${code} ${JSON.stringify(body).slice(0, 60)} is ${kind}`, async () => {
        const script = status(code, typeof body === "string" ? { text: body } : { json: body });
        await over(script, async ({ provider, complete, stream }) => {
          for (const ask of [() => complete(), () => Array.fromAsync(stream())]) {
            const error = await catchFailure(ask);
            assert(UpstreamError.isInstance(error));
            assertEquals([provider.classifyError(error), error.kind], [kind, kind]);
            assertNotMatch(error.fault?.error.message ?? "", /\[object|undefined|<html/);
          }
        });
      });
    }

    it("its stream is text, thoughts and usage; what else its events have does no harm", async () => {
      const chunks = await over(toStream(facts.events), ({ stream }) => Array.fromAsync(stream()));
      const { content, reasoning_content: thoughts } = gather(chunks);
      assertEquals([content, thoughts], ["Hello there", facts.thoughts]);
      const reasons = chunks.flatMap(({ choices }) => choices.flatMap(({ finish_reason }) => finish_reason ?? []));
      assertEquals(reasons, ["stop"]);
      const usage = chunks.flatMap((one) => one.usage ?? []).at(-1);
      const counted = usage === undefined ? null : [usage.prompt_tokens, usage.completion_tokens] as const;
      assertEquals(counted, facts.usage);
    });

    it("arguments of a function that are not JSON stay as they were written", async () => {
      const body = called({ message: { role: "assistant", content: null, tool_calls: [call] } }, "tool_calls");
      const answer = await over(json(body), ({ complete }) => complete());
      assertEquals(answer.body.choices[0]!.message.tool_calls, [call]);
      const events = [
        called({ delta: { role: "assistant", tool_calls: [{ index: 0, ...call }] } }, null),
        called({ delta: {} }, "tool_calls"),
      ];
      const chunks = await over(toStream(events), ({ stream }) => Array.fromAsync(stream()));
      assertEquals(gather(chunks).tool_calls, [call]);
    });

    if (facts.rates !== undefined) {
      const [headers, reading] = facts.rates;
      it("its headers say what is left", () => assertEquals(readRateHeaders(new Headers(headers), now), reading));
    }

    const { pages, ids } = facts.ownList ?? { pages: [["/v1/models", facts.models] as const], ids: ["one", "two"] };
    it("lists its models", async () => {
      await over(pages.map(([_, body]) => json(body)), async ({ upstream }) => {
        const { provider, options } = connected({ connector: id }, upstream);
        const listed = await provider.listModels(options);
        assertEquals(listed.map((model) => model.id), ids);
        assertEquals(
          upstream.requests.map(({ method, path }) => [method, path]),
          pages.map(([path]) => ["GET", path]),
        );
      });
    });

    it("fails to list them when it answers with a web page, nothing or an error", async () => {
      for (const script of [html200(), emptyBody(), status(401), status(404)]) {
        await over(script, async ({ upstream }) => {
          const { provider, options } = connected({ connector: id }, upstream);
          const error = await catchFailure(() => provider.listModels(options));
          assert(UpstreamError.isInstance(error), String(error));
        });
      }
    });
  });
}

Deno.test("every vendor that chats in OpenAI's dialect is recorded", () => {
  const chats = loadedProviders.filter(({ id, models }) =>
    !others.includes(id) &&
    (models.length === 0 ||
      models.some(({ capabilities = [] }) => capabilities.some((leaf) => servesOperation(leaf, "chat"))))
  );
  assertEquals(chats.map(({ id }) => id).sort(), Object.keys(all).sort());
});
