/** Storages, sinks and secret stores of a cloud with the identity of the machine. */
import { assert, assertEquals, assertMatch, assertRejects, assertThrows } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { s3LogObservability } from "../../connectors/observability/s3_log.ts";
import { s3Storage } from "../../connectors/storage/s3.ts";
import type { Runtime } from "../../src/contracts/runtime.ts";
import type { SecretStore } from "../../src/contracts/secret_store.ts";
import { ConfigError, ConnectorError } from "../../src/errors.ts";
import { testRuntime } from "../../src/runtime/test.ts";
import { json, startUpstream, status, type Upstream } from "../support/upstream.ts";
import { s3Key, s3Place, startS3 } from "../support/s3_server.ts";
import { startAwsSecrets } from "../support/vendors/aws_secrets.ts";
import { startGoogleSecrets } from "../support/vendors/google_secrets.ts";
import { keyVaultClient, startKeyVault } from "../support/vendors/key_vault.ts";
import { loopbackRuntime, secretStore } from "./_secret_stores.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

/** A container of AWS, whose endpoint issues the keys of the simulated services. */
async function startContainer(keys: { accessKeyId: string; secretAccessKey: string }): Promise<Upstream> {
  const { accessKeyId, secretAccessKey } = keys;
  const Expiration = "2026-01-01T01:00:00Z"; // an hour from the start of the clock on
  return await startUpstream(
    json({ AccessKeyId: accessKeyId, SecretAccessKey: secretAccessKey, Token: "session-1", Expiration }),
  );
}

function inContainer(container: Upstream): Runtime & { readonly clock: ReturnType<typeof loopbackRuntime>["clock"] } {
  return loopbackRuntime({ AWS_CONTAINER_CREDENTIALS_FULL_URI: container.url });
}

describe("A bucket", () => {
  it("is used with the role of a container, whose credentials are fetched once and renewed", async () => {
    await using server = startS3();
    await using container = await startContainer(s3Key);
    const runtime = inContainer(container);
    const storage = s3Storage.create({ ...s3Place, endpoint: server.url }, runtime);
    await Promise.all(Array.from({ length: 50 }, (_, index) => storage.save(`k${index}`, bytes("{}"))));
    assertEquals([server.objects.size, container.calls], [50, 1]);
    await runtime.clock.advance(3_541_000);
    container.follow(status(503));
    assertEquals(await storage.load("k1"), bytes("{}"), "the credentials are still valid");
    await runtime.clock.advance(60_000);
    const error = await assertRejects(() => storage.load("k1"), ConnectorError);
    assertMatch(error.message, /^"aws\.s3\.v1" has no credentials for the bucket "state-bucket": .* answered 503$/);
  });

  it("of logs is used with it as well", async () => {
    await using server = startS3();
    await using container = await startContainer(s3Key);
    const sink = s3LogObservability.create({ ...s3Place, endpoint: server.url }, inContainer(container), {
      storage: () => undefined,
    });
    sink.emit({ type: "event" } as never);
    await sink.flush();
    assertEquals([server.objects.size, container.calls], [1, 1]);
  });

  it("is used with configured keys if there are any, and never with half of them", async () => {
    await using server = startS3();
    await using container = await startContainer(s3Key);
    const runtime = inContainer(container);
    const settings = { ...s3Place, endpoint: server.url, access_key_id: s3Key.accessKeyId };
    await s3Storage.create({ ...settings, secret_access_key: s3Key.secretAccessKey }, runtime).save("k", bytes("{}"));
    assertEquals(container.calls, 0);
    const half = assertThrows(() => s3Storage.create(settings, runtime), ConfigError);
    assertEquals(half.problems.map(({ path }) => path), ["storage.secret_access_key"]);
  });

  it("is used with the role of the machine only if its credentials are ambient", async () => {
    await using server = startS3();
    const place = { ...s3Place, endpoint: server.url };
    assertThrows(() => s3Storage.create(place, testRuntime()), ConfigError, "credentials: ambient");
    const env = { AWS_EC2_METADATA_DISABLED: "true" };
    const storage = s3Storage.create({ ...place, credentials: "ambient" }, loopbackRuntime(env));
    await assertRejects(() => storage.load("k"), ConnectorError, "disabled by AWS_EC2_METADATA_DISABLED");
    const wrong = () => s3Storage.create({ ...place, credentials: "ambiant" }, testRuntime());
    assertThrows(wrong, ConfigError, "storage.credentials");
  });
});

