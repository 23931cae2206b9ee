/** Names in requests for files, batches and jobs: spelled otherwise or twice, they are refused as in chat. */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { ask, fileForm, objectStage, requestLines } from "../support/_objects.ts";

const batch = { input_file_id: "file-1", endpoint: "/v1/chat/completions", completion_window: "24h" };
const job = { model: "chat", training_file: "file-1" };

/** A path, its body, and the member it is refused for. */
const bodies: readonly (readonly [path: string, body: object, param: string])[] = [
  ...["INPUT_FILE_ID", "Input_file_id", "Endpoint", "Completion_Window", "METADATA", "Mesh", "output_Expires_after"]
    .map(
      (name) => ["batches", { ...batch, [name]: "x" }, name] as const,
    ),
  ["batches", { endpoint: batch.endpoint, INPUT_FILE_ID: "file-1" }, "INPUT_FILE_ID"],
  [
    "batches",
    { ...batch, "input_file_\u0130d": "x", "endpo\u0131nt": "x", "Me\u017f\u017fh": 1, "m\u0045tadata": {} },
    "mEtadata",
  ],
  ...["Model", "TRAINING_FILE", "Validation_file", "HyperParameters", "Suffix", "METHOD", "Integration\u017f"].map(
    (name) => ["fine_tuning/jobs", { ...job, [name]: "x" }, name] as const,
  ),
];

describe("A member of a request for a batch or a job", () => {
  it("that differs from a known one in case alone is a 400 that names it", async () => {
    await using stage = await objectStage();
    for (const [path, json, param] of bodies) {
      const { status, json: { error } } = await ask(stage.proxy, path, { json });
      assertEquals([status, error.code, error.param], [400, "invalid_value", param], JSON.stringify(json));
      assertStringIncludes(error.message, "in case alone");
    }
  });

  it("that no specification knows goes to the provider", async () => {
    await using stage = await objectStage();
    const { json: { id: input_file_id } } = await ask(stage.proxy, "files", { body: fileForm(requestLines(1)) });
    const made = await ask(stage.proxy, "batches", { json: { ...batch, input_file_id, priority_of_mine: 1 } });
    assertEquals([made.status, stage.vendors.a!.latest?.priority_of_mine], [200, 1]);
  });
});

describe("A line of a file of batch requests", () => {
  it("has its members in no other case", async () => {
    await using stage = await objectStage();
    const line = JSON.parse(requestLines(1));
    for (const other of [{ URL: "/v1/embeddings" }, { Body: {} }, { Custom_ID: "x" }, { METHOD: "GET" }]) {
      const body = fileForm(JSON.stringify({ ...line, ...other }));
      const { status, json: { error } } = await ask(stage.proxy, "files", { body });
      assertEquals([status, error.code], [400, "invalid_value"], JSON.stringify(other));
      assertStringIncludes(error.message, "Line 1");
    }
    assertEquals(stage.vendors.a!.files.size, 0);
  });
});

describe("A field of an upload", () => {
  it("is refused in another case, and twice, before the file and after it", async () => {
    await using stage = await objectStage();
    const notes = { purpose: "user_data" };
    const twice = fileForm("x", notes);
    twice.append("purpose", "batch");
    const before = new FormData();
    for (const purpose of ["user_data", "batch"]) before.append("purpose", purpose);
    before.append("file", new File(["x"], "a.txt"));
    const forms: readonly (readonly [form: FormData, param: string])[] = [
      [fileForm("x", { ...notes, Purpose: "batch" }), "Purpose"],
      [fileForm("x", notes, { later: { PURPOSE: "batch" } }), "PURPOSE"],
      [fileForm("x", { ...notes, "Expires_After[anchor]": "created_at" }), "Expires_After[anchor]"],
      [twice, "purpose"],
      [before, "purpose"],
    ];
    for (const [body, param] of forms) {
      const { status, json: { error } } = await ask(stage.proxy, "files", { body });
      assertEquals([status, error?.code, error?.param], [400, "invalid_value", param]);
    }
    assertEquals((await ask(stage.proxy, "files", { body: fileForm("x", notes) })).status, 200);
  });
});

describe("The content of a file", () => {
  it("is what its type says, for a browser too", async () => {
    await using stage = await objectStage();
    const page = fileForm("<script>alert(1)</script>", { purpose: "user_data" }, { name: "page.html" });
    for (const body of [page, fileForm(requestLines(1))]) {
      const { json: { id } } = await ask(stage.proxy, "files", { body });
      const { status, headers } = await ask(stage.proxy, `files/${id}/content`);
      assertEquals([status, headers.get("x-content-type-options")], [200, "nosniff"]);
    }
  });
});
