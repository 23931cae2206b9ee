/** `/v1/responses` with `background: true`: the work goes on without a connection. */
import { assert, assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { memoryStorage, type RoutingRecord } from "../../mod.ts";
import { fakeClock } from "../../src/runtime/test.ts";
import { happens, until } from "../support/patience.ts";
import { respondWithResponse } from "../support/_responses_behaviours.ts";
import { parseEvents, type ResponseEvent } from "../support/_responses.ts";
import {
  type MemoryOptions,
  type MemoryStage,
  memoryStage,
  readEvents,
  streamed,
} from "../support/_stored_responses.ts";
import { assertMatchesSchema } from "../support/schema.ts";
import {
  type Behaviour,
  completion,
  Gate,
  hang,
  json,
  ok,
  type ReceivedRequest,
  respond,
  status,
  stream,
} from "../support/upstream.ts";

const numbered = ({ number }: ReceivedRequest) =>
  respond({ text: `answer ${number}`, pieces: ["answer ", `${number}`] });

const background = { input: "One", background: true };

/** Responds when a gate is open. */
const hold = (gate: Gate): Behaviour => ({
  async play(exchange) {
    await gate.pass();
    await json({ ...completion({ model: "m" }), created: 1 }).play(exchange);
  },
});

/** Waits until a response has a status. */
async function reaches(stage: MemoryStage, id: string, status: string) {
  // deno-lint-ignore no-explicit-any -- a response
  let json: any;
  await until(async () => (json = (await stage.call("GET", id)).json).status === status, () => JSON.stringify(json));
  return json;
}

/** Two proxies on one storage. */
async function pair(script: Parameters<typeof memoryStage>[0], options: MemoryOptions = {}) {
  const storage = memoryStorage();
  const one = await memoryStage(script, { storage, ...options });
  const other = await memoryStage(script, { storage, ...options });
  return {
    one,
    other,
    async [Symbol.asyncDispose]() {
      await other[Symbol.asyncDispose]();
      await one[Symbol.asyncDispose]();
    },
  };
}

describe("A background response", () => {
  it("is answered at once, and completed without a connection", async () => {
    const gate = new Gate();
    await using stage = await memoryStage(hold(gate));
    const { status, json: queued } = await stage.create(background);
    assertEquals([status, queued.status, queued.background, queued.store, queued.output], [
      200,
      "queued",
      true,
      true,
      [],
    ]);
    assertMatchesSchema("Response", queued);
    const { json: running } = await stage.call("GET", queued.id);
    assertEquals([running.id, running.status], [queued.id, "in_progress"]);
    const { status: refused, json: { error } } = await stage.create({ input: "Two", previous_response_id: queued.id });
    assertEquals([refused, error.param], [400, "previous_response_id"]);
    await stage.upstream.received(1);
    gate.openAll();
    const completed = await reaches(stage, queued.id, "completed");
    assertEquals(completed.created_at, queued.created_at);
    assertEquals([completed.background, completed.previous_response_id], [true, null]);
    assertMatchesSchema("Response", completed);
    assertEquals((await stage.create({ input: "Two", previous_response_id: queued.id })).status, 200);
    assertEquals(stage.messages(2).length, 3);
    assertEquals((await stage.storage.list("response_runners/")).length, 0);
  });

  it("has the record, the client and the usage of a request", async () => {
    const config = { proxy: { auth: { tokens: [{ token: "t-team-0123456789", name: "team", rpm: 1 }] } } };
    await using stage = await memoryStage(numbered, { config });
    const team = stage.as("t-team-0123456789");
    const { json } = await team.create(background);
    await until(async () => (await team.call("GET", json.id)).json.status === "completed");
    const [routing] = stage.proxy.records.filter((record): record is RoutingRecord => record.type === "routing");
    assertEquals([routing!.client, routing!.status, routing!.dialect], ["team", 200, "responses"]);
    const { status, json: { error } } = await team.create(background);
    assertEquals([status, error.code], [429, "rate_limit_exceeded"]);
    assertEquals(stage.upstream.calls, 1);
  });

  it("is rejected at once when the client's budget is spent, unless a model is free of charge", async () => {
    for (const [per_request, expected] of [[1, 429], [0, 200]] as const) {
      const budget = { daily_limit: 1 };
      const config = {
        models: {
          one: { provider: "one", capabilities: ["chat-completion"], pricing: { input: 0, output: 0, per_request } },
        },
        proxy: { auth: { tokens: [{ token: "t-team-0123456789", name: "team", budget }] } },
      };
      await using stage = await memoryStage(numbered, { config });
      const team = stage.as("t-team-0123456789");
      assertEquals((await team.create({ input: "One" })).status, 200);
      const { status, json, headers } = await team.create(background);
      assertEquals([status, json.error?.code], [expected, expected === 429 ? "budget_exceeded" : undefined]);
      assertEquals(headers.has("retry-after"), expected === 429);
    }
  });

  it("is rejected at once for what is wrong with it", async () => {
    await using stage = await memoryStage(numbered);
    const wrong = [
      [{ store: false }, 400, "background"],
      [{ model: "none" }, 404, "model"],
      [{ input: undefined }, 400, "input"],
      [{ temperature: "hot" }, 400, "temperature"],
      [{ background: "yes" }, 400, "background"],
      [{ previous_response_id: "resp_1" }, 404, "previous_response_id"],
    ] as const;
    for (const [body, expected, param] of wrong) {
      const { status, json } = await stage.create({ ...background, ...body });
      assertEquals([status, json.error.param], [expected, param], JSON.stringify(body));
    }
    assertEquals([stage.upstream.calls, await stage.storage.list("responses/")], [0, []]);
  });

  it("fails with the error of its request", async () => {
    await using stage = await memoryStage(status(500));
    for (const stream of [false, true]) {
      const { json, text } = await stage.create({ ...background, stream });
      const id = stream ? parseEvents(text)[0]!.response as { id: string } : json;
      const failed = await reaches(stage, id.id, "failed");
      assertEquals([failed.error.code, failed.output], ["all_attempts_failed", []]);
      if (stream) assertEquals(parseEvents(text).at(-1)!.type, "response.failed");
    }
  });

  it("is cancelled, which aborts the provider's call", async () => {
    await using stage = await memoryStage(hang());
    const { json: { id } } = await stage.create(background);
    const request = await stage.upstream.received(1);
    const { status, json } = await stage.call("POST", `${id}/cancel`);
    assertEquals([status, json.id, json.status], [200, id, "cancelled"]);
    assertMatchesSchema("Response", json);
    await request.closed;
    assertEquals((await stage.call("POST", `${id}/cancel`)).json, json);
    assertEquals((await stage.call("GET", id)).json, json);
    assertEquals((await stage.create({ input: "Two", previous_response_id: id })).status, 400);
    assertEquals((await stage.call("POST", `${id.replace(/.$/, "g")}/cancel`)).status, 404);
  });

  it("is not cancelled when it is synchronous, or over", async () => {
    await using stage = await memoryStage(numbered);
    const { json: { id } } = await stage.create({ input: "One" });
    const { status, json } = await stage.call("POST", `${id}/cancel`);
    assertEquals([status, json.error.type], [400, "invalid_request_error"]);
    const { json: { id: over } } = await stage.create(background);
    const completed = await reaches(stage, over, "completed");
    assertEquals((await stage.call("POST", `${over}/cancel`)).json, completed);
  });

  it("can be retrieved and cancelled while it has the last slot of the proxy", async () => {
    await using stage = await memoryStage(hang(), { config: { proxy: { max_concurrent: 1 } } });
    const { json: { id } } = await stage.create(background);
    assertEquals((await stage.create(background)).json.error.code, "overloaded");
    assertEquals((await stage.call("GET", id)).status, 200);
    assertEquals((await stage.call("POST", `${id}/cancel`)).json.status, "cancelled");
    const { status, json } = await stage.create(background);
    assertEquals(status, 200);
    await stage.call("DELETE", json.id);
  });

  it("is deleted while it runs, which aborts the provider's call and leaves nothing", async () => {
    const gate = new Gate();
    for (const stream_ of [false, true]) {
      await using stage = await memoryStage(stream_ ? stream({ pieces: ["a", "b"], gate }) : hang());
      gate.open(2);
      let id = "";
      let events: Promise<ResponseEvent[]> = Promise.resolve([]);
      if (stream_) {
        const [created] = await readEvents(stage.proxy.url, "", { init: streamed(background), count: 1 });
        id = (created!.response as { id: string }).id;
        events = readEvents(stage.proxy.url, `/${id}?stream=true`);
      } else id = (await stage.create(background)).json.id;
      const request = await stage.upstream.received(1);
      assertEquals((await stage.call("DELETE", id)).json, { id, object: "response", deleted: true });
      await request.closed;
      assertEquals((await stage.call("GET", id)).status, 404);
      if (stream_) assertEquals((await events).at(-1)!.type, "response.failed");
      await until(async () => (await stage.storage.list("response")).length === 0);
    }
  });

  it("ends with the proxy, as failed", async () => {
    const storage = memoryStorage();
    const stage = await memoryStage(hang(), { storage });
    const { json: { id } } = await stage.create(background);
    await stage.upstream.received(1);
    await stage[Symbol.asyncDispose]();
    await using next = await memoryStage(numbered, { storage });
    const { json } = await next.call("GET", id);
    assertEquals([json.status, json.error.code], ["failed", "server_error"]);
    assert(/stopped/.test(json.error.message), json.error.message);
    assertEquals(next.upstream.calls, 0);
  });
});

describe("A background response that is streamed", () => {
  it("fails as interrupted if the provider's last event has no response, or one of another status", async () => {
    for (const last of [{}, { response: null }, { response: { id: "resp_1", status: "queued", output: [] } }]) {
      const script = respondWithResponse({ text: "Hi", last: { type: "response.completed", ...last } });
      await using stage = await memoryStage(script, { provider: { config: { responses: true } } });
      const { text } = await stage.create({ input: "Hi", background: true, stream: true });
      const { json } = await stage.call("GET", /resp_mesh_\w+/.exec(text)![0]);
      assertEquals([json.status, json.error.code], ["failed", "stream_interrupted"]);
      assertEquals(stage.traces.filter((trace) => trace.startsWith("error")), []);
    }
  });

  it("is resumed at every event, with exactly those that are missing", async () => {
    await using stage = await memoryStage(stream({ pieces: ["a", "b", "c"] }));
    const { text } = await stage.create({ ...background, stream: true });
    const events = parseEvents(text);
    assertEquals(events.slice(0, 3).map(({ type }) => type), [
      "response.created",
      "response.in_progress",
      "response.output_item.added",
    ]);
    assertEquals(events.at(-1)!.type, "response.completed");
    const { id } = events[0]!.response as { id: string };
    for (const { response } of events) if (response !== undefined) assertEquals((response as { id: string }).id, id);
    assertEquals(await readEvents(stage.proxy.url, `/${id}?stream=true`), events);
    for (const { sequence_number: after } of events) {
      const missing = await readEvents(stage.proxy.url, `/${id}?stream=true&starting_after=${after}`);
      assertEquals(missing, events.slice(after + 1), String(after));
    }
    assertEquals(await readEvents(stage.proxy.url, `/${id}?stream=true&starting_after=99`), []);
    assertEquals((await stage.call("GET", id)).json, events.at(-1)!.response);
    for (const key of await stage.storage.list("response")) { // storages take other records for other formats
      assertEquals(new TextDecoder().decode(await stage.storage.load(key))[0], "{", key);
    }
  });

  it("goes on when its client leaves, and is followed by others, also at another proxy", async () => {
    const gate = new Gate();
    const clock = fakeClock();
    await using both = await pair(stream({ pieces: ["a", "b", "c"], gate }), { clock });
    const { one, other } = both;
    gate.open(3);
    const first = await readEvents(one.proxy.url, "", { init: streamed(background), count: 5 });
    const { id } = first[0]!.response as { id: string };
    const here = readEvents(one.proxy.url, `/${id}?stream=true&starting_after=1`);
    const there = readEvents(other.proxy.url, `/${id}?stream=true&starting_after=3`);
    let isOver = false;
    const time = (async () => {
      while (!isOver) {
        await clock.advance(500);
        await new Promise((resolve) => setTimeout(resolve, 2));
      }
    })();
    gate.openAll();
    const [remaining, elsewhere] = await Promise.all([here, there]);
    isOver = true;
    await time;
    const all = await readEvents(one.proxy.url, `/${id}?stream=true`);
    assertEquals(remaining, all.slice(2));
    assertEquals(elsewhere, all.slice(4));
    assertEquals(first.slice(0, 5), all.slice(0, 5));
    assertEquals([all.at(-1)!.type, one.upstream.calls + other.upstream.calls], ["response.completed", 1]);
  });

  it("is cancelled and deleted at another proxy", async () => {
    for (const [method, path, status] of [["POST", "/cancel", "cancelled"], ["DELETE", "", undefined]] as const) {
      const gate = new Gate();
      const clock = fakeClock();
      await using both = await pair(stream({ pieces: ["a", "b", "c"], gate }), { clock });
      const { one, other } = both;
      gate.open(3);
      const [created] = await readEvents(one.proxy.url, "", { init: streamed(background), count: 4 });
      const { id } = created!.response as { id: string };
      const followed = readEvents(one.proxy.url, `/${id}?stream=true`);
      const request = await one.upstream.received(1);
      const { status: done, json } = await other.call(method, id + path);
      assertEquals([done, json.status], [200, status]);
      await clock.advance(1_000); // far from any timeout
      await happens("the call is aborted", request.closed);
      assertEquals((await followed).at(-1)!.type, status === undefined ? "response.failed" : "response.incomplete");
      assertEquals((await one.call("GET", id)).json?.status, status);
    }
  });

  it("has failed once its process is gone, with an event that follows all others", async () => {
    const gate = new Gate();
    const clock = fakeClock();
    const storage = memoryStorage();
    await using one = await memoryStage(stream({ pieces: ["a", "b", "c"], gate }), { clock, storage });
    await using other = await memoryStage(numbered, { clock, storage });
    gate.open(3);
    const seen = await readEvents(one.proxy.url, "", { init: streamed(background), count: 5 });
    const { id } = seen[0]!.response as { id: string };
    await clock.advance(1_000);
    const { save } = storage;
    storage.save = (key, data) =>
      key.startsWith("response_runners/") ? Promise.reject(new Error("gone")) : save.call(storage, key, data);
    assertEquals((await other.call("GET", id)).json.status, "in_progress");
    await clock.advance(15_000);
    const { json } = await other.call("GET", id);
    assertEquals([json.status, json.error.code], ["failed", "server_error"]);
    const all = await readEvents(other.proxy.url, `/${id}?stream=true`);
    assertEquals(all.slice(0, -1), seen.slice(0, all.length - 1));
    assertEquals([all.at(-1)!.type, all.at(-1)!.response], ["response.failed", json]);
    assertEquals(
      (await readEvents(other.proxy.url, `/${id}?stream=true&starting_after=40`)).map((
        { type, sequence_number },
      ) => [type, sequence_number]),
      [
        ["response.failed", 41],
      ],
    );
    storage.save = save;
    gate.openAll();
    await clock.advance(2_000);
    assertEquals((await one.call("GET", id)).json, json);
    assertEquals(other.upstream.calls, 0);
  });

  it("is streamed again only if it was created so, and with valid parameters", async () => {
    await using stage = await memoryStage(ok());
    const { json: { id } } = await stage.create(background);
    const { json: { id: plain } } = await stage.create({ input: "One" });
    const wrong = [
      [`${id}?stream=true`, "stream"],
      [`${plain}?stream=true`, "stream"],
      [`${id}?stream=yes`, "stream"],
      [`${id}?stream=true&starting_after=x`, "starting_after"],
      [`${id}?stream=true&starting_after=-1`, "starting_after"],
      [`${id}?starting_after=1.5`, "starting_after"],
    ] as const;
    for (const [path, param] of wrong) {
      const { status, json } = await stage.call("GET", path);
      assertEquals([status, json.error.param], [400, param], path);
    }
    assertEquals((await stage.call("GET", `${id}?stream=false`)).status, 200);
    assertEquals((await stage.call("GET", `${id}/cancel`)).status, 405);
  });
});
