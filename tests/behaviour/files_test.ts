import { assert, assertEquals, assertMatch, assertNotEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { ask, fileForm, objectStage, requestLines } from "../support/_objects.ts";
import { refusingUrl } from "../support/upstream.ts";

const tokens = ["one", "two"].map((name) => ({ token: `token-of-${name}-0123456789`, name }));
const [one, two] = tokens.map(({ token }) => token);
const clients = { proxy: { auth: { tokens } } };
const notes = { purpose: "user_data" };

describe("A file", () => {
  it("goes to the pool's provider as it came, and is found there by its id", async () => {
    await using stage = await objectStage();
    const { proxy, vendors: { a } } = stage;
    const made = await ask(proxy, "files", { body: fileForm("some notes", notes, { name: "notes.txt" }) });
    assertEquals(made.status, 200, JSON.stringify(made.json));
    const { id, ...facts } = made.json;
    assertEquals(facts, {
      object: "file",
      bytes: 10,
      created_at: 1_767_225_600,
      filename: "notes.txt",
      purpose: "user_data",
      status: "processed",
    });
    assertEquals([made.headers.get("x-mesh-pool"), made.headers.get("x-mesh-provider")], ["chat", "a"]);
    const [file] = [...a!.files.values()];
    assertEquals([file!.text, file!.purpose, file!.key], ["some notes", "user_data", "key-of-a-0123456789"]);
    assertEquals((await ask(proxy, `files/${id}`)).json, made.json);
    assertEquals((await ask(proxy, `files/${id}/content`)).json, "some notes");
    assertEquals((await ask(proxy, "files")).json.data, [made.json]);
    assertEquals((await ask(proxy, `files/${id}`, { method: "DELETE" })).json, { id, object: "file", deleted: true });
    assertEquals([a!.files.size, (await ask(proxy, "files")).json.data], [0, []]);
    assertEquals((await ask(proxy, `files/${id}`)).status, 404);
  });

  it("may have its purpose after its content", async () => {
    await using stage = await objectStage();
    const { proxy, vendors: { a } } = stage;
    const late = await ask(proxy, "files", { body: fileForm("x", {}, { name: "a.txt", later: notes }) });
    assertEquals([late.status, late.json.purpose, [...a!.files.values()][0]!.purpose], [200, "user_data", "user_data"]);
    const batch = await ask(proxy, "files", { body: fileForm(requestLines(2), {}, { later: { purpose: "batch" } }) });
    assertEquals([batch.status, batch.json.purpose], [200, "batch"]);
    const other = await ask(proxy, "files", { body: fileForm(requestLines(2), {}, { later: notes }) });
    assertEquals(other.status, 400);
    assertMatch(other.json.error.message, /put "purpose" before "file"/);
    assertEquals(a!.files.size, 2);
  });

  it("goes where the header or the form says", async () => {
    await using stage = await objectStage(["a", "b"], {
      pools: { chat: { models: ["a"] }, second: { models: ["b"] } },
    });
    const { proxy, vendors: { a, b } } = stage;
    await ask(proxy, "files", { body: fileForm("1", notes) });
    await ask(proxy, "files", { body: fileForm("2", notes), headers: { "x-mesh-pool": "second" } });
    await ask(proxy, "files", { body: fileForm("3", { "mesh[pool]": "second", ...notes }) });
    await ask(proxy, "files", { body: fileForm("4", { mesh: '{"pool":"second"}', ...notes }) });
    const textsOf = (vendor: typeof a) => [...vendor!.files.values()].map(({ text }) => text);
    assertEquals([textsOf(a), textsOf(b)], [["1"], ["2", "3", "4"]]);
    const unknown = await ask(proxy, "files", { body: fileForm("5", notes), headers: { "x-mesh-pool": "third" } });
    assertEquals([unknown.status, unknown.json.error.code], [404, "model_not_found"]);
    const late = await ask(proxy, "files", { body: fileForm("6", notes, { later: { "mesh[pool]": "second" } }) });
    assertEquals(late.status, 400);
    assertMatch(late.json.error.message, /precede "file"/);
  });

  it("goes to the next provider where the first is not reached, and nowhere else once it was begun", async () => {
    await using stage = await objectStage(["a", "b"]);
    const { vendors: { a, b } } = stage;
    const proxy = await stage.another({
      providers: {
        a: { connector: "openai.compatible.v1", base_url: await refusingUrl(), files: { upload: true } },
        b: { connector: "openai.compatible.v1", base_url: b!.url, files: { upload: true } },
      },
    });
    const made = await ask(proxy, "files", { body: fileForm("x", notes) });
    assertEquals([made.status, made.headers.get("x-mesh-provider")], [200, "b"]);
    a!.instead = () => ({ status: 500, body: { error: { message: "broken" } } });
    const failed = await ask(stage.proxy, "files", { body: fileForm("x", notes) });
    assertEquals([failed.status, failed.headers.get("x-should-retry")], [502, "false"]);
    a!.instead = () => ({ status: 200, cut: true });
    const cut = await ask(stage.proxy, "files", { body: fileForm("x", notes) });
    assertEquals(cut.status, 502);
    assertMatch(cut.json.error.message, /may have been carried out/);
    assertEquals([a!.requests.length, b!.requests.length], [2, 1]);
  });

  it("is listed page by page, by purpose and in either order", async () => {
    await using stage = await objectStage();
    const { proxy } = stage;
    for (const [index, purpose] of ["user_data", "vision", "user_data", "user_data"].entries()) {
      proxy.clock.jumpWallTime(1000);
      await ask(proxy, "files", { body: fileForm("x", { purpose }, { name: `${index}` }) });
    }
    const namesIn = async (query: string) => {
      const { json } = await ask(proxy, `files?${query}`);
      return [json.data.map(({ filename }: { filename: string }) => filename).join(), json.has_more, json.last_id];
    };
    assertEquals((await namesIn("")).slice(0, 2), ["3,2,1,0", false]);
    const [names, hasMore, last] = await namesIn("limit=2&purpose=user_data");
    assertEquals([names, hasMore], ["3,2", true]);
    assertEquals((await namesIn(`limit=2&purpose=user_data&after=${last}`)).slice(0, 2), ["0", false]);
    assertEquals((await namesIn("order=asc&limit=1")).slice(0, 2), ["0", true]);
    for (const query of ["limit=0", "limit=x", "order=up", "after=file-abc"]) {
      assert((await ask(proxy, `files?${query}`)).status >= 400, query);
    }
  });

  it("that was uploaded at once with others is its own", async () => {
    await using stage = await objectStage();
    const { proxy, vendors: { a } } = stage;
    const texts = Array.from({ length: 20 }, (_, index) => `text ${index} `.repeat(5000));
    const made = await Promise.all(texts.map((text) => ask(proxy, "files", { body: fileForm(text, notes) })));
    assertEquals(new Set(made.map(({ json }) => json.id)).size, texts.length);
    for (const [index, { json }] of made.entries()) {
      assertEquals((await ask(proxy, `files/${json.id}/content`)).json, texts[index]);
    }
    assertEquals(a!.files.size, texts.length);
  });
});

describe("An id of a file", () => {
  it("is another proxy's, too, and lasts beyond a restart", async () => {
    await using stage = await objectStage();
    const { json: { id } } = await ask(stage.proxy, "files", { body: fileForm("x", notes) });
    const other = await stage.another();
    assertEquals((await ask(other, `files/${id}/content`)).json, "x");
  });

  it("is worth nothing when it was made up, is another client's, or of a provider that is gone", async () => {
    await using stage = await objectStage(["a", "b"], clients);
    const { proxy } = stage;
    const { json: { id } } = await ask(proxy, "files", { body: fileForm("x", notes), token: one });
    const middle = Math.floor(id.length / 2);
    const forged = id.slice(0, middle) + (id[middle] === "A" ? "B" : "A") + id.slice(middle + 1);
    const cases: [id: string, token: string | undefined][] = [
      [id, two],
      [forged, one],
      [`${id.slice(0, -1)}${id.endsWith("A") ? "B" : "A"}`, one],
      ["file-abc123", one],
      [`file-${"A".repeat(40)}`, one],
      [id.replace("file-", "batch_"), one],
    ];
    for (const [wrong, token] of cases) {
      for (const path of [`files/${wrong}`, `files/${wrong}/content`]) {
        const { status, json } = await ask(proxy, path, { token });
        assertEquals([status, json.error?.code], [404, "not_found"], path);
        assertMatch(json.error.message, /^There is no file/);
      }
    }
    assertEquals((await ask(proxy, `files/${id}`, { token: one })).status, 200);
    const providers = { b: { connector: "openai.compatible.v1", base_url: stage.vendors.b!.url } };
    const rest = { models: { b: { provider: "b" } }, pools: { chat: { models: ["b"] } } };
    const gone = await ask(await stage.another({ providers, ...rest }), `files/${id}`, { token: one });
    assertEquals(gone.status, 404);
    assertMatch(gone.json.error.message, /provider "a" .* no longer configured/);
  });

  it("shows nothing of another client's files in lists", async () => {
    await using stage = await objectStage(["a"], clients);
    const { proxy } = stage;
    await ask(proxy, "files", { body: fileForm("x", notes), token: one });
    assertEquals((await ask(proxy, "files", { token: one })).json.data.length, 1);
    assertEquals((await ask(proxy, "files", { token: two })).json.data, []);
  });

  it("outlives its provider's key where a secret signs it", async () => {
    const proxy = { id_secret: "a-secret-that-signs-ids" };
    await using stage = await objectStage(["a"], { proxy });
    const { vendors: { a } } = stage;
    const { json: { id } } = await ask(stage.proxy, "files", { body: fileForm("x", notes) });
    const renewed = (more: object) => ({
      providers: {
        a: {
          connector: "openai.compatible.v1",
          base_url: a!.url,
          api_key: "another-key-0123456789",
          files: { upload: true },
        },
      },
      ...more,
    });
    for (const file of a!.files.values()) file.key = "another-key-0123456789";
    assertEquals((await ask(await stage.another(renewed({})), `files/${id}/content`)).json, "x");
    const other = await stage.another(renewed({ proxy: { id_secret: "another-secret-that-signs" } }));
    assertEquals((await ask(other, `files/${id}/content`)).status, 404);
    const without = await ask(await stage.another(renewed({ proxy: {} })), `files/${id}`);
    assertMatch(without.json.error.message, /key of the provider "a" .* no longer configured/);
  });
});

describe("An upload is refused", () => {
  const cases: [why: string, form: () => FormData, status: number, message: RegExp][] = [
    ["without a purpose", () => fileForm("x", {}, { name: "a.txt" }), 400, /"purpose" is missing/],
    [
      "without a file",
      () => {
        const form = new FormData();
        form.append("purpose", "batch");
        return form;
      },
      400,
      /"file" is missing/,
    ],
    [
      "with a broken line",
      () => fileForm(`${requestLines(2)}{"custom_id": \n${requestLines(1)}`),
      400,
      /^Line 3 .*JSON/,
    ],
    ["with no lines", () => fileForm("\n \n"), 400, /no lines/],
    [
      "with a line without an id",
      () => fileForm('{"url":"/v1/chat/completions","body":{}}'),
      400,
      /^Line 1 .*"custom_id"/,
    ],
    ["with an id that comes twice", () => fileForm(requestLines(1) + requestLines(1)), 400, /^Line 2 .*earlier line/],
    [
      "with lines of two pools",
      () =>
        fileForm(
          requestLines(2) + requestLines(1, { model: "a" }).replace("request-1", "r"),
        ),
      400,
      /^Line 3 .*pool "a".*"chat"/,
    ],
    [
      "with a model that does not exist",
      () => fileForm(requestLines(1, { model: "x" })),
      400,
      /^Line 1 .*"x" does not exist/,
    ],
    ["with a line that is streamed", () => fileForm(requestLines(1, { stream: true })), 400, /^Line 1 .*stream/],
    ["with a malformed request", () => fileForm(requestLines(1, { messages: 3 })), 400, /^Line 1 .*messages/],
    [
      "with a url that batches lack",
      () =>
        fileForm(
          requestLines(1).replace("chat/completions", "audio/speech"),
        ),
      400,
      /^Line 1 .*"url"/,
    ],
    ["with a broken line to learn from", () => fileForm('{"a":1}\n{', { purpose: "fine-tune" }), 400, /^Line 2/],
    [
      "with a broken line and a late purpose",
      () => fileForm('{"a":1}\n[', {}, { later: { purpose: "fine-tune" } }),
      400,
      /^Line 2/,
    ],
    [
      "over the provider's limit",
      () => fileForm("x".repeat(2_000_001), notes),
      413,
      /exceeds the 2000000 bytes .*files\.max_size/,
    ],
    ["over the proxy's limit", () => fileForm("x".repeat(3_000_001), notes), 413, /proxy\.upload_limit/],
  ];
  for (const [why, form, status, message] of cases) {
    it(why, async () => {
      await using stage = await objectStage(["a"], {
        provider: { files: { upload: true, max_size: "2MB" } },
        proxy: { upload_limit: "3MB" },
      });
      const { proxy, vendors: { a } } = stage;
      const answer = await ask(proxy, "files", { body: form() });
      assertEquals(answer.status, status, JSON.stringify(answer.json));
      assertMatch(answer.json.error.message, message);
      assertNotEquals(answer.json.error.code, "internal_error");
      assertEquals([a!.files.size, (await ask(proxy, "files")).json.data], [0, []]);
    });
  }

  it("as JSON, and where no provider keeps files", async () => {
    await using stage = await objectStage(["a"], {
      provider: { files: { upload: false }, batch: { supported: false } },
    });
    assertEquals((await ask(stage.proxy, "files", { json: {} })).status, 415);
    const none = await ask(stage.proxy, "files", { body: fileForm("x", notes) });
    assertEquals([none.status, none.json.error.code], [400, "unsupported_by_pool"]);
    assertMatch(none.json.error.message, /files\.upload: true/);
    assertEquals((await ask(stage.proxy, "files", { method: "PUT" })).status, 405);
  });
});

describe("A file of requests", () => {
  it("has the model's own words when it arrives", async () => {
    await using stage = await objectStage(["a"], { model: { parameters: { rename: { max_tokens: "max_output" } } } });
    const { proxy, vendors: { a } } = stage;
    const lines = requestLines(2, { max_tokens: 5, mesh: { tags: ["x"] } });
    const { json } = await ask(proxy, "files", { body: fileForm(lines) });
    assertEquals([json.bytes, json.purpose], [lines.length, "batch"]);
    const sent = [...a!.files.values()][0]!.text.trim().split("\n").map((line) => JSON.parse(line));
    assertEquals(sent.map(({ custom_id, method, url }) => [custom_id, method, url]), [
      ["request-1", "POST", "/v1/chat/completions"],
      ["request-2", "POST", "/v1/chat/completions"],
    ]);
    assertEquals(sent[0].body, { model: "a-1", messages: [{ role: "user", content: "Hi 1" }], max_output: 5 });
  });

  it("is cut where the model takes fewer, and is one here", async () => {
    await using stage = await objectStage(["a"], { model: { batch: { max_items: 2 } } });
    const { proxy, vendors: { a } } = stage;
    const { json } = await ask(proxy, "files", { body: fileForm(requestLines(5)) });
    assertEquals([...a!.files.values()].map(({ text }) => text.trim().split("\n").length), [2, 2, 1]);
    const content = (await ask(proxy, `files/${json.id}/content`)).json as string;
    assertEquals(content.trim().split("\n").map((line) => JSON.parse(line).custom_id), [
      "request-1",
      "request-2",
      "request-3",
      "request-4",
      "request-5",
    ]);
    assertEquals((await ask(proxy, `files/${json.id}`)).json.bytes, content.length);
    await ask(proxy, `files/${json.id}`, { method: "DELETE" });
    assertEquals(a!.files.size, 0);
  });

  it("is cut by its size, and leaves nothing behind when a later line is broken", async () => {
    await using stage = await objectStage(["a"], { model: { batch: { max_payload: "300B" } } });
    const { proxy, vendors: { a } } = stage;
    await ask(proxy, "files", { body: fileForm(requestLines(6)) });
    const sizes = [...a!.files.values()].map(({ text }) => text.length);
    assert(sizes.length > 1 && sizes.every((size) => size <= 300), `${sizes}`);
    a!.files.clear();
    const broken = await ask(proxy, "files", { body: fileForm(`${requestLines(6)}broken`) });
    assertEquals([broken.status, a!.files.size], [400, 0]);
    const long = await ask(proxy, "files", { body: fileForm(requestLines(1, { user: "x".repeat(300) })) });
    assertMatch(long.json.error.message, /^Line 1 .*over 300 bytes/);
  });

  it("goes to a provider that takes batches, and to a model that has what its lines ask for", async () => {
    await using stage = await objectStage(["a", "b", "c"]);
    const { vendors } = stage;
    const proxy = await stage.another({
      models: {
        a: { provider: "a", delivery: { batch: false } },
        b: { provider: "b", features: { tool_calling: false } },
        c: { provider: "c" },
      },
    });
    const tools = [{ type: "function", function: { name: "f", parameters: { type: "object" } } }];
    await ask(proxy, "files", { body: fileForm(requestLines(1, { tools })) });
    await ask(proxy, "files", { body: fileForm(requestLines(1)) });
    assertEquals(["a", "b", "c"].map((name) => vendors[name]!.files.size), [0, 1, 1]);
    const lines = requestLines(1) + requestLines(1, { tools }).replace("request-1", "r");
    const mixed = await ask(proxy, "files", { body: fileForm(lines) });
    assertEquals(mixed.status, 400);
    assertMatch(mixed.json.error.message, /^Line 2 .*lacks: tool_calling/);
  });
});
