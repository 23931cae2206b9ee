/** What the storage of `proxy.responses.state` has: no secrets, a bounded amount of each client, and maybe damaged records. */
import { assert, assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { memoryStorage, type Storage } from "../../mod.ts";
import { respondWithResponse } from "../support/_responses_behaviours.ts";
import { memoryStage } from "../support/_stored_responses.ts";
import { Gate, respond } from "../support/upstream.ts";

const withApi = { provider: { config: { responses: true } } };

/** All records of a storage as text. */
async function readAll(storage: Storage): Promise<string> {
  const records = (await storage.list("")).map((key) => storage.load(key));
  return (await Promise.all(records)).map((bytes) => new TextDecoder().decode(bytes)).join("\n");
}

describe("The storage of responses", () => {
  for (const background of [false, true]) {
    it(`has no secrets of tools, ${background ? "in the background" : "in the foreground"}`, async () => {
      const tool = { type: "mcp", server_label: "docs", server_url: "https://mcp.test/" };
      const tools = [{ ...tool, authorization: "SECRET-1", headers: { "x-key": "SECRET-2" } }];
      await using stage = await memoryStage(respondWithResponse({ text: "Hi", more: { tools } }), withApi);
      for (const stream of [true, false]) {
        const { json, text } = await stage.create({ input: "Hi", tools, background, stream });
        const id = json?.id ?? /resp_mesh_\w+/.exec(text)![0];
        const { json: response } = await stage.call("GET", id);
        if (stream || !background) {
          assertEquals([response.status, response.tools], ["completed", [{ ...tool, headers: null }]]);
        }
        assert(!background || !text.includes("SECRET"), text);
      }
      assert(stage.upstream.requests.every(({ body }) => body.includes("SECRET-1") && body.includes("SECRET-2")));
      const stored = await readAll(stage.storage);
      assert(stored.includes("mcp.test") && !stored.includes("SECRET"), stored);
    });
  }

  it("may have unreadable records: their responses are deleted like others", async () => {
    await using stage = await memoryStage(respond());
    for (const damaged of ["{", "[]", "{}", '{"version":1,"response":{},"input":[]}']) {
      const { json: { id } } = await stage.create({ input: "Hi" });
      const [key] = await stage.storage.list("responses/");
      await stage.storage.save(key!, new TextEncoder().encode(damaged));
      const calls = [
        stage.call("GET", id),
        stage.call("GET", `${id}/input_items`),
        stage.call("POST", `${id}/cancel`),
        stage.create({ input: "Go on", previous_response_id: id }),
      ];
      for (const { status, json } of await Promise.all(calls)) {
        assertEquals([status, json.error.code], [503, "storage_unavailable"], damaged);
      }
      assertEquals((await stage.call("DELETE", id)).status, 200);
      assertEquals((await stage.call("GET", id)).status, 404);
    }
  });

  it("may take long to list: responses do not wait for it", async () => {
    const storage = memoryStorage();
    const gate = new Gate();
    storage.list = async () => {
      await gate.pass();
      return [];
    };
    await using stage = await memoryStage(respond(), { storage });
    const { status, json } = await stage.create({ input: "Hi" });
    assertEquals([status, json.store], [200, true]);
    assertEquals((await stage.call("GET", json.id)).status, 200);
    gate.openAll();
  });

  it("has no room for more of the client that stores the most, which displaces nothing of others", async () => {
    const names = ["busy", "calm"];
    const tokens = names.map((name) => ({ token: `t-${name}-0123456789`, name }));
    const config = { proxy: { auth: { tokens } } };
    await using stage = await memoryStage(respond(), { config, responses: { max_bytes: "12KB" } });
    const [busy, calm] = tokens.map(({ token }) => stage.as(token));
    const input = "x".repeat(2_000);
    const { json: { id: kept } } = await calm!.create({ input });
    const ids: string[] = [];
    for (let number = 0; number < 8; number++) ids.push((await busy!.create({ input })).json.id);
    assertEquals((await calm!.call("GET", kept)).status, 200);
    const found = await Promise.all(ids.map(async (id) => (await busy!.call("GET", id)).status));
    assertEquals([found[0], found.at(-1)], [404, 200]);
    assertEquals(found, [...found].sort().reverse());
  });
});
