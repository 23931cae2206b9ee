import { assertEquals, assertMatch, assertNotEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import type { MeshEvent, RoutingRecord } from "../../../mod.ts";
import { memoryStorage, stateIn } from "../../../mod.ts";
import { ask, fileForm, type ObjectStage, objectStage, requestLines } from "../../support/_objects.ts";
import { settle } from "../../../src/runtime/test.ts";
import { until } from "../../support/patience.ts";
import type { TestProxy } from "../../support/proxy.ts";

const endpoint = "/v1/chat/completions";

async function uploaded(proxy: TestProxy, lines = requestLines(4), token?: string): Promise<string> {
  return (await ask(proxy, "files", { body: fileForm(lines), token })).json.id;
}

async function submitted(proxy: TestProxy, lines?: string, token?: string) {
  const input_file_id = await uploaded(proxy, lines, token);
  return await ask(proxy, "batches", { json: { input_file_id, endpoint, completion_window: "24h" }, token });
}

function listRecords({ records }: TestProxy): RoutingRecord[] {
  return records.filter((record): record is RoutingRecord => record.type === "routing");
}

function readEvents({ records }: TestProxy): MeshEvent[] {
  return records.filter((record): record is MeshEvent => record.type === "event" && record.event === "batch");
}

/** Moves all of a vendor's batches. */
function move({ vendors }: ObjectStage, status: string, name = "a"): void {
  for (const id of vendors[name]!.batches.keys()) vendors[name]!.move(id, status);
}

describe("A batch", () => {
  it("is made where its file is, and goes through the states of its provider", async () => {
    await using stage = await objectStage();
    const { proxy, vendors: { a } } = stage;
    const input_file_id = await uploaded(proxy);
    const json = { input_file_id, endpoint, completion_window: "24h", metadata: { job: "7" } };
    const made = await ask(proxy, "batches", { json });
    assertEquals(made.status, 200, JSON.stringify(made.json));
    const { id } = made.json;
    assertEquals([made.json.status, made.json.input_file_id, made.json.metadata], ["validating", input_file_id, {
      job: "7",
    }]);
    assertEquals([made.headers.get("x-mesh-model"), made.headers.get("x-mesh-provider")], ["a", "a"]);
    assertEquals(a!.latest, { ...json, input_file_id: [...a!.files.keys()][0] });
    for (const status of ["in_progress", "finalizing"]) {
      move(stage, status);
      assertEquals((await ask(proxy, `batches/${id}`)).json.status, status);
    }
    assertEquals(listRecords(proxy), []);
    move(stage, "completed");
    const done = (await ask(proxy, `batches/${id}`)).json;
    assertEquals([done.status, done.input_file_id, done.request_counts.completed], ["completed", input_file_id, 4]);
    assertNotEquals(done.output_file_id, [...a!.batches.values()][0]!.output_file_id);
    const results = (await ask(proxy, `files/${done.output_file_id}/content`)).json as string;
    const ids = results.trim().split("\n").map((line) => JSON.parse(line).custom_id);
    assertEquals(ids, ["request-1", "request-2", "request-3", "request-4"]);
    assertEquals((await ask(proxy, "batches")).json.data, [done]);
  });

  it("has one record, with its tokens and its price, when it is over", async () => {
    await using stage = await objectStage(["a"], { model: { batch: { cost_discount: 0.5 } } });
    const { proxy } = stage;
    const { json: { id } } = await submitted(proxy);
    move(stage, "completed");
    await ask(proxy, `batches/${id}`);
    await ask(proxy, `batches/${id}`);
    const [record, ...others] = listRecords(proxy);
    assertEquals(others, []);
    const { pool, model, provider, delivery, status, tokens_in, tokens_out, cost_usd, attempts } = record!;
    assertEquals([pool, model, provider, delivery, status, attempts], ["chat", "a", "a", "batch", 200, 1]);
    // four times 10 tokens at 1 USD and 5 at 2 USD a million, at half the price
    assertEquals([tokens_in, tokens_out, cost_usd], [40, 20, 0.00004]);
  });

  for (const status of ["failed", "expired", "cancelled"]) {
    it(`that is ${status} is over, with what there is of it`, async () => {
      await using stage = await objectStage();
      const { proxy } = stage;
      const { json: { id } } = await submitted(proxy);
      move(stage, status);
      const { json } = await ask(proxy, `batches/${id}`);
      assertEquals([json.status, json.output_file_id === null], [status, status === "failed"]);
      assertEquals(listRecords(proxy).map(({ tokens_out }) => tokens_out), [status === "failed" ? 0 : 10]);
      if (status === "failed") assertEquals(json.errors.data[0].code, "token_limit_exceeded");
    });
  }

  it("is cancelled", async () => {
    await using stage = await objectStage();
    const { proxy } = stage;
    const { json: { id } } = await submitted(proxy);
    assertEquals((await ask(proxy, `batches/${id}/cancel`, { method: "POST" })).json.status, "cancelling");
    move(stage, "cancelled");
    assertEquals((await ask(proxy, `batches/${id}`)).json.status, "cancelled");
    const again = await ask(proxy, `batches/${id}/cancel`, { method: "POST" });
    assertEquals(again.status, 409);
    assertMatch(again.json.error.message, /Cannot cancel/);
  });

  it("has ids of calls that its model accepts, and the client's names of tools, since results are not changed", async () => {
    const parameters = {
      tool_names: { characters: "word" },
      tool_call_ids: { characters: "alphanumeric", min_length: 9, max_length: 9 },
    };
    await using stage = await objectStage(["a"], { model: { parameters } });
    const { proxy, vendors: { a } } = stage;
    const tools = [{ type: "function", function: { name: "fs.read" } }];
    const call = { id: "functions.fs.read:0", type: "function", function: { name: "fs.read", arguments: "{}" } };
    const messages = [
      { role: "user", content: "Read a" },
      { role: "assistant", content: null, tool_calls: [call] },
      { role: "tool", tool_call_id: call.id, content: "of a" },
    ];
    assertEquals((await submitted(proxy, requestLines(1, { tools, messages }))).status, 200);
    const { body } = JSON.parse([...a!.files.values()].at(-1)!.text);
    const { id, function: { name } } = body.messages[1].tool_calls[0];
    assertEquals([body.tools, name, body.messages[2].tool_call_id], [tools, "fs.read", id]);
    assertMatch(id, /^[a-zA-Z0-9]{9}$/);
  });

  it("that was cut is one: its states, counts and results are those of its parts", async () => {
    await using stage = await objectStage(["a"], { model: { batch: { max_items: 2 } } });
    const { proxy, vendors: { a } } = stage;
    const { json: { id, status } } = await submitted(proxy, requestLines(5));
    assertEquals([status, a!.batches.size], ["validating", 3]);
    const [one, two, three] = [...a!.batches.keys()];
    const seen = async () => (await ask(proxy, `batches/${id}`)).json;
    a!.move(one!, "in_progress");
    assertEquals((await seen()).status, "in_progress");
    a!.move(one!, "completed");
    const early = await seen();
    assertEquals([early.status, early.request_counts.completed, early.output_file_id], ["in_progress", 2, null]);
    a!.move(two!, "completed");
    a!.move(three!, "finalizing");
    assertEquals((await seen()).status, "finalizing");
    a!.move(three!, "completed");
    const done = await seen();
    assertEquals([done.status, done.request_counts], ["completed", { total: 5, completed: 5, failed: 0 }]);
    const results = (await ask(proxy, `files/${done.output_file_id}/content`)).json as string;
    assertEquals(results.trim().split("\n").length, 5);
    assertEquals(listRecords(proxy).map(({ attempts, tokens_in }) => [attempts, tokens_in]), [[3, 50]]);
  });

  it("that was cut shows early results where the model has partial ones", async () => {
    await using stage = await objectStage(["a"], { model: { batch: { max_items: 2, partial_results: true } } });
    const { proxy, vendors: { a } } = stage;
    const { json: { id } } = await submitted(proxy, requestLines(4));
    a!.move([...a!.batches.keys()][0]!, "completed");
    const { json } = await ask(proxy, `batches/${id}`);
    assertEquals(json.status, "in_progress");
    const results = (await ask(proxy, `files/${json.output_file_id}/content`)).json as string;
    assertEquals(results.trim().split("\n").length, 2);
  });

  it("that was cut is cancelled as far as it is not over", async () => {
    await using stage = await objectStage(["a"], { model: { batch: { max_items: 2 } } });
    const { proxy, vendors: { a } } = stage;
    const { json: { id } } = await submitted(proxy, requestLines(4));
    const [one, two] = [...a!.batches.keys()];
    a!.move(one!, "completed");
    assertEquals((await ask(proxy, `batches/${id}/cancel`, { method: "POST" })).json.status, "cancelling");
    assertEquals(a!.batches.get(two!)!.status, "cancelling");
    a!.move(two!, "cancelled");
    const { json } = await ask(proxy, `batches/${id}`);
    assertEquals([json.status, json.request_counts.completed], ["cancelled", 3]);
    assertEquals((await ask(proxy, `batches/${id}/cancel`, { method: "POST" })).status, 409);
  });

  it("has the window that its model takes, and none that is shorter", async () => {
    await using stage = await objectStage(["a"], { model: { batch: { completion_window: "48h" } } });
    const { proxy, vendors: { a } } = stage;
    const input_file_id = await uploaded(proxy);
    const open = await ask(proxy, "batches", { json: { input_file_id, endpoint } });
    assertEquals([open.status, a!.latest!.completion_window], [200, "2d"]);
    const short = await ask(proxy, "batches", { json: { input_file_id, endpoint, completion_window: "24h" } });
    assertEquals([short.status, short.json.error.param], [400, "completion_window"]);
    const wrong = await ask(proxy, "batches", { json: { input_file_id, endpoint, completion_window: "soon" } });
    assertEquals([wrong.status, wrong.json.error.code], [400, "invalid_value"]);
  });
});

describe("The money of a batch", () => {
  const tokens = [{ token: "token-of-one-0123456789", name: "one", budget: { daily_limit: 0.0001 } }];

  it("is reserved at the batch's price when it is made, and settled when it is over", async () => {
    await using stage = await objectStage(["a"], {
      model: { batch: { cost_discount: 0.5 } },
      budget: { daily_limit: 0.003 },
    });
    const { proxy } = stage;
    const budget = async () => (await (await fetch(`${proxy.url}/mesh/status`)).json()).budgets[0];
    // 1 000 tokens of output each at 2 USD a million: 0.004 USD, and a little input, at half the price
    const { json: { id } } = await submitted(proxy, requestLines(2, { max_tokens: 1000 }));
    const reserved = (await budget()).reserved_usd;
    assertEquals([reserved > 0.002, reserved < 0.0021], [true, true]);
    const refused = await submitted(proxy, requestLines(2, { max_tokens: 1000 }));
    assertEquals([refused.status, refused.json.error.code], [429, "budget_exceeded"]);
    assertMatch(refused.json.error.message, /budget is too small/);
    move(stage, "completed");
    await ask(proxy, `batches/${id}`);
    const { reserved_usd, spent_usd } = await budget();
    assertEquals([reserved_usd, spent_usd], [0, 0.00002]);
    assertEquals((await submitted(proxy, requestLines(2, { max_tokens: 1000 }))).status, 200);
  });

  it("is announced where it reaches a step of a budget, as that of a request is", async () => {
    await using stage = await objectStage(["a"], { budget: { daily_limit: 0.003 } });
    const { proxy } = stage;
    const { json: { id } } = await submitted(proxy, requestLines(100, { max_tokens: 5 }));
    const steps = () =>
      proxy.records.flatMap((record) =>
        record.type === "event" && record.event === "budget" ? [record.metadata.step] : []
      );
    assertEquals(steps(), []);
    move(stage, "completed");
    await ask(proxy, `batches/${id}`); // 100 times 10 tokens at 1 USD and 5 at 2 USD a million: 0.002 USD
    assertEquals(steps(), [0.5]);
  });

  it("has to fit the client's own budget, and is given back when the batch is refused", async () => {
    await using stage = await objectStage(["a"], { proxy: { auth: { tokens } } });
    const { proxy, vendors: { a } } = stage;
    const { token } = tokens[0]!;
    const dear = await submitted(proxy, requestLines(1, { max_tokens: 100_000 }), token);
    assertEquals([dear.status, dear.json.error.code], [429, "budget_exceeded"]);
    a!.instead = (method, path) =>
      method === "POST" && path === "batches" ? { status: 400, body: { error: { message: "too many" } } } : undefined;
    for (let turn = 0; turn < 5; turn++) {
      const refused = await submitted(proxy, requestLines(1, { max_tokens: 40 }), token);
      assertEquals([refused.status, refused.json.error.message], [400, "too many"]);
    }
    assertEquals(listRecords(proxy).map(({ status, delivery, client }) => [status, delivery, client])[0], [
      400,
      "batch",
      "one",
    ]);
  });

  it("counts as reserved, and the batch is not repeated, when its response never comes", async () => {
    await using stage = await objectStage(["a"], { budget: { daily_limit: 1 } });
    const { proxy, vendors: { a } } = stage;
    a!.instead = (method, path) => method === "POST" && path === "batches" ? { status: 200, cut: true } : undefined;
    const lost = await submitted(proxy, requestLines(1, { max_tokens: 1000 }));
    assertEquals([lost.status, lost.headers.get("x-should-retry")], [502, "false"]);
    assertMatch(lost.json.error.message, /may have been carried out, so it was not retried/);
    assertEquals(a!.requests.filter((one) => one === "POST /v1/batches").length, 1);
    assertEquals(listRecords(proxy).map(({ possibly_billed }) => possibly_billed), [true]);
    const { budgets: [budget] } = await (await fetch(`${proxy.url}/mesh/status`)).json();
    assertEquals([budget.reserved_usd, budget.spent_usd > 0.002], [0, true]);
  });

  it("is settled as reserved for parts that were made before one was refused, and these are cancelled", async () => {
    await using stage = await objectStage(["a"], { model: { batch: { max_items: 1 } } });
    const { proxy, vendors: { a } } = stage;
    let made = 0;
    a!.instead = (method, path) =>
      method === "POST" && path === "batches" && ++made === 3
        ? { status: 500, body: { error: { message: "no" } } }
        : undefined;
    assertEquals((await submitted(proxy, requestLines(4))).status, 502);
    assertEquals([...a!.batches.values()].map(({ status }) => status), ["cancelling", "cancelling"]);
    assertEquals((await ask(proxy, "batches")).json.data, []);
  });
});

describe("The end of a batch", () => {
  const batch = { callback: true };

  it("is noticed without a client, and announced once, where the model says so", async () => {
    await using stage = await objectStage(["a"], { model: { batch } });
    const { proxy, vendors: { a } } = stage;
    const { json: { id } } = await submitted(proxy);
    await proxy.clock.advance(60_000);
    await until(() => a!.requests.filter((one) => one.startsWith("GET /v1/batches/")).length === 1);
    move(stage, "completed");
    await until(() => proxy.clock.advance(60_000).then(() => readEvents(proxy).length === 1)); // the first look may last
    const [{ pool, model, to, metadata }] = readEvents(proxy) as [MeshEvent];
    assertEquals([pool, model, to, metadata.id], ["chat", "a", "completed", id]);
    assertEquals(listRecords(proxy).length, 1);
    await proxy.clock.advance(180_000);
    await settle();
    assertEquals([readEvents(proxy).length, listRecords(proxy).length], [1, 1]);
  });

  it("is not asked for in the background where the model does not say so", async () => {
    await using stage = await objectStage(["a"], { model: { batch: { polling: false } } });
    const { proxy, vendors: { a } } = stage;
    await submitted(proxy);
    const calls = a!.requests.length;
    await proxy.clock.advance(600_000);
    await settle();
    assertEquals(a!.requests.length, calls);
  });

  it("is noticed after a restart, and settled once, on the storage that both know", async () => {
    await using stage = await objectStage(["a"], { model: { batch }, budget: { daily_limit: 1 } });
    const storage = stateIn(memoryStorage());
    const first = await stage.another({}, { storage });
    const { json: { id } } = await submitted(first);
    await stage.close(first);
    const second = await stage.another({}, { storage });
    move(stage, "completed");
    await second.clock.advance(60_000);
    await until(() => readEvents(second).length === 1);
    assertEquals((await ask(second, "batches")).json.data.map((one: { id: string }) => one.id), [id]);
    assertEquals((await ask(second, `batches/${id}`)).json.status, "completed");
    assertEquals(listRecords(second).length, 1);
  });
});

describe("A batch is refused", () => {
  const tokens = ["one", "two"].map((name) => ({ token: `token-of-${name}-0123456789`, name }));
  const [one, two] = tokens.map(({ token }) => token);

  it("of another client's file, an unknown one, one that is none of requests, or another endpoint", async () => {
    await using stage = await objectStage(["a"], { proxy: { auth: { tokens } } });
    const { proxy, vendors: { a } } = stage;
    const id = await uploaded(proxy, requestLines(1), one);
    const { json: { id: notes } } = await ask(proxy, "files", {
      body: fileForm("x", { purpose: "vision" }),
      token: one,
    });
    const cases: [json: object, token: string | undefined, status: number, message: RegExp][] = [
      [{ input_file_id: id, endpoint }, two, 404, /^There is no file/],
      [{ input_file_id: "file-x", endpoint }, one, 404, /^There is no file/],
      [{ input_file_id: notes, endpoint }, one, 400, /purpose "batch"/],
      [{ input_file_id: id, endpoint: "/v1/embeddings" }, one, 400, /"\/v1\/chat\/completions"/],
      [{ endpoint }, one, 400, /"input_file_id" is missing/],
      [{ input_file_id: id }, one, 400, /"endpoint" is missing/],
      [{ input_file_id: 7, endpoint }, one, 400, /string/],
      [[], one, 400, /JSON object/],
    ];
    for (const [json, token, status, message] of cases) {
      const answer = await ask(proxy, "batches", { json, token });
      assertEquals(answer.status, status, JSON.stringify(answer.json));
      assertMatch(answer.json.error.message, message);
    }
    assertEquals(a!.batches.size, 0);
    const { json: { id: batch } } = await submitted(proxy, requestLines(1), one);
    for (const path of [`batches/${batch}`, "batches/batch_x"]) {
      assertEquals((await ask(proxy, path, { token: two })).status, 404);
      assertEquals((await ask(proxy, `${path}/cancel`, { token: two, method: "POST" })).status, 404);
    }
    assertEquals((await ask(proxy, "batches", { token: two })).json.data, []);
    assertEquals((await ask(proxy, "batches?limit=101", { token: one })).status, 400);
  });
});
