/** What clients and teams cost a request: the same, however many there are. tests/packages counts what is executed. */
import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { ModelMesh } from "../../mod.ts";
import { createHandler } from "../../proxy.ts";
import { assertEffort } from "../support/effort.ts";
import { completion } from "../support/upstream.ts";

const answer = new TextEncoder().encode(JSON.stringify(completion({ model: "m" })));
const given = {
  type: "default",
  status: 200,
  headers: new Headers({ "content-type": "application/json", "content-length": String(answer.length) }),
  body: null,
  arrayBuffer: () => Promise.resolve(answer.slice().buffer),
};
const budget = { daily_limit: 1_000_000 };
const everything = { budget, rpm: 1_000_000, tpm: 1_000_000_000, concurrent: 1_000 };

/** Starts a proxy with so many clients in so many teams, and returns what sends requests of the last one. */
async function startProxy({ clients, teams }: { clients: number; teams: number }) {
  const mesh = new ModelMesh({ fetch: () => Promise.resolve(given as unknown as Response) });
  const tokenOf = (number: number) => `token-of-client-number-${number}`;
  await mesh.initialize({
    providers: { a: { connector: "openai.compatible.v1", base_url: "http://127.0.0.1:9/v1", api_key: "key-123456" } },
    models: { m: { provider: "a", capabilities: ["chat-completion"], pricing: { input: 1, output: 1 } } },
    pools: { chat: { models: ["m"] } },
    teams: Object.fromEntries(Array.from({ length: teams }, (_, number) => [`team ${number}`, everything])),
    tags: { beta: everything },
    users: everything,
    proxy: {
      auth: {
        tokens: Array.from({ length: clients }, (_, number) => ({
          token: tokenOf(number),
          name: `client ${number}`,
          team: `team ${number % teams}`,
          ...everything,
        })),
      },
    },
  });
  const handler = createHandler(mesh);
  const body = { model: "chat", messages: [{ role: "user", content: "Hello" }], user: "eve" };
  const bytes = new TextEncoder().encode(JSON.stringify(body));
  const headers = {
    "content-type": "application/json",
    "content-length": String(bytes.length),
    authorization: `Bearer ${tokenOf(clients - 1)}`,
    "x-mesh-tags": "beta",
  };
  const ask = async () => {
    const { status } = await handler.plain({
      method: "POST",
      url: "http://127.0.0.1/v1/chat/completions",
      headers: new Headers(headers),
      signal: new AbortController().signal,
      body: null,
      bytes: () => Promise.resolve(bytes),
    });
    assertEquals(status, 200);
  };
  return {
    askMany: async () => {
      for (let asked = 0; asked < 50; asked++) await ask();
    },
    [Symbol.asyncDispose]: () => mesh.close(),
  };
}

describe("10 000 clients in 1 000 teams", () => {
  it("cost a request no more than 20 clients in 2 teams, under limits of every kind", async () => {
    await using few = await startProxy({ clients: 20, teams: 2 });
    await using many = await startProxy({ clients: 10_000, teams: 1_000 });
    await assertEffort("a request of one of them", { work: many.askMany, than: few.askMany, most: 1.3 });
  });
});