describe("A secret store", () => {
  async function use(store: SecretStore): Promise<string | undefined> {
    await store.set!("KEY", "value");
    return (await Promise.all(Array.from({ length: 20 }, () => store.get("KEY"))))[0];
  }

  it("of AWS is used with the role of a container", async () => {
    const keys = { accessKeyId: "ASIAEXAMPLE", secretAccessKey: "secret/of+aws" };
    await using container = await startContainer(keys);
    const runtime = inContainer(container);
    const now = () => runtime.clock.now();
    await using vendor = await startAwsSecrets({ ...keys, sessionToken: "session-1", region: "eu-central-1", now });
    const settings = { region: "eu-central-1", endpoint: vendor.url };
    const store = secretStore("aws.secrets-manager.v1").create(settings, runtime);
    assertEquals([await use(store), container.calls], ["value", 1]);
    const wrong = () => secretStore("aws.secrets-manager.v1").create({ ...settings, credentials: "x" }, runtime);
    assertThrows(wrong, ConfigError, "secrets.credentials");
  });

  it("of Google is used by workload identity federation", async () => {
    const { clock } = loopbackRuntime();
    await using vendor = await startGoogleSecrets({ now: () => clock.now() });
    // the token that the simulated metadata server issues stands for that of Google's STS
    const issue = async () => {
      const headers = { "metadata-flavor": "Google" };
      const path = "/computeMetadata/v1/instance/service-accounts/default/token";
      return await (await fetch(vendor.url + path, { headers })).json();
    };
    const issued = await issue();
    await using sts = await startUpstream((request) => {
      const { subject_token, audience } = Object.fromEntries(new URLSearchParams(request.body));
      return subject_token === "the-jwt" && audience === "//pool" ? json(issued) : status(400);
    });
    const credentials = JSON.stringify({
      type: "external_account",
      audience: "//pool",
      subject_token_type: "urn:ietf:params:oauth:token-type:jwt",
      token_url: sts.url,
      credential_source: { file: "token.json", format: { type: "json", subject_token_field_name: "id_token" } },
      quota_project_id: "project-1",
    });
    const files = { "key.json": credentials, "token.json": JSON.stringify({ id_token: "the-jwt" }, null, 2) };
    const runtime = { ...loopbackRuntime({ GOOGLE_APPLICATION_CREDENTIALS: "key.json" }, files), clock };
    const store = secretStore("google.secret-manager.v1").create({ endpoint: vendor.url }, runtime);
    assertEquals([await use(store), sts.calls], ["value", 1]);
  });

  it("of Google says what is wrong with the file of a federation", async () => {
    const file = {
      type: "external_account",
      audience: "//pool",
      subject_token_type: "jwt",
      token_url: "http://127.0.0.1:2/",
    };
    const wrong: readonly (readonly [members: object, message: RegExp])[] = [
      [{ credential_source: { environment_id: "aws1" } }, /has a "credential_source" that is neither a file nor a URL/],
      [{ credential_source: { executable: { command: "rm" } } }, /has a "credential_source" that is neither/],
      [{}, /has a "credential_source" that is neither/],
      [{ credential_source: {} }, /"credential_source" without a file or a URL/],
      [{ credential_source: { url: "file:///etc/passwd" } }, /has an address that is not an http or https URL/],
      [{ credential_source: { file: "absent" } }, /the file with the token of this machine cannot be read/],
      [{ credential_source: { file: "token" }, audience: undefined }, /has no "audience"/],
      [
        { credential_source: { file: "token", format: { type: "json", subject_token_field_name: "x" } } },
        /another form/,
      ],
      [{ credential_source: { file: "token" }, token_url: "ftp://x" }, /has an address that is not/],
      [{ credential_source: { file: "token" } }, /Google's token endpoint: it cannot be reached/],
    ];
    for (const [members, message] of wrong) {
      const files = { "key.json": JSON.stringify({ ...file, ...members }), token: "canary-token-0123456789" };
      const runtime = loopbackRuntime({ GOOGLE_APPLICATION_CREDENTIALS: "key.json" }, files);
      const store = secretStore("google.secret-manager.v1").create({ project: "p" }, runtime);
      const error = await assertRejects(() => store.get("KEY"), ConnectorError);
      assertMatch(error.message, message);
      assert(!error.message.includes("canary"));
    }
  });

  it("of Microsoft is used by the workload's token, and as the managed identity", async () => {
    const { tenant, id, secret } = keyVaultClient;
    const { clock } = loopbackRuntime();
    await using vault = await startKeyVault({ now: () => clock.now() });
    const form = new URLSearchParams({
      grant_type: "client_credentials",
      client_id: id,
      client_secret: secret,
      scope: "https://vault.azure.net/.default",
    });
    const issued = await (await fetch(`${vault.url}/${tenant}/oauth2/v2.0/token`, { method: "POST", body: form }))
      .json();
    await using entra = await startUpstream(({ method, path, body, headers }) => {
      const isProven = new URLSearchParams(body).get("client_assertion") === "the-jwt";
      const isManaged = headers["x-identity-header"] === "the-header" &&
        path.includes("resource=https%3A%2F%2Fvault.azure.net&");
      return method === "POST" ? isProven ? json(issued) : status(401) : isManaged ? json(issued) : status(400);
    });
    const client = { AZURE_TENANT_ID: tenant, AZURE_CLIENT_ID: id };
    const ways: readonly Record<string, string>[] = [
      { ...client, AZURE_FEDERATED_TOKEN_FILE: "token", AZURE_AUTHORITY_HOST: entra.url },
      { ...client, IDENTITY_ENDPOINT: `${entra.url}/msi/token`, IDENTITY_HEADER: "the-header" },
    ];
    for (const [index, env] of ways.entries()) {
      const runtime = { ...loopbackRuntime(env, { token: "the-jwt" }), clock };
      const store = secretStore("microsoft.key-vault.v1").create({ url: vault.url }, runtime);
      assertEquals([await use(store), entra.calls], ["value", index + 1]);
    }
  });
});
