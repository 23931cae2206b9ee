/** `/v1/responses` with `proxy.responses.state`: responses are stored, and continued by their ids at any provider. */
import { assert, assertEquals, assertMatch, assertNotEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { ConnectorError, memoryStorage } from "../../mod.ts";
import { fakeClock } from "../../src/runtime/test.ts";
import { respondWithResponse } from "../support/_responses_behaviours.ts";
import { parseEvents } from "../support/_responses.ts";
import { memoryStage } from "../support/_stored_responses.ts";
import { assertMatchesSchema } from "../support/schema.ts";
import { type ReceivedRequest, respond, status } from "../support/upstream.ts";

/** Responds with the number of the request, streaming or not. */
const numbered = ({ number }: ReceivedRequest) =>
  respond({ text: `answer ${number}`, pieces: ["answer ", `${number}`] });

const unknownId = "resp_mesh_019b76da800" + "0".repeat(32);

describe("A stored response", () => {
  for (const stream of [false, true]) {
    const how = stream ? "streamed" : "not streamed";
    it(`is continued by its id, several times over, ${how}`, async () => {
      await using stage = await memoryStage(numbered);
      const ask = async (body: object) => {
        const { status, text, json } = await stage.create({ stream, ...body });
        assertEquals(status, 200, text);
        return stream ? parseEvents(text).at(-1)!.response as typeof json : json;
      };
      const first = await ask({ input: "One", instructions: "Be brief" });
      assertMatch(first.id, /^resp_mesh_[\da-f]{43}$/);
      assertEquals([first.store, first.previous_response_id, first.background], [true, null, false]);
      const second = await ask({ input: [{ role: "user", content: "Two" }], previous_response_id: first.id });
      assertEquals([second.store, second.previous_response_id], [true, first.id]);
      assertNotEquals(second.id, first.id);
      await ask({ input: "Other", previous_response_id: first.id });
      await ask({ input: "Three", previous_response_id: second.id, instructions: "Be kind" });
      assertEquals([1, 2, 3, 4].map((number) => stage.messages(number)), [
        ["system Be brief", "user One"],
        ["user One", "assistant answer 1", "user Two"],
        ["user One", "assistant answer 1", "user Other"],
        ["system Be kind", "user One", "assistant answer 1", "user Two", "assistant answer 2", "user Three"],
      ]);
      const { json: retrieved } = await stage.call("GET", second.id);
      assertEquals(retrieved, second);
      assertMatchesSchema("Response", retrieved);
    });
  }

  it("has its id in every event that contains it, and is stored before the last one is sent", async () => {
    const storage = memoryStorage();
    const saved: string[] = [];
    const save = storage.save.bind(storage);
    storage.save = async (key, data) => {
      await new Promise((resolve) => setTimeout(resolve, 20));
      await save(key, data);
      saved.push(key);
    };
    await using stage = await memoryStage(numbered, { storage });
    const { text } = await stage.create({ input: "One", stream: true });
    const heads = parseEvents(text).flatMap(({ response }) =>
      response === undefined ? [] : [response as { id: string }]
    );
    assertEquals(heads.length, 3);
    assertEquals(new Set(heads.map(({ id }) => id)).size, 1);
    assertEquals(saved.filter((key) => key.endsWith(heads[0]!.id)).length, 1);
    assertEquals((await stage.call("GET", heads[0]!.id)).status, 200);
  });

  it("is not stored with store: false, which may continue one that is", async () => {
    await using stage = await memoryStage(numbered);
    const { json: first } = await stage.create({ input: "One" });
    const { json: second } = await stage.create({ input: "Two", previous_response_id: first.id, store: false });
    assertEquals([second.store, second.previous_response_id], [false, first.id]);
    assertEquals(stage.messages(2), ["user One", "assistant answer 1", "user Two"]);
    const { status, json } = await stage.call("GET", second.id);
    assertEquals([status, json.error.code], [404, "response_not_found"]);
    assertEquals((await stage.create({ input: "Three", previous_response_id: second.id })).status, 404);
  });

  it("is continued by several requests at once", async () => {
    await using stage = await memoryStage(numbered);
    const { json: { id } } = await stage.create({ input: "One" });
    const turns = await Promise.all(
      Array.from({ length: 8 }, (_, turn) => stage.create({ input: `Turn ${turn}`, previous_response_id: id })),
    );
    assertEquals(new Set(turns.map(({ json }) => json.id)).size, 8);
    const sent = [2, 3, 4, 5, 6, 7, 8, 9].map((number) => stage.messages(number));
    assertEquals(sent.map(([one, two]) => [one, two]), Array(8).fill(["user One", "assistant answer 1"]));
    assertEquals(
      sent.map((messages) => messages.at(-1)).sort(),
      Array.from({ length: 8 }, (_, turn) => `user Turn ${turn}`),
    );
  });

  it("belongs to its client, also without a name", async () => {
    const tokens = ["t-one-0123456789", "t-two-0123456789", { token: "t-team-0123456789", name: "team" }];
    await using stage = await memoryStage(numbered, { config: { proxy: { auth: { tokens } } } });
    const clients = ["t-one-0123456789", "t-two-0123456789", "t-team-0123456789"].map((token) => stage.as(token));
    const ids: string[] = [];
    for (const client of clients) ids.push((await client.create({ input: "Secret" })).json.id);
    for (const [index, client] of clients.entries()) {
      for (const [owner, id] of ids.entries()) {
        const isOwn = owner === index;
        const { status: got } = await client.call("GET", id);
        const { status: items } = await client.call("GET", `${id}/input_items`);
        const { status: continued, json } = await client.create({ input: "Go on", previous_response_id: id });
        assertEquals([got, items, continued], isOwn ? [200, 200, 200] : [404, 404, 404]);
        if (isOwn) continue;
        assertEquals([json.error.code, json.error.param], ["previous_response_not_found", "previous_response_id"]);
        assertEquals((await client.call("DELETE", id)).status, 404);
      }
    }
    const keys = (await stage.storage.list("responses/")).join("\n");
    assert(!/t-one|t-two|t-team|team/.test(keys), keys);
  });

  it("is deleted, and can then be neither retrieved nor continued, nor can what follows it", async () => {
    await using stage = await memoryStage(numbered);
    const { json: { id } } = await stage.create({ input: "One" });
    const { json: { id: next } } = await stage.create({ input: "Two", previous_response_id: id });
    const { json: deleted } = await stage.call("DELETE", id);
    assertEquals(deleted, { id, object: "response", deleted: true });
    for (const [method, path] of [["GET", id], ["DELETE", id], ["GET", `${id}/input_items`]] as const) {
      const { status, json } = await stage.call(method, path);
      assertEquals([status, json.error.type], [404, "invalid_request_error"], `${method} ${path}`);
    }
    assertEquals((await stage.create({ input: "Three", previous_response_id: id })).status, 404);
    assertEquals((await stage.call("GET", next)).status, 200);
    const { status, json } = await stage.create({ input: "Three", previous_response_id: next });
    assertEquals([status, json.error.code], [404, "previous_response_not_found"]);
    assert(json.error.message.includes(id));
    assertEquals(stage.upstream.calls, 2);
  });

  it("expires", async () => {
    const clock = fakeClock();
    await using stage = await memoryStage(numbered, { clock, responses: { ttl: "1h" } });
    const { json: { id } } = await stage.create({ input: "One" });
    await clock.advance(3_599_000);
    assertEquals((await stage.call("GET", id)).status, 200);
    await clock.advance(1_000);
    assertEquals((await stage.call("GET", id)).status, 404);
    await clock.advance(600_000);
    assertEquals(await stage.storage.list("responses/"), []);
  });

  it("gives way to later ones beyond the maximum size, the oldest first", async () => {
    await using stage = await memoryStage(numbered, { responses: { max_bytes: "10KB" } });
    const ids: string[] = [];
    for (let number = 0; number < 6; number++) {
      ids.push((await stage.create({ input: "x".repeat(3_000) })).json.id);
    }
    const statuses = await Promise.all(ids.map(async (id) => (await stage.call("GET", id)).status));
    assertEquals(statuses, [404, 404, 404, 404, 200, 200]);
    const { json } = await stage.create({ input: "x".repeat(11_000) });
    assertEquals([json.store, (await stage.call("GET", json.id)).status], [false, 404]);
    assertEquals(stage.traces.filter((trace) => trace.startsWith("warning A response is not stored")).length, 1);
    assertEquals((await stage.call("GET", ids[5]!)).status, 200);
  });

  it("is served although the storage fails, and is then unknown", async () => {
    const storage = memoryStorage();
    await using stage = await memoryStage(numbered, { storage });
    const { json: first } = await stage.create({ input: "One" });
    const save = storage.save;
    storage.save = () => Promise.reject(new Error("disk"));
    for (const stream of [false, true]) {
      const { status, text, json } = await stage.create({ input: "Two", previous_response_id: first.id, stream });
      const response = json ?? parseEvents(text).at(-1)!.response;
      assertEquals([status, response.status, response.store], [200, "completed", false]);
      storage.save = save;
      assertEquals((await stage.call("GET", response.id)).status, 404);
      storage.save = () => Promise.reject(new Error("disk"));
    }
    assertEquals(stage.traces.filter((trace) => trace.startsWith("warning A response is not stored")).length, 1);
    storage.save = save;
    const load = storage.load;
    storage.load = () => Promise.reject(new ConnectorError("disk"));
    const { status: got, json } = await stage.call("GET", first.id);
    assertEquals([got, json.error.code], [503, "storage_unavailable"]);
    assertEquals((await stage.create({ input: "Three", previous_response_id: first.id })).status, 503);
    storage.load = load;
  });
});

describe("Input items of a stored response", () => {
  it("are those of the whole conversation, in pages", async () => {
    await using stage = await memoryStage(numbered);
    const { json: { id: first } } = await stage.create({ input: "One" });
    const { json: { id } } = await stage.create({
      input: [{ role: "user", content: "Two" }, {
        type: "message",
        role: "user",
        content: [{ type: "input_text", text: "Three" }],
      }],
      previous_response_id: first,
    });
    const list = async (query: string) => {
      const { status, json } = await stage.call("GET", `${id}/input_items${query}`);
      assertEquals([status, json.object], [200, "list"]);
      return json;
    };
    const all = await list("?order=asc");
    const textsOf = ({ data }: { data: { content: { text: string }[] }[] }) =>
      data.map(({ content }) => content[0]!.text);
    assertEquals(textsOf(all), ["One", "answer 1", "Two", "Three"]);
    const ids = all.data.map(({ id }: { id: string }) => id);
    assertEquals(new Set(ids).size, 4);
    assertEquals([all.first_id, all.last_id, all.has_more], [ids[0], ids[3], false]);
    assertEquals(all.data[0], {
      type: "message",
      role: "user",
      content: [{ type: "input_text", text: "One" }],
      id: ids[0],
      status: "completed",
    });
    assertEquals(textsOf(await list("")), ["Three", "Two", "answer 1", "One"]);
    const page = await list("?order=asc&limit=2&include[]=reasoning.encrypted_content");
    assertEquals([textsOf(page), page.has_more, page.last_id], [["One", "answer 1"], true, ids[1]]);
    const rest = await list(`?order=asc&limit=2&after=${ids[1]}`);
    assertEquals([textsOf(rest), rest.has_more], [["Two", "Three"], false]);
    const empty = await list(`?after=${ids[0]}`);
    assertEquals([empty.data, empty.first_id, empty.last_id, empty.has_more], [[], null, null, false]);
  });

  it("are requested with valid parameters", async () => {
    await using stage = await memoryStage(numbered);
    const { json: { id } } = await stage.create({ input: "One" });
    const wrong = [
      "limit=0",
      "limit=101",
      "limit=x",
      "limit=1.5",
      "order=up",
      "after=msg_unknown",
      "include=everything",
    ];
    for (const query of wrong) {
      const { status, json } = await stage.call("GET", `${id}/input_items?${query}`);
      assertEquals([status, json.error.param], [400, query.split("=")[0]], query);
    }
  });
});

describe("A turn of a stored conversation", () => {
  it("is stored in the same space however long the conversation is", async () => {
    await using stage = await memoryStage(respond({ text: "Yes" }));
    let last: string | undefined;
    const sizes: number[] = [];
    for (let turn = 0; turn < 60; turn++) {
      const { json } = await stage.create({ input: `${100 + turn}`, previous_response_id: last });
      last = json.id as string;
      const key = (await stage.storage.list("responses/")).find((key) => key.endsWith(last!))!;
      sizes.push((await stage.storage.stat(key))!.size);
    }
    assertEquals(sizes[59], sizes[40]);
    const expected = Array.from({ length: 60 }, (_, turn) => [`user ${100 + turn}`, "assistant Yes"]).flat();
    assertEquals(stage.messages(60), expected.slice(0, -1));
    const { json } = await stage.call("GET", `${last}/input_items?order=asc&limit=100`);
    assertEquals([json.data.length, json.data[0].content[0].text, json.has_more], [100, "100", true]);
  });

  it("names its own items in errors", async () => {
    await using stage = await memoryStage(numbered);
    const { json: { id } } = await stage.create({ input: "One" });
    const input = [{ role: "user", content: "Two" }, { type: "message", role: "user" }];
    for (const more of [{}, { background: true }]) {
      const { status, json } = await stage.create({ input, previous_response_id: id, ...more });
      assertEquals([status, json.error.param], [400, "input[1].content"], json.error.message);
      assert(!json.error.message.includes("input[3]"), json.error.message);
    }
  });

  it("is rejected when the conversation exceeds the limit of a request", async () => {
    await using stage = await memoryStage(numbered, { config: { proxy: { body_limit: "5KB" } } });
    const { json: { id: first } } = await stage.create({ input: "x".repeat(3_000) });
    const { json: { id } } = await stage.create({ input: "x".repeat(3_000), previous_response_id: first });
    const { status, json } = await stage.create({ input: "Three", previous_response_id: id });
    assertEquals([status, json.error.code, json.error.param], [413, "request_too_large", "previous_response_id"]);
  });
});

describe("A request about stored responses", () => {
  it("has a valid id and method", async () => {
    await using stage = await memoryStage(numbered);
    for (const id of [unknownId, "resp_1", "resp_mesh_", "x".repeat(5_000), "%2e%2e%2fstate", "a%00b"]) {
      const { status, json } = await stage.call("GET", id);
      assert(status === 404 || status === 400, `${id} ${status}`);
      assertEquals(json.error.type, "invalid_request_error");
    }
    assertEquals((await stage.call("PUT", unknownId)).status, 405);
    assertEquals((await stage.call("POST", `${unknownId}/input_items`)).status, 405);
    assertEquals((await stage.call("GET", `${unknownId}/other`)).status, 404);
    for (const previous_response_id of [unknownId, "resp_1", ""]) {
      const { status, json } = await stage.create({ input: "One", previous_response_id });
      assertEquals([status, json.error.param], [404, "previous_response_id"]);
    }
    for (const body of [{ previous_response_id: 1 }, { previous_response_id: {} }, { store: "yes" }]) {
      const { status, json } = await stage.create({ input: "One", ...body });
      assertEquals([status, json.error.code, json.error.param], [400, "invalid_value", Object.keys(body)[0]]);
    }
    assertEquals(stage.upstream.calls, 0);
  });

  it("is for a provider or unknown without the setting, as before", async () => {
    await using stage = await memoryStage(numbered, { responses: { state: false } });
    const { json } = await stage.create({ input: "One" });
    assertEquals(json.store, false);
    assertEquals((await stage.call("GET", json.id)).json.error.code, "unknown_url");
    const continued = await stage.create({ input: "Two", previous_response_id: json.id });
    assertEquals([continued.status, continued.json.error.code], [400, "unsupported_by_pool"]);
    assertEquals(await stage.storage.list("responses/"), []);
  });
});

describe("A provider of the Responses API itself", () => {
  const withApi = { provider: { config: { responses: true } } };

  it("stores nothing, gets the whole conversation, and returns reasoning that travels", async () => {
    const reasoning = { id: "rs_1", type: "reasoning", summary: [], encrypted_content: "sealed" };
    const unreadable = { id: "rs_2", type: "reasoning", summary: [] };
    await using stage = await memoryStage(
      ({ number }) =>
        respondWithResponse({
          text: "Hi",
          items: [reasoning, unreadable],
          more: { id: `resp_${number}`, store: false },
        }),
      withApi,
    );
    const { json: first } = await stage.create({ input: "One", store: true });
    assertMatch(first.id, /^resp_mesh_/);
    assertEquals(first.store, true);
    const { text } = await stage.create({
      input: "Two",
      previous_response_id: first.id,
      stream: true,
      include: ["message.output_text.logprobs"],
    });
    const events = text.split("\n").filter((line) => line.startsWith("data: ")).map((line) =>
      JSON.parse(line.slice(6))
    );
    const { response } = events.at(-1)!;
    assertEquals([response.previous_response_id, response.store, response.status], [first.id, true, "completed"]);
    const [one, two] = stage.upstream.requests.map((request) => request.json());
    assertEquals([one.store, one.include, one.input], [false, ["reasoning.encrypted_content"], "One"]);
    assertEquals([two.store, "previous_response_id" in two], [false, false]);
    assertEquals(two.include, ["message.output_text.logprobs", "reasoning.encrypted_content"]);
    assertEquals(two.input.map(({ type, id }: { type: string; id?: string }) => id ?? type), [
      ...["message", "rs_1", "msg_1", "message"],
    ]);
    assertEquals((await stage.call("GET", response.id)).json, response);
  });

  it("is asked again without the reasoning of another one that it cannot decrypt", async () => {
    const sealed = { id: "rs_1", type: "reasoning", summary: [], encrypted_content: "sealed" };
    const error = { error: { message: "No", type: "invalid_request_error", code: "invalid_encrypted_content" } };
    await using stage = await memoryStage(
      (request) =>
        request.body.includes("sealed")
          ? status(400, { json: error })
          : respondWithResponse({ text: "Hi", items: [sealed] }),
      withApi,
    );
    const { json: { id } } = await stage.create({ input: "One" });
    for (const stream of [false, true]) {
      assertEquals((await stage.create({ input: "Two", previous_response_id: id, stream })).status, 200);
    }
    const types = stage.upstream.requests.map((request) =>
      [request.json().input].flat().map((item: { type?: string }) => item.type ?? "text")
    );
    const [all, readable] = [["message", "reasoning", "message", "message"], ["message", "message", "message"]];
    assertEquals(types, [["text"], all, readable, all, readable]);
  });

  it("is asked again without encrypted reasoning, if the model has none", async () => {
    const refusal = {
      error: {
        message: "Encrypted content is not supported with this model.",
        param: "include",
        type: "invalid_request_error",
        code: null,
      },
    };
    await using stage = await memoryStage(
      (request) =>
        request.json().include === undefined ? respondWithResponse({ text: "Hi" }) : status(400, { json: refusal }),
      withApi,
    );
    assertEquals((await stage.create({ input: "One" })).status, 200);
    assertEquals((await stage.create({ input: "Two" })).status, 200);
    assertEquals(stage.upstream.requests.map((request) => "include" in request.json()), [true, false, false]);
  });
});
