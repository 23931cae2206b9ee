/** Lack of this machine's file descriptors, buffers or memory is not a fault of a provider. */
import { assertEquals, assertMatch, assertRejects } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { create, MeshError, type RoutingRecord } from "../../mod.ts";
import { createHandler } from "../../proxy.ts";
import { fakeClock } from "../../src/runtime/test.ts";
import { readModelState } from "../support/_dialect_proxy.ts";
import { testConfig } from "../support/proxy.ts";

const address = "http://provider.example/v1";
const messages = [{ role: "user" as const, content: "Hi" }];
const request = { model: "chat", messages };

/** Errors of runtimes. */
const lacks: Readonly<Record<string, () => Error>> = {
  "EMFILE as a code": () => Object.assign(new Error("connect"), { code: "EMFILE" }),
  "ENFILE in a cause": () => new TypeError("fetch failed", { cause: new Error("connect ENFILE 10.0.0.1:443") }),
  "ENOBUFS": () => new TypeError("fetch failed", { cause: Object.assign(new Error("x"), { code: "ENOBUFS" }) }),
  "ENOMEM": () => new Error("Cannot allocate memory (os error 12)"),
  "Deno's words": () =>
    new TypeError("fetch failed", {
      cause: new Error(
        "error sending request: client error (Connect): tcp open error: Too many open files (os error 24)",
      ),
    }),
};

function clientWith(error: () => Error) {
  const records: RoutingRecord[] = [];
  let isLacking = true;
  let calls = 0;
  const client = create({
    config: testConfig({
      upstreams: { one: address, two: address },
      pool: { deactivation: { retry_limit: 1 }, provider_deactivation: ["on_api_outage"] },
    }),
    clock: fakeClock({ skipSleeps: true }),
    on: (record) => void (record.type === "routing" && records.push(record)),
    fetch: () => {
      calls++;
      if (isLacking) return Promise.reject(error());
      const choices = [{ index: 0, message: { role: "assistant", content: "Hello" }, finish_reason: "stop" }];
      return Promise.resolve(Response.json({ id: "x", object: "chat.completion", created: 1, model: "m", choices }));
    },
  });
  return { client, records, calls: () => calls, end: () => void (isLacking = false) };
}

describe("Lack of this machine's resources", () => {
  for (const [what, error] of Object.entries(lacks)) {
    it(`is the proxy's 503, and no failure of a model or provider: ${what}`, async () => {
      const { client, records, calls, end } = clientWith(error);
      await client.ready();
      const handler = createHandler(client.mesh);
      const ask = (stream: boolean) =>
        handler(
          new Request("http://localhost/v1/chat/completions", {
            method: "POST",
            headers: { "content-type": "application/json" },
            body: JSON.stringify({ ...request, stream }),
          }),
        );
      const responses = await Promise.all(Array.from({ length: 12 }, (_, index) => ask(index % 2 === 1)));
      for (const response of responses) {
        const { error } = await response.json();
        assertEquals([response.status, error.type, error.code], [503, "server_error", "overloaded"]);
        assertEquals([response.headers.get("retry-after"), response.headers.get("x-should-retry")], ["1", null]);
      }
      assertEquals(calls(), 12, "neither retried nor rotated");
      assertEquals(records.map(({ status }) => status), Array(12).fill(503));
      for (const model of ["one", "two"]) {
        assertEquals(readModelState(client.mesh, model), { inFlight: 0, failures: 0, status: "active" });
      }
      end();
      assertEquals((await ask(false)).status, 200);
      await client.close();
    });
  }

  it("rejects a call of the library with its code", async () => {
    const { client } = clientWith(lacks["EMFILE as a code"]!);
    const error = await assertRejects(() => client.chat.completions.create(request), MeshError);
    assertEquals(error.code, "overloaded");
    assertMatch(error.message, /file descriptors or memory/);
    await client.close();
  });
});
