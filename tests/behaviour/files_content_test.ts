/** A file of batch requests is downloaded as it was uploaded, although the provider has it in its own format. */
import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { ask, fileForm, type ObjectStage, objectStage, requestLines } from "../support/_objects.ts";
import { makeFolder } from "../support/_library.ts";

/** A line as Python's `json.dumps` writes it, with a number that JavaScript cannot represent. */
const spaced = (index: number, more = "") =>
  `{"custom_id": "r${index}", "method": "POST", "url": "/v1/chat/completions", ` +
  `"body": {"model": "chat", "messages": [{"role": "user", "content": "H\\u00e9, ${index}"}], ` +
  `"seed": 12345678901234567890${more}}}`;

const uploads: readonly (readonly [what: string, text: string])[] = [
  ["lines without spaces", requestLines(3)],
  ["lines of another program, with spaces and large numbers", `${spaced(1)}\n${spaced(2)}\n`],
  ["a last line without its end", `${spaced(1)}\n${spaced(2)}`],
  [
    "a pool and an alias of it",
    ["chat", "fast"].map((name, at) => spaced(at).replace('"chat"', `"${name}"`)).join("\n"),
  ],
  [
    "parameters that the model has in other words",
    [1, 2, 3].map((at) => spaced(at, `, "max_tokens": ${at}`)).join("\n"),
  ],
];

const config = {
  model: { parameters: { rename: { max_tokens: "max_completion_tokens" } } },
  aliases: { fast: "chat" },
  pools: { chat: { models: ["a"] } },
};

async function upload({ proxy }: Pick<ObjectStage, "proxy">, text: string): Promise<string> {
  const { status, json } = await ask(proxy, "files", { body: fileForm(text) });
  assertEquals(status, 200, JSON.stringify(json));
  return json.id;
}

const parsed = (text: string) => text.split("\n").filter((line) => line !== "").map((line) => JSON.parse(line));

describe("The content of an uploaded file of batch requests", () => {
  for (const [what, text] of uploads) {
    it(`is what was uploaded: ${what}`, async () => {
      await using stage = await objectStage(["a"], config);
      const id = await upload(stage, text);
      const { json } = await ask(stage.proxy, `files/${id}/content`);
      assertEquals(parsed(json), parsed(text));
      assertEquals((await ask(stage.proxy, `files/${id}`)).json.bytes, new TextEncoder().encode(text).length);
    });
  }

  it("is byte for byte the same where only the model has another name there", async () => {
    await using stage = await objectStage();
    const text = `${spaced(1)}\n${spaced(2)}`;
    assertEquals((await ask(stage.proxy, `files/${await upload(stage, text)}/content`)).json, text);
    const [file] = [...stage.vendors.a!.files.values()];
    assertEquals(file!.text, `${text.replaceAll('"chat"', '"a-1"')}\n`); // all else as it came
  });

  it("is whole where the provider has it in several files", async () => {
    await using stage = await objectStage(["a"], { provider: { batch: { supported: true, max_items: 2 } } });
    const text = requestLines(5);
    const id = await upload(stage, text);
    assertEquals(stage.vendors.a!.files.size, 3);
    assertEquals((await ask(stage.proxy, `files/${id}/content`)).json, text);
  });

  it("names the pool after a restart too, with a storage and without", async () => {
    await using folder = await makeFolder();
    const storage = { storage: { connector: "mesh.local-file.v1", path: `${folder.path}/state.json` } };
    const text = requestLines(2);
    for (const kept of [storage, {}]) {
      await using stage = await objectStage(["a"], kept);
      const id = await upload(stage, text);
      const next = await stage.another();
      assertEquals((await ask(next, `files/${id}/content`)).json, text);
    }
  });

  it("names the pool by the id that a batch shows, after a restart without a storage", async () => {
    await using stage = await objectStage();
    const text = requestLines(2);
    const input_file_id = await upload(stage, text);
    const json = { input_file_id, endpoint: "/v1/chat/completions", completion_window: "24h" };
    const { json: { id } } = await ask(stage.proxy, "batches", { json });
    const next = await stage.another();
    const { json: batch } = await ask(next, `batches/${id}`);
    assertEquals((await ask(next, `files/${batch.input_file_id}/content`)).json, text);
  });

  it("keeps its names when each line has changes of its own, beyond those that are recorded", async () => {
    await using stage = await objectStage(["a"], config);
    const lines = Array.from({ length: 1_700 }, (_, at) => spaced(at, `, "max_tokens": ${at + 1}`));
    const id = await upload(stage, lines.join("\n"));
    const { json } = await ask(stage.proxy, `files/${id}/content`);
    assertEquals(new Set(parsed(json).map(({ body }) => body.model)), new Set(["chat"]));
    assertEquals(parsed(json)[0], JSON.parse(lines[0]!));
  });
});

describe("A line with a member twice", () => {
  it("is refused: readers differ in which one counts", async () => {
    await using stage = await objectStage();
    const inBody = spaced(1).replace('"model": "chat"', '"model": "chat", "mod\\u0065l": "other"');
    const inLine = spaced(1).replace('"method"', '"url": "/v1/embeddings", "method"');
    for (const text of [inBody, inLine]) {
      const { status, json } = await ask(stage.proxy, "files", { body: fileForm(text) });
      assertEquals([status, json.error?.code], [400, "invalid_value"], JSON.stringify(json));
    }
  });
});
