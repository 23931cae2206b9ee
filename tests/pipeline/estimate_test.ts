import { assert, assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import type { ChatCompletionRequest } from "../../src/contracts/openai.ts";
import { estimateTokens, minTokens, outputLimit } from "../../src/pipeline/estimate.ts";
import { dataUrlBytes, measureRequest } from "../../src/pipeline/request_size.ts";
import { seededRandom } from "../../src/runtime/test.ts";
import { junk } from "../support/_junk.ts";

const saying = (content: unknown): ChatCompletionRequest =>
  ({ messages: [{ role: "user", content }] }) as ChatCompletionRequest;
const base64 = (bytes: number) => btoa("x".repeat(bytes));

describe("measureRequest()", () => {
  it("distinguishes scripts, wherever a text stands", () => {
    const texts: readonly (readonly [text: string, latin: number, alphabetic: number, ideographic: number])[] = [
      ["Hello, Zoë", 10, 0, 0],
      ["Привет!", 1, 6, 0],
      ["“Hi”", 2, 2, 0],
      ["你好 kana: かな", 7, 0, 4],
      ["안녕", 0, 0, 2],
      ["🚀", 0, 0, 2],
      ["", 0, 0, 0],
    ];
    for (const [text, latin, alphabetic, ideographic] of texts) {
      const size = { latin, alphabetic, ideographic };
      const call = { id: "1", type: "function" as const, function: { name: "", arguments: text } };
      assertEquals(measureRequest(saying(text)).text, size, text);
      assertEquals(measureRequest(saying([{ type: "text", text }])).text, size, text);
      assertEquals(measureRequest(saying([{ type: "refusal", refusal: text }])).text, size, text);
      assertEquals(measureRequest({ messages: [{ role: "assistant", tool_calls: [call] }] }).text, size, text);
    }
  });

  it("takes an even sample of a very long text", () => {
    const { text } = measureRequest(saying("на и zh: 中文 ".repeat(30_000)));
    assertEquals(text.latin + text.alphabetic + text.ideographic, 12 * 30_000);
    assert(Math.abs(text.alphabetic - 3 * 30_000) < 1000, `${text.alphabetic}`);
    assert(Math.abs(text.ideographic - 2 * 30_000) < 1000, `${text.ideographic}`);
  });

  it("takes names and texts of schemas, at any depth, and counts their members", () => {
    const parameters = { type: "object", properties: { città: { enum: ["a", "你", 7, null] } } };
    const expected = { latin: "typeobjectpropertiescittàenuma".length, alphabetic: 0, ideographic: 1 };
    const { schema, schemaNodes } = measureRequest({ messages: [], functions: parameters });
    assertEquals([schema, schemaNodes], [expected, 8]);
    const form = { type: "json_schema", json_schema: parameters };
    assertEquals(measureRequest({ messages: [], response_format: form }).schema, expected);
    assert(measureRequest({ messages: [], tools: [{ type: "function", function: { name: "f" } }] }).schema.latin > 0);
  });

  it("counts images, sounds and files, and finds the largest that is sent along", () => {
    const size = measureRequest(saying([
      { type: "image_url", image_url: { url: `data:image/png;base64,${base64(500)}` } },
      { type: "image_url", image_url: { url: "https://acme.example/cat.png" } },
      { type: "image_url", image_url: { url: "A".repeat(4000) } },
      { type: "input_audio", input_audio: { data: base64(700), format: "wav" } },
      { type: "input_audio", input_audio: { data: base64(300), format: "mp3" } },
      { type: "file", file: { file_data: `data:application/pdf;base64,${base64(900)}` } },
      { type: "file", file: { file_data: base64(50) } },
      { type: "file", file: { file_id: "file-1" } },
      { type: "video_url", video_url: { url: "https://acme.example/cat.mp4" } },
      { type: "text", text: "What is this?" },
    ]));
    const { images, sounds, sampledBytes, compressedBytes, fileBytes, referredFiles, largestFileBytes } = size;
    assertEquals([images, sounds, sampledBytes, compressedBytes], [3, 2, 700, 300]);
    assertEquals([fileBytes, referredFiles, largestFileBytes], [950, 2, 900]);
    assertEquals(size.text.latin, 13);
  });

  it("counts the images of earlier responses for budgets, and needs no model that can see for them", () => {
    const images = [{ type: "image_url", image_url: { url: `data:image/png;base64,${base64(900)}` } }];
    const body = { messages: [{ role: "assistant" as const, content: "Here", images }] };
    const size = measureRequest(body);
    assertEquals([size.images, size.generatedImages, size.largestFileBytes], [0, 1, 0]);
    assertEquals(
      estimateTokens(body).input - estimateTokens({ messages: [{ ...body.messages[0]!, images: [] }] }).input,
      1_600,
    );
  });

  it("knows a system prompt by either name", () => {
    const roles = ["user", "system", "developer"] as const;
    const having = roles.filter((role) => measureRequest({ messages: [{ role, content: "" }] }).hasSystemPrompt);
    assertEquals(having, ["system", "developer"]);
  });

  it("does not take a vendor's own data for text", () => {
    const part = { type: "document", source: { data: base64(3000) }, cache_control: { type: "ephemeral" } };
    assertEquals(minTokens(measureRequest(saying([part]))), 0);
  });
});

describe("dataUrlBytes()", () => {
  it("says how many bytes base64 stands for", () => {
    for (let bytes = 0; bytes < 20; bytes++) {
      assertEquals(dataUrlBytes(`data:image/png;base64,${base64(bytes)}`), bytes);
      assertEquals(dataUrlBytes(`DATA:;BASE64,${base64(bytes).replaceAll("=", "")}`), bytes);
    }
  });

  it("never says more than what is percent-encoded, and nothing of other URLs", () => {
    assertEquals(dataUrlBytes("data:,%41%42%43"), 3);
    for (const url of ["data:", "data:x", "", "https://acme.example/?data:,AAAA", "dat"]) {
      assertEquals(dataUrlBytes(url), 0);
    }
  });
});

describe("estimateTokens()", () => {
  const cases: readonly (readonly [what: string, content: unknown, from: number, to: number])[] = [
    // texts: from what o200k_base makes of it to twice or so
    ["English", "The committee decided that the limit should stay where it is. ".repeat(10), 121, 242],
    ["JSON", JSON.stringify(Array(50).fill({ city: "Rome", days: 3 })), 402, 500],
    ["Russian", "Правительство решило, что ограничение скорости не будет введено в этом году. ".repeat(5), 86, 400],
    ["Chinese", "政府决定今年不会在高速公路上实行速度限制，专家们对此表示担忧。".repeat(5), 100, 170],
    ["an image", [{ type: "image_url", image_url: { url: "https://acme.example/a.png" } }], 1500, 1700],
    [
      "a minute of telephone sound",
      [{
        type: "input_audio",
        input_audio: { format: "wav", data: base64(960_000) },
      }],
      1900,
      2000,
    ],
    ["a page of a document", [{ type: "file", file: { file_data: base64(30_000) } }], 2900, 3100],
    ["a document somewhere else", [{ type: "file", file: { file_id: "file-1" } }], 2900, 3100],
  ];
  for (const [what, content, from, to] of cases) {
    it(`reads about ${from} to ${to} tokens in ${what}`, () => {
      const { input } = estimateTokens(saying(content));
      assert(input >= from && input <= to, `${input}`);
    });
  }

  it("writes what the request lets be written, over all responses", () => {
    const outputs: readonly (readonly [Partial<ChatCompletionRequest>, number | undefined])[] = [
      [{}, undefined],
      [{ max_tokens: 50 }, 50],
      [{ max_tokens: 50, n: 3 }, 150],
      [{ max_tokens: 50, max_completion_tokens: 20 }, 50],
      [{ max_tokens: 50, max_completion_tokens: null }, 50],
      [{ max_tokens: 0 }, undefined],
      [{ max_tokens: -5, n: 3 }, undefined],
      [{ max_tokens: 50, n: 0 }, 50],
      [{ max_tokens: 1e300, n: 1e300 }, Number.MAX_SAFE_INTEGER],
    ];
    for (const [body, output] of outputs) {
      assertEquals(estimateTokens({ ...saying("Hi"), ...body }).output, output, JSON.stringify(body));
    }
    assertEquals(outputLimit({ messages: [], max_tokens: 50, n: 3 }), 50);
  });

  it("reads more in more: of texts, tools, images, and never fewer than the low estimate", () => {
    const random = seededRandom(7);
    const letters = ["a", " ", "é", "я", "ไ", "中", "🚀", "{", "9"];
    for (let round = 0; round < 200; round++) {
      const text = Array.from({ length: 1 + Math.floor(random() * 50) }, () => letters[Math.floor(random() * 9)]).join(
        "",
      );
      const body = saying(text);
      const tools = [{ type: "function", function: { name: "f", description: text } }];
      const [plain, longer, tooled] = [body, saying(text.repeat(4)), { ...body, tools }].map((one) =>
        estimateTokens(one).input
      );
      assert(longer! > plain! && tooled! > plain!, text);
      assert(minTokens(measureRequest({ ...body, tools })) <= tooled!, text);
    }
  });
});

describe("minTokens()", () => {
  it("stays below what the leanest vocabulary makes of plain language", () => {
    const texts: readonly (readonly [text: string, tokens: number])[] = [
      ["word ".repeat(1000), 1000],
      ["政府决定今年不会在高速公路上实行速度限制，专家们对此表示担忧。", 20],
      ["Правительство решило, что ограничение скорости на автомагистралях не будет введено в этом году. ", 22],
    ];
    for (const [text, tokens] of texts) {
      const least = minTokens(measureRequest(saying(text)));
      assert(least <= tokens && least >= tokens / 2, `${least} of ${tokens}`);
    }
  });
});

describe("Estimates of junk", () => {
  it("are numbers, and nothing throws", () => {
    const random = seededRandom(11);
    for (let round = 0; round < 800; round++) {
      const body = {
        messages: junk(random),
        tools: junk(random),
        response_format: junk(random),
        n: junk(random),
        max_tokens: junk(random),
      } as unknown as ChatCompletionRequest;
      const size = measureRequest(body);
      const { input, output } = estimateTokens(body, size);
      for (const number of [input, output ?? 0, minTokens(size), size.largestFileBytes]) {
        assert(Number.isFinite(number) && number >= 0, JSON.stringify(body));
      }
    }
  });

  it("take a schema of any depth", () => {
    const deep = JSON.parse(`${'{"a":'.repeat(5000)}1${"}".repeat(5000)}`);
    assertEquals(measureRequest({ messages: [], functions: deep }).schema.latin, 5000);
  });
});
