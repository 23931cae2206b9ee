/** What counts against a client's requests a minute: those that are routed. */
import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { ask, everything, fileForm } from "../support/_objects.ts";
import { goodBody } from "../support/_surface.ts";
import { startTestProxy } from "../support/proxy.ts";
import { respond, startUpstream } from "../support/upstream.ts";
import { startObjectVendor } from "../support/vendors/openai_objects.ts";

const token = "token-of-the-app-0123456789";
const chat = "chat/completions";
const notes = { purpose: "user_data" };

type Request = readonly [status: number, path: string, init: Parameters<typeof ask>[2]];

/** Requests that are refused before they are routed. */
const refused: readonly Request[] = [
  [404, "nothing", {}],
  [404, "files/file-none", {}],
  [404, "files?after=file-none", {}],
  [404, "files", { body: fileForm("x", notes), headers: { "x-mesh-pool": "none" } }],
  [404, "batches", { json: { input_file_id: "file-none", endpoint: `/v1/${chat}`, completion_window: "24h" } }],
  [404, "fine_tuning/jobs", { json: { model: "chat", training_file: "file-none" } }],
  [400, "fine_tuning/jobs", { json: {} }],
  [405, chat, {}],
  [415, chat, { body: "{}", headers: { "content-type": "text/plain" } }],
  [400, chat, { body: "{", headers: { "content-type": "application/json" } }],
  [400, chat, { json: { model: "chat" } }],
  [404, chat, { json: { ...goodBody, model: "none" } }],
  [404, chat, { json: { ...goodBody, model: "none", models: ["nor this"] } }],
  [404, chat, { json: { ...goodBody, model: "none", stream: true } }],
  [400, chat, { json: { ...goodBody, mesh: { only: ["none"] } } }],
  [400, "embeddings", { json: { model: "chat", input: "x" } }],
  [404, "messages", { json: { ...goodBody, model: "none", max_tokens: 1 } }],
  [404, "messages/count_tokens", { json: { ...goodBody, model: "none" } }],
  [404, "responses", { json: { model: "none", input: "x" } }],
  [404, "completions", { json: { model: "none", prompt: ["x", "y"] } }],
  [404, "models/none:generateContent", { json: { contents: [{ role: "user", parts: [{ text: "x" }] }] } }],
];

/** A proxy with a model for chat and a vendor of files, and a client with this limit. */
async function stageWith(rpm: number) {
  const [upstream, vendor] = [await startUpstream(respond()), await startObjectVendor()];
  const proxy = await startTestProxy({
    upstreams: { a: upstream.url, files: vendor.url },
    provider: (name) => name === "files" ? everything : {},
    config: {
      pools: { chat: { models: ["a"] }, stored: { models: ["files"] } },
      proxy: { auth: { tokens: [{ token, name: "app", rpm }] } },
    },
  });
  return {
    proxy,
    vendor,
    async [Symbol.asyncDispose]() {
      for (const one of [proxy, upstream, vendor]) await one[Symbol.asyncDispose]();
    },
  };
}

describe("A client's requests a minute", () => {
  it("are none that were refused before they were routed, all of them at once", async () => {
    await using stage = await stageWith(3);
    const { proxy } = stage;
    const good = () => ask(proxy, chat, { token, json: goodBody });
    const mixed = [refused, refused].flat().map(async ([status, path, init]) => {
      assertEquals((await ask(proxy, path, { ...init, token })).status, status, path);
    });
    const served = await Promise.all([good(), ...mixed, good()]);
    assertEquals([served.at(0), served.at(-1)].map((one) => one?.status), [200, 200]);
    const [last, over] = [await good(), await good()];
    assertEquals([last.status, over.status, over.json.error.code], [200, 429, "rate_limit_exceeded"]);
  });

  it("are one for several prompts or names", async () => {
    await using stage = await stageWith(2);
    const { proxy } = stage;
    const several = await ask(proxy, "completions", { token, json: { model: "chat", prompt: ["x", "y", "z"] } });
    assertEquals(several.status, 200);
    const named = await ask(proxy, chat, { token, json: { ...goodBody, model: "none", models: ["chat", "a"] } });
    assertEquals(named.status, 200);
    assertEquals((await ask(proxy, chat, { token, json: goodBody })).status, 429);
  });

  it("are those for files, too", async () => {
    await using stage = await stageWith(4);
    const { proxy } = stage;
    const { status, json: { id } } = await ask(proxy, "files", { token, body: fileForm("x", notes) });
    const more = [`files/${id}`, `files/${id}/content`, "files"].map((path) => ask(proxy, path, { token }));
    assertEquals([status, ...(await Promise.all(more)).map(({ status }) => status)], [200, 200, 200, 200]);
    for (const path of ["files", "batches", "fine_tuning/jobs", `files/${id}`]) {
      assertEquals((await ask(proxy, path, { token })).status, 429, path);
    }
    const upload = await ask(proxy, "files", { token, body: fileForm("x", notes) });
    assertEquals([upload.status, stage.vendor.files.size], [429, 1]);
  });

  it("hold for all at once, also of files", async () => {
    await using stage = await stageWith(5);
    const { proxy } = stage;
    const asked = Array.from(
      { length: 8 },
      (_, index) => index % 2 === 0 ? ask(proxy, "files", { token }) : ask(proxy, chat, { token, json: goodBody }),
    );
    const statuses = (await Promise.all(asked)).map(({ status }) => status);
    assertEquals(statuses.toSorted(), [200, 200, 200, 200, 200, 429, 429, 429]);
  });
});
