/** Tokens of clients made at runtime: shown once, and in no storage, log or answer after that. */
import { assert, assertEquals, assertFalse } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import {
  adminToken,
  type ClientResponse,
  clientsConfig,
  startClientsProxy,
  tempFolder,
} from "../support/_runtime_clients.ts";
import { ok, startUpstream } from "../support/upstream.ts";

const messages = [{ role: "user", content: "Hi" }];

describe("The token of a client made at runtime", () => {
  it("is in no storage, no log and no other response, wherever it was sent", async () => {
    await using upstream = await startUpstream(ok());
    await using folder = await tempFolder();
    const sink = (name: string, more = {}) => ({
      connector: "mesh.local-file.v1",
      path: `${folder.path}/${name}`,
      ...more,
    });
    const config = {
      ...clientsConfig(upstream, { path: `${folder.path}/state.json` }),
      observability: {
        routing: sink("routing.jsonl"),
        logging: sink("log.jsonl", { level: "full" }),
        statistics: sink("statistics.jsonl"),
        tracing: sink("traces.jsonl", { min_severity: "debug" }),
      },
    };
    const answers: string[] = [];
    const tokens: string[] = [];
    {
      await using proxy = await startClientsProxy(config);
      const ask = async (line: string, token: string, body?: unknown) => {
        const [method = "", path] = line.split(" ");
        const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
        const response = await fetch(proxy.url + path, {
          method,
          headers,
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        });
        const text = await response.text();
        return { status: response.status, text: `${JSON.stringify([...response.headers])} ${text}` };
      };
      const note = async (...call: Parameters<typeof ask>) => {
        const { status, text } = await ask(...call);
        answers.push(text);
        return status;
      };
      const { body: { id, token = "" } } = await proxy.ask("POST ", { name: "app", rpm: 1 });
      const { body: { token: next = "" } } = await proxy.ask<ClientResponse>(`POST /${id}/rotate`);
      tokens.push(token, next);
      const chat = { model: "chat", messages: [{ role: "user", content: `My token is ${next}` }], user: next };
      assertEquals(await note("POST /v1/chat/completions", next, chat), 200);
      assertEquals((await ask("POST /v1/chat/completions", next, { model: next, messages })).status, 404); // it hears itself
      assertEquals(await note("POST /v1/chat/completions", next, chat), 429);
      assertEquals(await note("POST /v1/chat/completions", token, chat), 401);
      assertEquals(await note("GET /v1/models", token), 401);
      assertEquals((await ask(`GET /v1/models/${next}`, next)).status, 404);
      assertEquals((await ask(`GET /v1/${token}`, next)).status, 404);
      assertEquals(await note(`GET /v1beta/models?key=${token}`, "none"), 401);
      assertEquals(await note("POST /mesh/clients", adminToken, { name: "app", token }), 400);
      assertEquals(await note("GET /mesh/clients", adminToken), 200);
      assertEquals(await note(`PATCH /mesh/clients/${id}`, adminToken, { rpm: 9 }), 200);
      assertEquals(await note(`GET /mesh/clients/${id}/usage`, adminToken), 200);
      assertEquals(await note(`GET /mesh/clients/${id}/usage?format=csv`, adminToken), 200);
      assertEquals((await ask(`DELETE /mesh/clients/${next}`, adminToken)).status, 404);
      for (const path of ["/mesh/status", "/metrics", "/v1/models", "/health"]) {
        assertEquals(await note(`GET ${path}`, adminToken), 200);
      }
      assertEquals(await note(`DELETE /mesh/clients/${id}`, adminToken), 200);
    }
    const written = await folder.texts();
    assert(written.some((text) => text.includes("My token is")), "what was sent is logged");
    for (const text of [...written, ...answers]) {
      for (const token of tokens) assertFalse(text.includes(token.slice(3)), text.slice(0, 4_000));
    }
  });
});
