/** JWTs beside clients created at runtime, and across reloads of a proxy. */
import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { serverConnectors } from "../../connectors/server.ts";
import { ConfigError } from "../../src/errors.ts";
import { HttpError } from "../../src/proxy/error_body.ts";
import { createJwtAuthenticator, type JwtParts } from "../../src/proxy/jwt/jwt_authenticator.ts";
import { importJose } from "../../src/proxy/jwt/load_jose.ts";
import { startProxy } from "../../src/proxy/serve.ts";
import { serverRuntime } from "../../src/runtime/server.ts";
import { serverShell } from "../../src/runtime/server_shell.ts";
import { fakeClock, testRuntime } from "../../src/runtime/test.ts";
import { startIssuer, startS } from "../support/_issuer.ts";
import { adminToken, clientsConfig, clientsProxy } from "../support/_runtime_clients.ts";
import { respond, startUpstream, status } from "../support/upstream.ts";

/** A proxy with a storage in memory, whose configuration can change. */
async function startStage(jwt: Readonly<Record<string, unknown>>) {
  const [upstream, issuer] = [await startUpstream(respond()), await startIssuer()];
  const clock = fakeClock({ skipSleeps: true });
  const configure = (clients: readonly object[] = []) => {
    const tokens = [adminToken, ...clients];
    const proxy = { auth: { tokens, jwt: [{ issuer: issuer.url, audience: "mesh", ...jwt }] } };
    return JSON.stringify({ ...clientsConfig(upstream, { connector: "mesh.memory.v1" }), proxy });
  };
  const runtime = testRuntime({ send: serverRuntime().send, clock, files: { "mesh.json": configure() } });
  const traces: string[] = [];
  const trace = ({ message }: { message: string }) => void traces.push(message);
  const sinks = [{ emit: () => {}, trace, flush: () => Promise.resolve() }];
  const parts = { connectors: serverConnectors, runtime, shell: serverShell(), sinks };
  const proxy = await startProxy(parts, { config: "mesh.json", port: 0 });
  return {
    ...clientsProxy(proxy.url),
    issuer,
    clock,
    traces,
    async reload(clients: readonly object[] = []) {
      runtime.files.contents.set("mesh.json", configure(clients));
      await proxy.reload();
    },
    async [Symbol.asyncDispose]() {
      await proxy.stop();
      await upstream.close();
      await issuer[Symbol.asyncDispose]();
    },
  };
}

Deno.test("a claim names a client created at runtime, until it is revoked or expires", async () => {
  await using stage = await startStage({ client: "client" });
  const token = await stage.issuer.token({ client: "app" });
  assertEquals(await stage.chat(token), 403);
  const { body } = await stage.ask("POST ", { name: "app", rpm: 2 });
  assertEquals([await stage.chat(token), await stage.chat(token), await stage.chat(token)], [200, 200, 429]);
  assertEquals(await stage.chat(body.token!), 429); // it is the same client
  await stage.ask(`DELETE /${body.id}`);
  assertEquals(await stage.chat(token), 403);
  await stage.ask("POST ", { name: "app", expires_at: "2026-01-01T00:10:00Z" });
  assertEquals(await stage.chat(token), 200);
  await stage.clock.advance(600_000);
  assertEquals(await stage.chat(token), 403);
});

Deno.test("a reload keeps the keys of an issuer that cannot be reached, and forgets what was verified", async () => {
  await using stage = await startStage({ client: "client" });
  const app = { token: "token-of-the-app-0123456789", name: "app" };
  await stage.reload([app]);
  const token = await stage.issuer.token({ client: "app" });
  assertEquals([await stage.chat(token), stage.issuer.fetches], [200, 1]);
  stage.issuer.respond(status(500));
  await stage.reload([app]);
  assertEquals([await stage.chat(token), stage.issuer.fetches], [200, 1]);
  await stage.reload();
  assertEquals(await stage.chat(token), 403);
});

Deno.test("a stream of records ends when the token of its reader expires", async () => {
  await using stage = await startStage({ role: "role" });
  const token = await stage.issuer.token({ role: "viewer", exp: startS + 60 });
  const response = await fetch(`${stage.url}/mesh/events`, { headers: { authorization: `Bearer ${token}` } });
  const text = response.text();
  for (let waited = 0; waited < 200; waited += 15) {
    await stage.clock.advance(15_000);
    await stage.chat(adminToken);
  }
  assertStringIncludes(await text, ":");
});

Deno.test("a start without the package says what to install", async () => {
  const error = await assertRejects(() => importJose(() => Promise.reject(new Error("not found"))), ConfigError);
  assertStringIncludes(error.message, "npm install jose@6");
  const traces: unknown[] = [];
  const hub = { trace: (entry: object) => void traces.push(entry) };
  const parts = { mesh: { hub }, issuers: [] } as unknown as JwtParts;
  const refused = await assertRejects(() => createJwtAuthenticator(parts, () => Promise.reject(error)), HttpError);
  assertEquals([refused.status, refused.code], [503, "issuer_unavailable"]);
  assertStringIncludes(JSON.stringify(traces), "npm install jose@6");
});
