/** Tokens of service accounts: `auth.method: service_account`. */
import { assert, assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import process from "node:process";
import {
  cast,
  guarded,
  listTraces,
  makeAccount,
  readAssertion,
  startTokenEndpoint,
} from "../support/_token_endpoint.ts";
import { ok } from "../support/upstream.ts";

describe("a service account", () => {
  it("signs an assertion, which is good for a token", async () => {
    const given: { assertion?: string } = {};
    await using endpoint = await startTokenEndpoint({}, ({ assertion }) => {
      given.assertion = assertion!;
      return undefined;
    });
    const { credentials, publicKey } = makeAccount(endpoint.url);
    await using scene = await cast({ method: "service_account", credentials, scope: "cloud" }, guarded(() => endpoint));
    assertEquals((await scene.ask()).route, "a 1/0");
    assertEquals(endpoint.forms[0]!.grant_type, "urn:ietf:params:oauth:grant-type:jwt-bearer");
    const { header, claims, isGenuine } = readAssertion(given.assertion!, publicKey);
    const iat = Math.floor(scene.clock.now() / 1000);
    assertEquals(isGenuine, true);
    assertEquals(header, { alg: "RS256", typ: "JWT", kid: credentials.private_key_id });
    const { client_email: iss } = credentials;
    assertEquals(claims, { iss, sub: iss, aud: endpoint.url, scope: "cloud", iat, exp: iat + 3600 });
  });

  it("may be a text from the secret store", async () => {
    await using endpoint = await startTokenEndpoint();
    const { credentials } = makeAccount(endpoint.url);
    const name = "MODELMESH_TEST_ACCOUNT";
    process.env[name] = JSON.stringify(credentials, null, 2);
    try {
      const auth = { method: "service_account", credentials: `\${secrets:${name}}` };
      await using scene = await cast(auth, guarded(() => endpoint));
      assertEquals((await scene.ask()).route, "a 1/0");
    } finally {
      delete process.env[name];
    }
  });

  it("that the vendor does not know is refused", async () => {
    const other = makeAccount("http://127.0.0.1:2");
    await using endpoint = await startTokenEndpoint({}, ({ assertion }) => {
      return readAssertion(assertion!, other.publicKey).isGenuine ? undefined : "invalid_grant";
    });
    const { credentials } = makeAccount(endpoint.url);
    await using scene = await cast({ method: "service_account", credentials }, ok());
    const traces = listTraces(scene);
    assertEquals((await scene.ask()).route, "b 1/1");
    assertEquals(traces.map(({ message }) => message), [
      'No token for the provider "a": The token endpoint refused the credentials configured for it: 400 invalid_grant',
      'The provider "a" failed (auth): The token endpoint refused the credentials configured for it: 400 invalid_grant',
    ]);
  });

  it("with a key that is none of RSA says so", async () => {
    const { credentials } = makeAccount("http://127.0.0.1:2/token");
    const private_key = "-----BEGIN PRIVATE KEY-----\nY2FuYXJ5\n-----END PRIVATE KEY-----\n";
    const auth = { method: "service_account", credentials: { ...credentials, private_key } };
    await using scene = await cast(auth, ok(), { models: { a: "a" } });
    const traces = listTraces(scene);
    assertEquals((await scene.ask()).status, 502);
    assert(traces[0]!.message.includes("it is not an RSA key"), traces[0]!.message);
  });
});
