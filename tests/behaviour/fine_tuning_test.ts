import { assertEquals, assertMatch } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { ask, fileForm, objectStage } from "../support/_objects.ts";
import type { TestProxy } from "../support/proxy.ts";

const examples = '{"messages":[]}\n{"messages":[]}\n';

async function training(proxy: TestProxy, headers: Record<string, string> = {}): Promise<string> {
  const body = fileForm(examples, { purpose: "fine-tune" }, { name: "train.jsonl" });
  return (await ask(proxy, "files", { body, headers })).json.id;
}

describe("A fine-tuning job", () => {
  it("is made where its training file is, and asked for by its id", async () => {
    await using stage = await objectStage();
    const { proxy, vendors: { a } } = stage;
    const training_file = await training(proxy);
    const validation_file = await training(proxy);
    const json = { model: "chat", training_file, validation_file, suffix: "mine", seed: 7 };
    const made = await ask(proxy, "fine_tuning/jobs", { json });
    assertEquals(made.status, 200, JSON.stringify(made.json));
    const { id, status } = made.json;
    assertEquals([status, made.json.training_file, made.json.validation_file], [
      "validating_files",
      training_file,
      validation_file,
    ]);
    const [first, second] = [...a!.files.keys()];
    assertEquals(a!.latest, { model: "a-1", training_file: first, validation_file: second, suffix: "mine", seed: 7 });
    const [job] = [...a!.jobs.values()];
    Object.assign(job!, { status: "succeeded", fine_tuned_model: "ft:a-1:mine", result_files: [first] });
    const done = (await ask(proxy, `fine_tuning/jobs/${id}`)).json;
    assertEquals([done.status, done.fine_tuned_model, done.training_file], ["succeeded", "ft:a-1:mine", training_file]);
    assertEquals((await ask(proxy, `files/${done.result_files[0]}/content`)).json, examples);
    assertEquals((await ask(proxy, "fine_tuning/jobs")).json.data, [done]);
    const events = await ask(proxy, `fine_tuning/jobs/${id}/events?limit=2`);
    assertEquals([events.status, events.json.data[0].message], [200, "Created"]);
    assertMatch(a!.requests.at(-1)!, /\/events\?limit=2$/);
    assertEquals((await ask(proxy, `fine_tuning/jobs/${id}/checkpoints`)).status, 200);
  });

  it("is paused, resumed and cancelled", async () => {
    await using stage = await objectStage();
    const { proxy } = stage;
    const json = { model: "chat", training_file: await training(proxy) };
    const { json: { id } } = await ask(proxy, "fine_tuning/jobs", { json });
    for (const [action, status] of [["pause", "paused"], ["resume", "queued"], ["cancel", "cancelled"]]) {
      const { json } = await ask(proxy, `fine_tuning/jobs/${id}/${action}`, { method: "POST" });
      assertEquals([json.id, json.status], [id, status]);
    }
  });

  it("is refused for another provider's model or file, and where no provider tunes models", async () => {
    await using stage = await objectStage(["a", "b"], {
      pools: { chat: { models: ["a"] }, second: { models: ["b"] } },
    });
    const { proxy } = stage;
    const training_file = await training(proxy);
    const elsewhere = await training(proxy, { "x-mesh-pool": "second" });
    const cases: [json: object, status: number, message: RegExp][] = [
      [{ model: "second", training_file }, 400, /fine-tuned at the provider "a"/],
      [{ model: "chat", training_file, validation_file: elsewhere }, 400, /another provider/],
      [{ model: "nothing", training_file }, 404, /does not exist/],
      [{ model: "chat" }, 400, /"training_file" is missing/],
      [{ training_file }, 400, /"model" is missing/],
      [{ model: "chat", training_file: "file-x" }, 404, /There is no file/],
    ];
    for (const [json, status, message] of cases) {
      const answer = await ask(proxy, "fine_tuning/jobs", { json });
      assertEquals(answer.status, status, JSON.stringify(answer.json));
      assertMatch(answer.json.error.message, message);
    }
    assertEquals((await ask(proxy, "fine_tuning/jobs/ftjob-x")).status, 404);
    await using none = await objectStage(["a"], { provider: { fine_tuning: { supported: false } } });
    const refused = await ask(none.proxy, "files", { body: fileForm(examples, { purpose: "fine-tune" }) });
    assertEquals(refused.status, 400);
    assertMatch(refused.json.error.message, /fine_tuning\.supported: true/);
  });

  it("has the result files that its provider lists, and none where the list is something else", async () => {
    await using stage = await objectStage();
    const { proxy, vendors: { a } } = stage;
    const file = await ask(proxy, "files", { body: fileForm(examples, { purpose: "fine-tune" }) });
    const { json: { id } } = await ask(proxy, "fine_tuning/jobs", {
      json: { model: "chat", training_file: file.json.id },
    });
    const lists: readonly (readonly [unknown, number])[] = [
      [["file-8", "file-9"], 2],
      [["file-8", null, 7, {}], 1],
      ["file-8", 0],
      [{ 0: "file-8" }, 0],
      [1e308, 0],
      [null, 0],
    ];
    for (const [result_files, count] of lists) {
      a!.jobs.values().next().value!.result_files = result_files;
      const { status, json } = await ask(proxy, `fine_tuning/jobs/${id}`);
      assertEquals([status, json.result_files?.length], [200, count], JSON.stringify(result_files));
    }
  });

  it("goes to a model that can be tuned", async () => {
    await using stage = await objectStage(["a"], { model: { features: { fine_tunable: false } } });
    const refused = await ask(stage.proxy, "files", { body: fileForm(examples, { purpose: "fine-tune" }) });
    assertEquals([refused.status, refused.json.error.code], [400, "unsupported_by_pool"]);
  });
});
