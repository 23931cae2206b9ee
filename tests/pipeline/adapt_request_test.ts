import { assertEquals, assertStrictEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import type { ChatCompletionRequest, JsonObject } from "../../src/contracts/openai.ts";
import type { ParameterRules } from "../../src/contracts/provider.ts";
import { type AdaptedRequest, adaptRequest } from "../../src/pipeline/adapt_request.ts";
import type { Operation } from "../../src/pipeline/operation.ts";
import { chat } from "../../src/pipeline/operations/chat.ts";
import type { ProviderInstance } from "../../src/registry/registry.ts";
import { editMembers } from "../../src/util/json_members.ts";
import { createModel } from "../support/_members.ts";

const messages = [{ role: "user" as const, content: "Hi" }];

interface Asked {
  readonly rules?: ParameterRules;
  readonly vendor?: string;
  readonly ownState?: readonly string[];
  readonly stream?: boolean;
}

/** What a model is asked for a body; the body's text is there as when it came over HTTP. */
function adapt(
  body: ChatCompletionRequest,
  { rules, vendor = "acme", ownState, stream = false }: Asked = {},
): AdaptedRequest {
  const instance = { vendor, connector: { ownState }, entry: { id: vendor } } as ProviderInstance;
  const model = createModel("m", rules === undefined ? {} : { parameters: rules }, { instance });
  return adaptRequest({
    id: "r",
    operation: chat as unknown as Operation,
    delivery: stream ? "stream" : "sync",
    model: "chat",
    body,
    text: JSON.stringify(body),
    timeoutMs: 1000,
  }, model);
}

/** The members of the adapted body beside the messages. */
function pickParameters(adapted: AdaptedRequest): JsonObject {
  const { messages: _, ...parameters } = adapted.completion.body;
  return parameters;
}

const toNew: ParameterRules = { rename: { max_tokens: "max_completion_tokens" } };
const toOld: ParameterRules = { rename: { max_completion_tokens: "max_tokens" } };
const sampling: ParameterRules = { drop: ["temperature", "top_p"] };
const needsLimit: ParameterRules = { ...toOld, fill: { max_tokens: 4096 } };

type Row = readonly [what: string, ParameterRules | undefined, JsonObject, expected: JsonObject, dropped?: string[]];

const rows: readonly Row[] = [
  ["no rules change nothing", undefined, { temperature: 1, seed: 7 }, { temperature: 1, seed: 7 }],
  ["rules that do not apply change nothing", { ...toNew, ...sampling }, { seed: 7 }, { seed: 7 }],
  ["an old name becomes the new one", toNew, { max_tokens: 5 }, { max_completion_tokens: 5 }],
  ["a new name becomes the old one", toOld, { max_completion_tokens: 5 }, { max_tokens: 5 }],
  ["a name that fits stays", toNew, { max_completion_tokens: 5 }, { max_completion_tokens: 5 }],
  ["of both names the model's own wins", toNew, { max_tokens: 5, max_completion_tokens: 7 }, {
    max_completion_tokens: 7,
  }],
  ["a null under the model's own name gives way", toNew, { max_tokens: 5, max_completion_tokens: null }, {
    max_completion_tokens: 5,
  }],
  ["a null goes on under the model's name, as it came", toNew, { max_tokens: null }, { max_completion_tokens: null }],
  ["a negative limit goes on as it came", undefined, { max_tokens: -1 }, { max_tokens: -1 }],
  ["a negative limit goes on under the model's name", toOld, { max_completion_tokens: -1 }, { max_tokens: -1 }],
  ["a negative limit gives way to one", toNew, { max_tokens: 5, max_completion_tokens: -1 }, {
    max_completion_tokens: 5,
  }],
  ["a negative limit replaces none", toNew, { max_tokens: -1, max_completion_tokens: 7 }, { max_completion_tokens: 7 }],
  ["of two that are none the model's own goes on", toNew, { max_tokens: -1, max_completion_tokens: null }, {
    max_completion_tokens: null,
  }],
  ["what is negative is filled in", needsLimit, { max_tokens: -1 }, { max_tokens: 4096 }],
  ["what is negative under another name is filled in", needsLimit, { max_completion_tokens: -1 }, { max_tokens: 4096 }],
  ["anything else may be negative", { rename: { a: "b" }, fill: { b: 3 } }, { a: -1 }, { b: -1 }],
  ["a zero is a value", { rename: { a: "b" } }, { a: 0 }, { b: 0 }],
  ["what is missing is filled in", needsLimit, {}, { max_tokens: 4096 }],
  ["what is null is filled in", needsLimit, { max_tokens: null }, { max_tokens: 4096 }],
  ["what is given is not filled in", needsLimit, { max_tokens: 5 }, { max_tokens: 5 }],
  ["what is given under another name is not filled in", needsLimit, { max_completion_tokens: 5 }, { max_tokens: 5 }],
  ["a null under another name is filled in", needsLimit, { max_completion_tokens: null }, { max_tokens: 4096 }],
  ["what is refused is dropped and named", sampling, { temperature: 0, top_p: 0.5, seed: 7 }, { seed: 7 }, [
    "temperature",
    "top_p",
  ]],
  ["a null that is refused is dropped and not worth a name", sampling, { temperature: null, seed: 7 }, { seed: 7 }],
  ["a neutral value that is refused is dropped and not worth a name", { refuse: ["n", "logprobs", "stop"] }, {
    n: 1,
    logprobs: false,
    stop: [],
    seed: 7,
  }, { seed: 7 }],
  [
    "what is dropped is not sent under another name",
    { rename: { seed: "random_seed" }, drop: ["seed"] },
    { seed: 7 },
    {},
    ["seed"],
  ],
  [
    "what becomes a dropped one is dropped",
    { rename: { seed: "random_seed" }, drop: ["random_seed"] },
    { seed: 7 },
    {},
    ["seed"],
  ],
];

describe("adaptRequest()", () => {
  for (const [what, rules, parameters, expected, dropped = []] of rows) {
    it(what, () => {
      const body = Object.freeze({ ...parameters, messages });
      const adapted = adapt(body, rules === undefined ? {} : { rules });
      assertEquals(pickParameters(adapted), expected);
      assertEquals(adapted.dropped, dropped);
    });
  }

  it("takes out what steers us or would choose target and key, and nothing else", () => {
    const own = { mesh: {}, models: ["a"], api_key: "k", api_base: "b", base_url: "c", extra_headers: {} };
    const adapted = adapt({ ...own, messages, metadata: own, user: "u" });
    assertEquals(pickParameters(adapted), { metadata: own, user: "u" });
    assertEquals(adapted.dropped, []);
  });

  it("keeps members with names of the language's own", () => {
    const body = JSON.parse('{"constructor": 1, "__proto__": {"seed": 3}, "temperature": 1}');
    const adapted = pickParameters(adapt({ ...body, messages }, { rules: sampling }));
    assertEquals(JSON.stringify(adapted), '{"constructor":1,"__proto__":{"seed":3}}');
    assertEquals(adapted.seed, undefined);
  });

  it("hands a body on as it is when nothing has to change", () => {
    const body = { messages, seed: 7 };
    const { completion } = adapt(body, { rules: { ...toNew, ...sampling }, stream: true });
    assertStrictEquals(completion.body, body);
    assertEquals([completion.stream, completion.wire?.edits], [true, {}]);
  });

  it("has no wire view without the body's own text", () => {
    const body = { messages, seed: 7 };
    const request = {
      id: "r",
      operation: chat as unknown as Operation,
      delivery: "sync",
      model: "chat",
      body,
      timeoutMs: 1,
    } as const;
    assertEquals("wire" in adaptRequest(request, createModel("m")).completion, false);
  });
});

describe("adaptRequest() and what another vendor minted", () => {
  const call = (extra_content?: JsonObject) => ({
    id: "call_1",
    type: "function" as const,
    function: { name: "f", arguments: "{}" },
    ...(extra_content === undefined ? {} : { extra_content }),
  });
  const said = (...extras: (JsonObject | undefined)[]) => ({
    role: "assistant" as const,
    content: null,
    tool_calls: extras.map(call),
  });
  const cases: readonly (readonly [
    what: string,
    vendor: string,
    before: (JsonObject | undefined)[],
    after: (JsonObject | undefined)[],
  ])[] = [
    ["its own is kept", "google", [{ google: { thought_signature: "g" } }], [{ google: { thought_signature: "g" } }]],
    ["another's is taken out", "openai", [{ google: { thought_signature: "g" } }], [undefined]],
    ["of both its own is kept", "google", [{ google: 1, anthropic: 2 }], [{ google: 1 }]],
    ["calls without any stay", "openai", [undefined, { google: 1 }, undefined], [undefined, undefined, undefined]],
    ["calls of a conversation over several vendors", "anthropic", [{ google: 1 }, { anthropic: 2 }], [undefined, {
      anthropic: 2,
    }]],
    ["nothing minted is nothing to take out", "openai", [undefined], [undefined]],
  ];
  for (const [what, vendor, before, after] of cases) {
    it(what, () => {
      const conversation = [messages[0]!, said(...before), {
        role: "tool" as const,
        tool_call_id: "call_1",
        content: "x",
      }];
      const body = { messages: conversation };
      const adapted = adapt(body, { vendor });
      assertEquals(adapted.completion.body.messages, [messages[0]!, said(...after), conversation[2]!]);
      assertEquals(body.messages, [messages[0]!, said(...before), conversation[2]!]);
      assertEquals(adapted.completion.body === body, JSON.stringify(before) === JSON.stringify(after));
    });
  }

  it("does not stumble over calls that are none", () => {
    const tool_calls = [null, 1, { extra_content: null }, { extra_content: { google: 1 } }] as never;
    const { body } = adapt({ messages: [{ role: "assistant", tool_calls }] }, { vendor: "openai" }).completion;
    const [message] = (body as ChatCompletionRequest).messages;
    assertEquals(JSON.stringify(message?.tool_calls).includes("google"), false);
  });

  it("keeps the state that its connector says its models accept, whichever provider serves them", () => {
    const extra_content = { anthropic: { a: 1 }, google: { g: 1 }, acme: { x: 1 } };
    const conversation = [{ role: "assistant" as const, content: null, tool_calls: [call(extra_content)] }];
    const { body } = adapt({ messages: conversation }, { ownState: ["google", "anthropic"] }).completion;
    const [message] = (body as ChatCompletionRequest).messages;
    assertEquals(message!.tool_calls![0]!.extra_content, { anthropic: { a: 1 }, google: { g: 1 } });
  });
});

describe("adaptRequest() and thoughts of earlier responses", () => {
  const thought = { role: "assistant", content: "Yes", reasoning_content: "Hm", reasoning_details: [{}] };
  const rows: readonly (readonly [what: string, ParameterRules, before: JsonObject, after: JsonObject])[] = [
    ["as they came, without a rule", {}, thought, thought],
    ["not at all", { thoughts: "none" }, thought, { role: "assistant", content: "Yes" }],
    ["by the vendor's name", { thoughts: "reasoning" }, thought, {
      role: "assistant",
      content: "Yes",
      reasoning: "Hm",
    }],
    ["under that name, as they are", { thoughts: "reasoning" }, { role: "assistant", reasoning: "Hm" }, {
      role: "assistant",
      reasoning: "Hm",
    }],
    ["and none where there are none", { thoughts: "reasoning" }, { role: "assistant", reasoning_content: null }, {
      role: "assistant",
    }],
    ["those of a user are nobody's", { thoughts: "none" }, { role: "user", reasoning: "x" }, {
      role: "user",
      reasoning: "x",
    }],
  ];
  for (const [what, rules, before, after] of rows) {
    it(`sends them back ${what}`, () => {
      const conversation = [...messages, before as never];
      const { completion } = adapt({ messages: conversation }, { rules });
      assertEquals(completion.body.messages as unknown[], [...messages, after]);
      assertEquals(JSON.parse(editMembers(completion.wire!.text, completion.wire!.edits)).messages, [
        ...messages,
        after,
      ]);
    });
  }
});

describe("The wire view of an adapted request", () => {
  const rules: ParameterRules = {
    rename: { max_tokens: "max_completion_tokens", seed: "random_seed" },
    drop: ["temperature"],
    fill: { top_k: 40, 'odd"name': [1] },
  };
  const values: readonly unknown[] = [undefined, null, 0, 7, "", 'q"\\\n', false, [], {}, [{ a: "]}" }], { mesh: 1 }];
  const names = [
    "max_tokens",
    "max_completion_tokens",
    "temperature",
    "seed",
    "mesh",
    "models",
    "top_k",
    "tools",
    "other",
  ];

  it("says the same as the adapted body, for any body and however it is written", () => {
    const extra = { google: { thought_signature: "g" } };
    const conversations = [messages, [{ role: "assistant", tool_calls: [{ id: "1", extra_content: extra } as never] }]];
    let count = 0;
    for (const [place, first] of values.entries()) {
      for (const [shift, second] of values.entries()) {
        const given = names.map((name, at) => [name, [first, second][(at + place + shift) % 2]]);
        const body = { messages: conversations[count++ % 2]!, ...Object.fromEntries(given) };
        const { completion } = adapt(JSON.parse(JSON.stringify(body)), { rules });
        for (const indent of [0, 1, "\t"]) {
          const text = editMembers(JSON.stringify(body, null, indent), completion.wire!.edits);
          assertEquals(JSON.parse(text), JSON.parse(JSON.stringify(completion.body)), text);
        }
      }
    }
    assertEquals(count, values.length ** 2);
  });

  it("keeps every byte that it does not change", () => {
    const text = '{ "messages" : [{"role":"user","content":"\\u00e9"}], "seed":12345678901234567890, "mesh":{} }';
    const { completion } = adaptRequest({
      id: "r",
      operation: chat as unknown as Operation,
      delivery: "sync",
      model: "chat",
      body: JSON.parse(text),
      text,
      timeoutMs: 1,
    }, createModel("m"));
    const edited = editMembers(completion.wire!.text, completion.wire!.edits);
    assertEquals(edited, '{"messages" : [{"role":"user","content":"\\u00e9"}],"seed":12345678901234567890}');
  });
});
