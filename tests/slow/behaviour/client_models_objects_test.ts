/** Files and batches of clients with models of their own: they are made where these models are. */
import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { ask, fileForm, objectStage, requestLines } from "../../support/_objects.ts";

const token = "of-the-client-0123456789";
const endpoint = "/v1/chat/completions";

describe("A client with models", () => {
  it("has its files and batches at their providers, and lines with other models are refused", async () => {
    const client = { token, name: "app", models: ["b"] };
    await using stage = await objectStage(["a", "b"], { proxy: { auth: { tokens: [client] } } });
    const { proxy, vendors: { a, b } } = stage;
    const file = await ask(proxy, "files", { body: fileForm(requestLines(2)), token });
    assertEquals([file.status, a!.files.size, b!.files.size], [200, 0, 1]);
    const json = { input_file_id: file.json.id, endpoint, completion_window: "24h" };
    const batch = await ask(proxy, "batches", { json, token });
    assertEquals([batch.status, a!.batches.size, b!.batches.size], [200, 0, 1], JSON.stringify(batch.json));
    const line = { custom_id: "1", method: "POST", url: endpoint, body: { model: "a", messages: [] } };
    const hidden = await ask(proxy, "files", { body: fileForm(`${JSON.stringify(line)}\n`), token });
    assertEquals([hidden.status, a!.files.size], [400, 0]);
  });
});
