import { assertEquals, assertStrictEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import type { ChatCompletionRequest } from "../../src/contracts/openai.ts";
import type { Delivery, ModelFeatures, ModelInfo, OperationName } from "../../src/contracts/provider.ts";
import type { ModelView, SelectionContext, SelectionStrategy } from "../../src/contracts/rotation.ts";
import type { TraceEntry } from "../../src/contracts/events.ts";
import { servesOperation } from "../../src/capability/operations.ts";
import { UnsupportedRequestError } from "../../src/errors.ts";
import { Hub } from "../../src/observe/hub.ts";
import { applyStrategy } from "../../src/pipeline/apply_strategy.ts";
import { type DeliveryContext, filterByDelivery } from "../../src/pipeline/eligibility.ts";
import { chat } from "../../src/pipeline/operations/chat.ts";
import type { Pool } from "../../src/registry/registry.ts";
import { fakeClock } from "../../src/runtime/test.ts";
import { chatLeaf, createMember, createModel, createPool, filterChat, listNames } from "../support/_members.ts";

const messages = [{ role: "user" as const, content: "Hi" }];

function asked(pool: Pool, name: OperationName, delivery: Delivery): DeliveryContext {
  const serves = (leaf: string) => servesOperation(leaf, name);
  return { request: { operation: { ...chat, name, serves }, delivery }, pool, registry: { instances: [] } };
}

describe("filterByDelivery()", () => {
  const models = [
    createModel("chat"),
    createModel("whole", {}, { delivers: (delivery) => delivery === "sync" }),
    createModel("streamed", {}, { delivers: (delivery) => delivery === "stream" }),
    createModel("vectors", {}, { leaves: ["representation.embeddings.text-embeddings"] }),
    createModel("voice", {}, { leaves: ["generation.audio.text-to-speech"] }),
    createModel("search", {}, { leaves: ["retrieval.search.web-search"] }),
    createModel("both", {}, { leaves: ["understanding.audio.speech-to-text", chatLeaf] }),
  ];
  const cases: readonly (readonly [OperationName, Delivery, string[]])[] = [
    ["chat", "sync", ["chat", "whole", "both"]],
    ["chat", "stream", ["chat", "streamed", "both"]],
    ["embeddings", "sync", ["vectors"]],
    ["embeddings", "batch", ["vectors"]],
    ["speech", "stream", ["voice"]],
    ["transcription", "sync", ["both"]],
    ["search", "sync", ["search"]],
  ];
  for (const [operation, delivery, names] of cases) {
    it(`keeps for ${operation}, ${delivery}: ${names.join(", ")}`, () => {
      assertEquals(listNames(filterByDelivery(asked(createPool(models), operation, delivery))), names);
    });
  }

  it("does not widen what a capability can be delivered by", () => {
    for (
      const [operation, delivery] of [["embeddings", "stream"], ["transcription", "stream"], [
        "search",
        "batch",
      ]] as const
    ) {
      const error = assertThrows(
        () => filterByDelivery(asked(createPool(models), operation, delivery)),
        UnsupportedRequestError,
      );
      assertEquals([error.code, error.param], ["unsupported_by_pool", "model"]);
      for (const word of ["chat", operation, delivery]) assertStringIncludes(error.message, word);
    }
  });

  it("says so when a pool is empty, and works it out once for a pool that is not", () => {
    assertThrows(
      () => filterByDelivery(asked(createPool([]), "chat", "sync")),
      UnsupportedRequestError,
      "No model is in the pool",
    );
    const pool = createPool(models);
    assertStrictEquals(filterByDelivery(asked(pool, "chat", "sync")), filterByDelivery(asked(pool, "chat", "sync")));
  });
});

describe("filterByRequest()", () => {
  const image = { type: "image_url", image_url: { url: "data:image/png;base64,AA" } };
  const asking = (...content: { type: string }[]) => ({ messages: [{ role: "user" as const, content }] });
  const tool = { type: "function", function: { name: "f" } };
  const needs: readonly (readonly [feature: keyof ModelFeatures, body: Partial<ChatCompletionRequest>])[] = [
    ["tool_calling", { tools: [tool] }],
    ["tool_calling", { tools: [tool], tool_choice: "required" }],
    ["structured_output", { response_format: { type: "json_schema", json_schema: {} } }],
    ["json_mode", { response_format: { type: "json_object" } }],
    ["logprobs", { logprobs: true }],
    ["vision", asking({ type: "text" }, image)],
    ["audio_input", asking({ type: "input_audio" })],
    ["system_prompt", { messages: [{ role: "system", content: "Be brief" }, ...messages] }],
    ["system_prompt", { messages: [{ role: "developer", content: "Be brief" }, ...messages] }],
  ];
  const modelsBy = (info: (value: boolean | undefined) => Partial<ModelInfo>) =>
    [false, undefined, true].map((value) => createMember(createModel(`${value}`, info(value))));

  for (const [feature, body] of needs) {
    it(`leaves out for ${JSON.stringify(body).slice(0, 60)} what says it has no ${feature}`, () => {
      const members = modelsBy((value) => ({ features: value === undefined ? {} : { [feature]: value } }));
      assertEquals(listNames(filterChat(members, { messages, ...body })), ["undefined", "true"]);
      const error = assertThrows(() => filterChat([members[0]!], { messages, ...body }), UnsupportedRequestError);
      assertEquals(error.code, "unsupported_by_pool");
      assertStringIncludes(error.message, `"false" has no ${feature}`);
    });
  }

  const refusing = ["n", "logprobs", "top_logprobs", "response_format", "tools", "stop", "max_tokens"];
  const weighty: readonly Partial<ChatCompletionRequest>[] = [
    { n: 2 },
    { logprobs: true },
    { top_logprobs: 1 },
    { response_format: { type: "json_object" } },
    { tools: [tool] },
    { stop: "\n" },
    { stop: ["\n"] },
    { max_tokens: 5 },
  ];
  for (const body of weighty) {
    it(`leaves out for ${JSON.stringify(body)} a model that refuses it`, () => {
      const members = modelsBy((value) => value === false ? { parameters: { refuse: refusing } } : {});
      assertEquals(listNames(filterChat(members, { messages, ...body })), ["undefined", "true"]);
    });
  }

  it("excludes no model for neutral values", () => {
    const cannot = { tool_calling: false, structured_output: false, json_mode: false, logprobs: false, vision: false };
    const members = [
      createMember(createModel("m", { features: cannot, parameters: { refuse: [...refusing, "tool_choice"] } })),
    ];
    const neutral: readonly Partial<ChatCompletionRequest>[] = [
      {},
      { n: 1, tools: [], stop: [], logprobs: false, response_format: { type: "text" }, tool_choice: "auto" },
      { n: null, stop: null, logprobs: null, max_tokens: null, tool_choice: "none" },
      asking({ type: "text" }),
    ];
    for (const body of neutral) assertStrictEquals(filterChat(members, { messages, ...body }), members);
  });
});

describe("applyStrategy()", () => {
  const choose = (select: SelectionStrategy["select"]): SelectionStrategy => ({ select, score: () => 0 });
  const second = choose((candidates) => candidates[1]);
  const unknownCaller = choose(() => undefined);
  const broken = choose(() => {
    throw new Error("broken");
  });
  const unknown = choose((candidates) => ({ ...candidates[1]!, name: "unknown" } as ModelView));
  const cases:
    readonly (readonly [what: string, SelectionStrategy, SelectionStrategy | undefined, string, traces: number])[] = [
      ["its choice counts", second, unknownCaller, "b", 0],
      ["without a choice the fallback's does", unknownCaller, second, "b", 0],
      ["without any the first is taken", unknownCaller, unknownCaller, "a", 0],
      ["without a fallback, too", unknownCaller, undefined, "a", 0],
      ["a failure is told, and the fallback asked", broken, second, "b", 1],
      ["a failure of both is told, and the first taken", broken, broken, "a", 2],
      ["an unknown model is no choice", unknown, undefined, "a", 0],
    ];
  const contextOf = (modelPriority: string[], providerPriority: string[]) =>
    ({ modelPriority, providerPriority }) as unknown as SelectionContext;

  it("the fallback's counts once no model on the lists of priority is left", () => {
    const third = choose((candidates) => candidates[2]);
    const pool = createPool(["a", "b", "c"].map((name) => createModel(name)), { strategy: second });
    const chosenBy = (fallback: SelectionStrategy | undefined, ...lists: [models: string[], providers: string[]]) =>
      listNames([
        applyStrategy(
          pool.members,
          { ...pool, strategy: second, ...(fallback && { fallback }) },
          { context: contextOf(...lists), hub: new Hub(fakeClock()) },
        ),
      ])[0];
    assertEquals(chosenBy(third, ["gone"], []), "c");
    assertEquals(chosenBy(third, [], ["elsewhere"]), "c");
    assertEquals(chosenBy(third, ["gone", "c"], []), "c", "one of the models is there, and the only one to choose");
    assertEquals(chosenBy(third, ["gone", "c", "b"], []), "c", "the strategy chooses the second of those on the list");
    assertEquals(chosenBy(third, ["gone"], ["elsewhere", "acme"]), "b", "a model of one of the providers is");
    assertEquals(chosenBy(third, ["acme"], ["a"]), "c", "a model is no provider");
    assertEquals(chosenBy(unknownCaller, ["gone"], []), "b", "then the pool's own strategy is asked");
    assertEquals(chosenBy(undefined, ["gone"], []), "b", "without a fallback the strategy chooses among the others");
  });

  for (const [what, strategy, fallback, chosen, traces] of cases) {
    it(what, () => {
      const reported: TraceEntry[] = [];
      const hub = new Hub(fakeClock());
      hub.add({ emit: () => {}, trace: (entry) => reported.push(entry), flush: () => Promise.resolve() });
      const pool = createPool([createModel("a"), createModel("b")], {
        strategy,
        ...(fallback === undefined ? {} : { fallback }),
      });
      assertEquals(listNames([applyStrategy(pool.members, pool, { context: contextOf([], []), hub })]), [chosen]);
      assertEquals(
        reported.map(({ severity, component }) => [severity, component]),
        Array(traces).fill(["error", "pool"]),
      );
    });
  }
});
