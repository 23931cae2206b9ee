/** OpenAI's own package: files, batches and fine-tuning jobs through the proxy. */
import { assertEquals, assertInstanceOf, assertRejects } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import OpenAI, { toFile } from "openai";
import { objectStage, requestLines } from "../support/_objects.ts";

describe("The openai package", () => {
  it("uploads, lists, reads and deletes files", async () => {
    await using stage = await objectStage();
    const client = new OpenAI({ baseURL: `${stage.proxy.url}/v1`, apiKey: "any" });
    const text = "some notes ".repeat(20_000);
    // the file comes before its purpose, as in the package's own examples
    const file = await client.files.create({
      file: await toFile(new TextEncoder().encode(text), "n.txt"),
      purpose: "user_data",
    });
    assertEquals([file.object, file.bytes, file.filename, file.purpose], ["file", text.length, "n.txt", "user_data"]);
    assertEquals((await client.files.retrieve(file.id)).id, file.id);
    assertEquals(await (await client.files.content(file.id)).text(), text);
    for (let index = 0; index < 3; index++) {
      await client.files.create({ purpose: "vision", file: new File(["x"], `${index}`) });
    }
    const names: string[] = [];
    for await (const one of client.files.list({ limit: 2 })) names.push(one.filename);
    assertEquals(names.sort(), ["0", "1", "2", "n.txt"]);
    assertEquals((await client.files.delete(file.id)).deleted, true);
    const gone = await assertRejects(() => client.files.retrieve(file.id), OpenAI.NotFoundError);
    assertEquals(gone.status, 404);
  });

  it("makes batches", async () => {
    await using stage = await objectStage(["a"], { model: { batch: { max_items: 2 } } });
    const { proxy, vendors: { a } } = stage;
    const client = new OpenAI({ baseURL: `${proxy.url}/v1`, apiKey: "any" });
    const input = await client.files.create({ file: new File([requestLines(3)], "r.jsonl"), purpose: "batch" });
    const batch = await client.batches.create({
      input_file_id: input.id,
      endpoint: "/v1/chat/completions",
      completion_window: "24h",
      metadata: { job: "7" },
    });
    assertEquals([batch.status, batch.input_file_id, batch.metadata], ["validating", input.id, { job: "7" }]);
    for (const id of a!.batches.keys()) a!.move(id, "completed");
    const done = await client.batches.retrieve(batch.id);
    assertEquals([done.status, done.request_counts?.completed], ["completed", 3]);
    const results = await (await client.files.content(done.output_file_id!)).text();
    assertEquals(results.trim().split("\n").length, 3);
    const ids: string[] = [];
    for await (const one of client.batches.list({ limit: 1 })) ids.push(one.id);
    assertEquals(ids, [batch.id]);
    const conflict = await assertRejects(() => client.batches.cancel(batch.id), OpenAI.ConflictError);
    assertEquals(conflict.status, 409);
  });

  it("says which line is broken", async () => {
    await using stage = await objectStage();
    const client = new OpenAI({ baseURL: `${stage.proxy.url}/v1`, apiKey: "any", maxRetries: 0 });
    const file = new File([`${requestLines(1)}{broken`], "r.jsonl");
    const error = await assertRejects(() => client.files.create({ file, purpose: "batch" }), OpenAI.BadRequestError);
    assertInstanceOf(error, OpenAI.BadRequestError);
    assertEquals([error.param, error.code, /Line 2/.test(error.message)], ["file", "invalid_value", true]);
  });

  it("tunes models", async () => {
    await using stage = await objectStage();
    const client = new OpenAI({ baseURL: `${stage.proxy.url}/v1`, apiKey: "any" });
    const training = await client.files.create({
      file: new File(['{"messages":[]}\n'], "t.jsonl"),
      purpose: "fine-tune",
    });
    const job = await client.fineTuning.jobs.create({ model: "chat", training_file: training.id });
    assertEquals([job.status, job.training_file], ["validating_files", training.id]);
    assertEquals((await client.fineTuning.jobs.retrieve(job.id)).id, job.id);
    assertEquals((await client.fineTuning.jobs.listEvents(job.id)).data.length, 1);
    assertEquals((await client.fineTuning.jobs.list()).data.map(({ id }) => id), [job.id]);
    assertEquals((await client.fineTuning.jobs.cancel(job.id)).status, "cancelled");
  });
});
