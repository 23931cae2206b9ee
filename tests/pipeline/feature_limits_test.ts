import { assert, assertEquals, assertStrictEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import type { ChatCompletionRequest } from "../../src/contracts/openai.ts";
import type { ModelConstraints } from "../../src/contracts/provider.ts";
import { UnsupportedRequestError } from "../../src/errors.ts";
import { measureRequest } from "../../src/pipeline/request_size.ts";
import { seededRandom } from "../../src/runtime/test.ts";
import { junk } from "../support/_junk.ts";
import { createMember, createModel, filterChat, listNames } from "../support/_members.ts";

const messages = [{ role: "user" as const, content: "Hi" }];
const tool = { type: "function", function: { name: "f" } };
const fileOf = (bytes: number) => `data:application/pdf;base64,${btoa("x".repeat(bytes))}`;
const saying = (...content: object[]) => ({ messages: [{ role: "user", content }] }) as ChatCompletionRequest;

describe("filterByRequest(): grounding", () => {
  const searching: readonly Partial<ChatCompletionRequest>[] = [
    { web_search_options: {} },
    { tools: [{ type: "web_search" }] },
    { tools: [{ type: "web_search_20250305", name: "web_search" }] },
    { tools: [tool, { type: "google_search" }] },
    { tools: [{ type: "browser_search" }] },
  ];
  for (const body of searching) {
    it(`is needed by ${JSON.stringify(body)}`, () => {
      const members = [false, undefined, true].map((grounding) =>
        createMember(createModel(`${grounding}`, { features: grounding === undefined ? {} : { grounding } }))
      );
      assertEquals(listNames(filterChat(members, { messages, ...body })), ["undefined", "true"]);
      const error = assertThrows(() => filterChat([members[0]!], { messages, ...body }), UnsupportedRequestError);
      assertStringIncludes(error.message, '"false" has no grounding');
    });
  }

  it("is not needed by functions, whatever they are called, nor by an option that is off", () => {
    const members = [createMember(createModel("m", { features: { grounding: false } }))];
    const searcher = { type: "function", function: { name: "web_search" } };
    for (const body of [{ tools: [searcher] }, { web_search_options: null }, { tools: [{ type: "research" }] }]) {
      assertStrictEquals(filterChat(members, { messages, ...body }), members);
    }
  });

  it("asks for tool calling only where there is more to call than a search", () => {
    const members = [createMember(createModel("m", { features: { tool_calling: false } }))];
    assertStrictEquals(filterChat(members, { messages, tools: [{ type: "web_search" }] }), members);
    for (const body of [{ tools: [tool, { type: "web_search" }] }, { functions: [{ name: "f" }] }]) {
      assertThrows(() => filterChat(members, { messages, ...body }), UnsupportedRequestError, "tool_calling");
    }
  });
});

describe("filterByRequest(): constraints", () => {
  type Case = readonly [what: string, ModelConstraints, fits: ChatCompletionRequest, tooMuch: ChatCompletionRequest];
  const word = (count: number) => ({ messages: [{ role: "user" as const, content: "Wörter".repeat(count) }] });
  const image = (bytes: number) => saying({ type: "image_url", image_url: { url: fileOf(bytes) } });
  const cases: readonly Case[] = [
    ["room for about 101 tokens", { context_window: 100 }, word(100), word(101)],
    ["room for about 101 tokens", { context_window: 100 }, { ...word(60), max_tokens: 40 }, {
      ...word(60),
      max_tokens: 41,
    }],
    ["room for 1 images", { max_images: 0 }, { messages }, image(1)],
    ["room for a file of 51 bytes", { max_file_size: 50 }, image(50), image(51)],
    [
      "room for a file of 51 bytes",
      { max_file_size: 50 },
      saying({ type: "file", file: { file_data: fileOf(50) } }, { type: "file", file: { file_data: fileOf(50) } }),
      saying({ type: "file", file: { file_data: fileOf(51) } }),
    ],
    [
      "room for a file of 51 bytes",
      { max_file_size: 50 },
      saying({ type: "input_audio", input_audio: { format: "mp3", data: btoa("x".repeat(50)) } }),
      saying({ type: "input_audio", input_audio: { format: "mp3", data: btoa("x".repeat(51)) } }),
    ],
    ['support for the language "sw"', { supported_languages: ["en", "de"] }, { messages, language: "de" }, {
      messages,
      language: "sw",
    }],
  ];
  for (const [what, constraints, fits, tooMuch] of cases) {
    it(`leaves out what has no ${what}, given ${JSON.stringify(constraints)}`, () => {
      const members = [createMember(createModel("small", { constraints })), createMember(createModel("unknown"))];
      assertStrictEquals(filterChat(members, fits), members);
      assertEquals(listNames(filterChat(members, tooMuch)), ["unknown"]);
      const error = assertThrows(() => filterChat([members[0]!], tooMuch), UnsupportedRequestError);
      assertEquals([error.code, error.message.split(": ")[1]], [
        /^room for .*tokens$/.test(what) ? "context_length_exceeded" : "unsupported_by_pool",
        `"small" has no ${what}`,
      ]);
    });
  }

  it("takes a language with its region, in either spelling", () => {
    const pairs: readonly (readonly [known: string, asked: unknown, fits: boolean])[] = [
      ["pt", "pt-BR", true],
      ["pt-BR", "pt", true],
      ["pt-BR", "PT_br", true],
      ["pt-PT", "pt-BR", false],
      ["fil", "fi", false],
      ["fi", "fil", false],
      ["en", "sw", false],
      ["en", "auto", true],
      ["en", "und", true],
      ["en", "Swahili", true],
      ["en", "", true],
      ["en", 7, true],
      ["en", `sw-${"a".repeat(99)}`, true],
    ];
    for (const [known, language, fits] of pairs) {
      const members = [
        createMember(createModel("m", { constraints: { supported_languages: [known] } })),
        createMember(createModel("n")),
      ];
      assertEquals(filterChat(members, { messages, language }).length, fits ? 2 : 1, `${known} ${language}`);
    }
    const members = [createMember(createModel("m", { constraints: { supported_languages: [] } }))];
    assertStrictEquals(filterChat(members, { messages, language: "sw" }), members);
  });

  it("believes a measurement that is there already", () => {
    const members = [
      createMember(createModel("m", { constraints: { max_images: 1 } })),
      createMember(createModel("n")),
    ];
    const size = { ...measureRequest({ messages }), images: 2 };
    assertEquals(listNames(filterChat(members, { messages }, size)), ["n"]);
  });

  it("names a few of many models that cannot", () => {
    const features = { vision: false };
    const members = Array.from({ length: 1000 }, (_, place) => createMember(createModel(`m${place}`, { features })));
    const error = assertThrows(() => filterChat(members, image(1)), UnsupportedRequestError);
    assertStringIncludes(error.message, '"m9" has no vision and 990 more likewise');
    assert(error.message.length < 500);
  });

  it("throws nothing but its error, whatever comes", () => {
    const random = seededRandom(13);
    const constraints = { context_window: 50, max_output_tokens: 5, max_images: 1, max_file_size: 1 };
    const members = [
      createMember(createModel("m", {
        constraints: { ...constraints, supported_languages: ["en"] },
        features: { vision: false, tool_calling: false },
        parameters: { refuse: ["n", "tools", "response_format", "stop"] },
      })),
    ];
    let refused = 0;
    for (let round = 0; round < 1000; round++) {
      const fields = ["messages", "tools", "functions", "response_format", "n", "max_tokens", "language", "stop"];
      const body = Object.fromEntries(fields.filter(() => random() < 0.3).map((name) => [name, junk(random)]));
      try {
        filterChat(members, body as unknown as ChatCompletionRequest);
      } catch (error) {
        assert(UnsupportedRequestError.isInstance(error), `${error}: ${JSON.stringify(body)}`);
        refused++;
      }
    }
    assert(refused > 30 && refused < 1000, `${refused}`);
  });
});
