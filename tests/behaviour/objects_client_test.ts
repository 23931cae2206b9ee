import { assertEquals, assertRejects } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { create, ObjectNotFoundError, UnsupportedRequestError } from "../../mod.ts";
import { testConfig } from "../support/proxy.ts";
import { everything, requestLines } from "../support/_objects.ts";
import { type ObjectVendor, startObjectVendor } from "../support/vendors/openai_objects.ts";

function createClient({ url }: ObjectVendor, options: object = {}) {
  const config = testConfig({ upstreams: { a: url }, provider: everything });
  return create({ config, ...options });
}

describe("The library", () => {
  it("uploads, lists, reads and deletes files", async () => {
    await using vendor = await startObjectVendor();
    await using client = createClient(vendor);
    const sources = [
      new File(["content"], "a.txt"),
      new TextEncoder().encode("content"),
      new Response("content"),
      new Blob(["con", "tent"]).stream(),
    ];
    for (const file of sources) {
      const expires_after = { anchor: "created_at", seconds: 3_600 } as const;
      const made = await client.files.create({ file, purpose: "user_data", expires_after });
      assertEquals(made.bytes, 7);
      assertEquals(await (await client.files.content(made.id)).text(), "content");
      assertEquals((await client.files.retrieve(made.id)).id, made.id);
      await client.files.delete(made.id);
      await assertRejects(() => client.files.retrieve(made.id), ObjectNotFoundError);
    }
    assertEquals([vendor.files.size, (await client.files.list()).data], [0, []]);
    const kept = await client.uploadFile(new File(["x"], "b.txt"), { purpose: "vision" });
    assertEquals((await client.files.list({ purpose: "vision" })).data, [kept]);
    assertEquals([...vendor.files.values()][0]!.filename, "b.txt");
    await assertRejects(() => client.files.create({ file: 7 as never, purpose: "vision" }), UnsupportedRequestError);
  });

  it("makes batches, of a file or of requests", async () => {
    await using vendor = await startObjectVendor();
    await using client = createClient(vendor);
    const file = await client.files.create({ file: new File([requestLines(2)], "r.jsonl"), purpose: "batch" });
    const batch = await client.batches.create({ input_file_id: file.id, endpoint: "/v1/chat/completions" });
    vendor.move([...vendor.batches.keys()][0]!, "completed");
    const { status, output_file_id } = await client.batches.retrieve(batch.id);
    assertEquals(status, "completed");
    assertEquals((await (await client.files.content(output_file_id!)).text()).trim().split("\n").length, 2);
    const requests = function* () {
      for (const content of ["one", "two", "three"]) yield { body: { messages: [{ role: "user", content }] } };
    };
    const other = await client.submitBatch({ requests: requests(), metadata: { job: "7" } });
    assertEquals((await client.batches.list()).data.map(({ id }) => id).sort(), [batch.id, other.id].sort());
    const [, { input_file_id }] = [...vendor.batches.values()] as [unknown, { input_file_id: string }];
    const lines = vendor.files.get(input_file_id)!.text.trim().split("\n").map((line) => JSON.parse(line));
    assertEquals(lines.map(({ custom_id, body }) => [custom_id, body.model]), [
      ["request-1", "a"],
      ["request-2", "a"],
      ["request-3", "a"],
    ]);
    assertEquals((await client.batches.cancel(other.id)).status, "cancelling");
  });

  it("tunes models", async () => {
    await using vendor = await startObjectVendor();
    await using client = createClient(vendor);
    const { id } = await client.uploadFile(new File(['{"messages":[]}\n'], "t.jsonl"), { purpose: "fine-tune" });
    const job = await client.createFineTune({ model: "chat", training_file: id });
    assertEquals((await client.fineTuning.jobs.retrieve(job.id)).status, "validating_files");
    assertEquals((await client.fineTuning.jobs.cancel(job.id)).status, "cancelled");
    assertEquals((await client.fineTuning.jobs.list()).data.map((one) => one.id), [job.id]);
    assertEquals((await client.fineTuning.jobs.listEvents(job.id, { limit: 1 })).data.length, 1);
  });

  it("finds what an earlier process has made", async () => {
    await using vendor = await startObjectVendor();
    await using first = createClient(vendor);
    const { id } = await first.uploadFile(new File(["x"], "b.txt"), { purpose: "vision" });
    await using second = createClient(vendor);
    assertEquals(await (await second.files.content(id)).text(), "x");
  });
});
