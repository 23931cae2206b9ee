/** Secret stores behind an API: who they are to it, and what comes of responses that are none. */
import { assert, assertEquals, assertMatch, assertRejects, assertStringIncludes } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { inspect } from "node:util";
import type { SecretStore } from "../../src/contracts/secret_store.ts";
import { ConfigError, ConnectorError } from "../../src/errors.ts";
import { settle } from "../../src/runtime/test.ts";
import { startVendor } from "../support/vendors/_server.ts";
import { startAwsSecrets } from "../support/vendors/aws_secrets.ts";
import { startGoogleSecrets } from "../support/vendors/google_secrets.ts";
import { keyVaultClient, startKeyVault } from "../support/vendors/key_vault.ts";
import { connectToken, startOnePassword } from "../support/vendors/onepassword.ts";
import { loopbackRuntime, secretStore, usedStores } from "./_secret_stores.ts";

const value = "do-not-show-me";
const clouds = Object.entries(usedStores).filter(([id]) => !id.startsWith("mesh."));
/** Of the stores' own credentials. */
const credentials = ["secret/of+aws", "session-1", "client+secret", "PRIVATE KEY", "ya29.", "eyJ."];

async function catchFailure(promise: Promise<unknown>): Promise<string> {
  const error = await assertRejects(() => promise, ConnectorError);
  const shown = inspect(error, { depth: 9, showHidden: true });
  for (const secret of [value, ...credentials]) assert(!shown.includes(secret), shown);
  return error.message;
}

const oddAnswers: Readonly<Record<string, () => Response>> = {
  "403": () => Response.json({ error: { message: `no ${value}`, code: `${value} is wrong` } }, { status: 403 }),
  "500 as text": () => new Response(`oops ${value}`, { status: 500 }),
  "500 as a web page": () =>
    new Response("<html>oops</html>", { status: 500, headers: { "content-type": "text/html" } }),
  "503 with nothing": () => new Response(null, { status: 503 }),
  "429": () => Response.json({ __type: "ThrottlingException" }, { status: 429 }),
  "200 as a web page": () => new Response("<html>Sign in</html>"),
  "200 with half a JSON": () => new Response(`{"value": "${value}`),
  "200 with a text": () => Response.json(value),
  "a redirect": () => new Response(null, { status: 302, headers: { location: "http://127.0.0.1:9/" } }),
};

for (const [id, make] of clouds) {
  describe(`${id}, when it answers`, () => {
    for (const [what, answer] of Object.entries(oddAnswers)) {
      it(`${what}, says for which secret, and why not`, async () => {
        await using used = await make();
        used.vendor!.respond(answer);
        const { store } = used;
        const tasks = { "look up": () => store.get("KEY"), "store": () => store.set("KEY", value) };
        for (const [task, run] of Object.entries(tasks)) {
          const message = await catchFailure(run());
          assertStringIncludes(message, `${id}: cannot ${task} the secret "KEY"`);
          assertMatch(message, /it answered \d{3}|returned no access token|set "secrets\.vault"/);
        }
        await catchFailure(store.list());
        used.vendor!.respond(undefined);
        await store.set("KEY", value);
        assertEquals(await store.get("KEY"), value, "and works again once the vendor does");
      });
    }

    it("200 and {}, does not take it for a missing secret", async () => {
      await using used = await make();
      await used.store.set("KEY", value); // has its token by now
      used.vendor!.respond(() => Response.json({}));
      assertEquals((await used.store.list()).length, 0);
      if (id !== "1password.connect.v1") await catchFailure(used.store.get("KEY"));
    });

    it("nothing, says that there is no connection", async () => {
      await using used = await make();
      await used.store.set("KEY", value);
      await used.vendor![Symbol.asyncDispose]();
      assertMatch(await catchFailure(used.store.get("KEY")), /: (no connection|the connection was reset)$/);
    });
  });
}

it("a call without a response is given up after 10 s", async () => {
  let end = () => {};
  await using vendor = await startVendor(() => new Promise((resolve) => end = () => resolve(new Response())));
  const runtime = loopbackRuntime({ OP_CONNECT_TOKEN: connectToken });
  const asked = catchFailure(secretStore("1password.connect.v1").create({ url: vendor.url }, runtime).get("KEY"));
  while (vendor.requests.length === 0) await settle();
  await runtime.clock.advance(10_000);
  assertStringIncludes(await asked, 'cannot look up the secret "KEY": no response within 10 s');
  assertEquals(runtime.clock.pending, 0);
  end();
});

describe("A secret store whose credentials are wrong", () => {
  it("says so: AWS", async () => {
    const runtime = loopbackRuntime({ AWS_ACCESS_KEY_ID: "AKIAEXAMPLE", AWS_SECRET_ACCESS_KEY: "other" });
    const now = () => runtime.clock.now();
    const right = { accessKeyId: "AKIAEXAMPLE", secretAccessKey: "secret/of+aws", region: "eu-central-1", now };
    await using vendor = await startAwsSecrets(right);
    const settings = { region: "eu-central-1", endpoint: vendor.url };
    const store = secretStore("aws.secrets-manager.v1").create(settings, runtime);
    assertEquals(
      await catchFailure(store.get("KEY")),
      'aws.secrets-manager.v1: cannot look up the secret "KEY": it answered 400 (InvalidSignatureException): check ' +
        "AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and their permissions",
    );
    const elsewhere = secretStore("aws.secrets-manager.v1").create({ ...settings, region: "eu-west-1" }, runtime);
    assertStringIncludes(await catchFailure(elsewhere.get("KEY")), "(UnrecognizedClientException): check");
  });

  it("says so: Google", async () => {
    const { clock } = loopbackRuntime();
    await using vendor = await startGoogleSecrets({ now: () => clock.now() });
    const file = JSON.parse(vendor.keyFile);
    const files: Readonly<Record<string, [text: string, expected: RegExp]>> = {
      "another account": [
        JSON.stringify({ ...file, client_email: "x@y" }),
        /it answered 400 \(invalid_grant\): check the/,
      ],
      "no private key": [JSON.stringify({ ...file, private_key: "x" }), /the private key in "key.json" cannot be read/],
      "no JSON": [`{"private_key": "${value}`, /the credentials "key.json" cannot be read as JSON/],
      "another type": ['{"type": "impersonated_service_account"}', /"key.json" are neither of the type/],
    };
    for (const [what, [text, expected]] of Object.entries(files)) {
      const runtime = { ...loopbackRuntime({}, { "key.json": text }), clock };
      const settings = { endpoint: vendor.url, project: "project-1", credentials: "key.json" };
      const message = await catchFailure(secretStore("google.secret-manager.v1").create(settings, runtime).get("KEY"));
      assertMatch(message, expected, what);
      assertStringIncludes(message, 'google.secret-manager.v1: cannot look up the secret "KEY"');
    }
  });

  it("says so: Microsoft and 1Password", async () => {
    const { tenant, id } = keyVaultClient;
    const runtime = loopbackRuntime({ AZURE_CLIENT_SECRET: "other", OP_CONNECT_TOKEN: "other" });
    await using vault = await startKeyVault({ now: () => runtime.clock.now() });
    const settings = { url: vault.url, authority: vault.url, tenant_id: tenant, client_id: id };
    const message = await catchFailure(secretStore("microsoft.key-vault.v1").create(settings, runtime).get("KEY"));
    assertStringIncludes(message, "it answered 401 (invalid_client): check AZURE_CLIENT_SECRET");
    await using connect = await startOnePassword();
    const store = secretStore("1password.connect.v1").create({ url: connect.url }, runtime);
    assertStringIncludes(await catchFailure(store.get("KEY")), "it answered 401: check OP_CONNECT_TOKEN");
  });

  it("names what is not set", async () => {
    const runtime = loopbackRuntime();
    const make = (id: string, settings: Record<string, unknown>) => secretStore(id).create(settings, runtime);
    const missing: [store: SecretStore, expected: RegExp][] = [
      [make("aws.secrets-manager.v1", { region: "eu-central-1" }), /: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACC/],
      [make("microsoft.key-vault.v1", { url: "https://x.vault.azure.net" }), /: set AZURE_TENANT_ID, AZURE_CL/],
      [make("1password.connect.v1", { url: "http://connect:8080" }), /: set OP_CONNECT_TOKEN/],
      [make("google.secret-manager.v1", {}), /: the project is unknown: set "secrets.project" or GOOGLE_C/],
      [make("google.secret-manager.v1", { project: "p" }), /as this machine's service account \(or set GOOGLE_APPL/],
    ];
    for (const [store, expected] of missing) assertMatch(await catchFailure(store.get("K")), expected);
  });
});

describe("The settings of a secret store", () => {
  const wrong: [id: string, settings: Record<string, unknown>, path: string][] = [
    ["aws.secrets-manager.v1", {}, "secrets.region"],
    ["aws.secrets-manager.v1", { region: "evil.example/" }, "secrets.region"],
    ["aws.secrets-manager.v1", { region: 7 }, "secrets.region"],
    ["aws.secrets-manager.v1", { region: "eu-west-1", endpoint: "ftp://x" }, "secrets.endpoint"],
    ["google.secret-manager.v1", { region: "a/b" }, "secrets.region"],
    ["google.secret-manager.v1", { endpoint: "https://user:pass@x" }, "secrets.endpoint"],
    ["google.secret-manager.v1", { project: ["a"] }, "secrets.project"],
    ["microsoft.key-vault.v1", {}, "secrets.url"],
    ["microsoft.key-vault.v1", { url: "vault" }, "secrets.url"],
    ["1password.connect.v1", {}, "secrets.url"],
    ["1password.connect.v1", { url: "https://x?token=y" }, "secrets.url"],
  ];
  for (const [id, settings, path] of wrong) {
    it(`are refused by their path: ${id} ${JSON.stringify(settings)}`, () => {
      const make = () => secretStore(id).create(settings, loopbackRuntime());
      let thrown: unknown;
      try {
        make();
      } catch (error) {
        thrown = error;
      }
      assert(ConfigError.isInstance(thrown), String(thrown));
      assertEquals(thrown.problems.map((problem) => problem.path), [path]);
      assert(!thrown.message.includes("pass@"));
    });
  }
});

describe("google.secret-manager.v1", () => {
  async function use(env: Record<string, string>, settings: Record<string, unknown>, region?: string) {
    const runtime = loopbackRuntime();
    const vendor = await startGoogleSecrets({
      now: () => runtime.clock.now(),
      ...(region === undefined ? {} : { region }),
    });
    const files = { "key.json": vendor.keyFile, "person.json": vendor.personFile };
    const host = vendor.url.replace("http://", "");
    const over = { ...loopbackRuntime({ ...env, GCE_METADATA_HOST: host }, files), clock: runtime.clock };
    const all = { endpoint: vendor.url, ...settings, ...(region === undefined ? {} : { region }) };
    const store = secretStore("google.secret-manager.v1").create(all, over) as Required<SecretStore>;
    return { vendor, store, clock: runtime.clock };
  }

  it("asks for one token for all who wait, and for the next one shortly before its end", async () => {
    const { vendor, store, clock } = await use({}, { credentials: "key.json" });
    await using _ = vendor;
    await Promise.all(["A", "B", "C"].map((name) => store.set(name, value)));
    assertEquals(vendor.tokens, 1);
    await clock.advance(3_500_000);
    await store.get("A");
    assertEquals(vendor.tokens, 1);
    await clock.advance(60_000);
    assertEquals(await store.get("A"), value);
    assertEquals(vendor.tokens, 2);
  });

  it("works with a person's credentials, and as the machine's service account", async () => {
    const ways: [env: Record<string, string>, settings: Record<string, unknown>][] = [
      [{ GOOGLE_APPLICATION_CREDENTIALS: "person.json", GOOGLE_CLOUD_PROJECT: "project-1" }, {}],
      [{}, { project: "project-1" }],
    ];
    for (const [env, settings] of ways) {
      const { vendor, store } = await use(env, settings);
      await using _ = vendor;
      await store.set("KEY", value);
      assertEquals(await store.get("KEY"), value);
    }
  });

  it("keeps secrets in the configured region", async () => {
    const { vendor, store } = await use({}, { credentials: "key.json" }, "europe-west3");
    await using _ = vendor;
    await store.set("KEY", value);
    assertEquals([await store.get("KEY"), await store.list(), await store.delete("KEY")], [value, ["KEY"], true]);
    assert(vendor.requests.some((request) => request.includes("/locations/europe-west3/secrets/KEY")));
  });
});

describe("microsoft.key-vault.v1", () => {
  it("keeps a name with underscores under one with dashes", async () => {
    await using used = await usedStores["microsoft.key-vault.v1"]!();
    await used.store.set("OPENAI_API_KEY", value);
    assertEquals(await used.store.get("OPENAI_API_KEY"), value);
    assertEquals(await used.store.list(), ["OPENAI-API-KEY"]);
  });

  it("follows no next page to anywhere else, nor for ever", async () => {
    await using used = await usedStores["microsoft.key-vault.v1"]!();
    await using other = await startVendor(() => Response.json({ value: [] }));
    await used.store.set("A", value);
    for (const nextLink of [`${other.url}/secrets`, `${used.vendor!.url}.evil.example/`, "//x/y"]) {
      used.vendor!.respond(() => Response.json({ value: [], nextLink }));
      await catchFailure(used.store.list());
    }
    assertEquals(other.requests, []);
    used.vendor!.respond(() => Response.json({ value: [], nextLink: `${used.vendor!.url}/secrets?again` }));
    assertStringIncludes(await catchFailure(used.store.list()), "more than 1000 pages");
  });
});

describe("1password.connect.v1", () => {
  const password = { id: "password", label: "password", purpose: "PASSWORD", type: "CONCEALED", value };
  const user = { id: "username", label: "username", purpose: "USERNAME", value: "me" };
  const credential = { id: "x1", label: "credential", type: "CONCEALED", value: "the credential" };

  async function use(items: Parameters<typeof startOnePassword>[0], vault: string | undefined = "Keys") {
    const vendor = await startOnePassword(items);
    const runtime = loopbackRuntime({ OP_CONNECT_HOST: vendor.url, OP_CONNECT_TOKEN: connectToken });
    const store = secretStore("1password.connect.v1").create({ vault }, runtime) as Required<SecretStore>;
    return { vendor, store };
  }

  it("takes the credential of an item, else its password, and keeps the other fields", async () => {
    const { vendor, store } = await use([
      { title: "LOGIN", category: "LOGIN", fields: [user, password] },
      { title: "BOTH", category: "API_CREDENTIAL", fields: [password, credential] },
      { title: "NONE", category: "SECURE_NOTE", fields: [user] },
    ]);
    await using _ = vendor;
    assertEquals([await store.get("LOGIN"), await store.get("BOTH")], [value, "the credential"]);
    assertStringIncludes(await catchFailure(store.get("NONE")), 'neither a field labelled "credential" nor a password');
    assertStringIncludes(await catchFailure(store.set("NONE", value)), "has no field for it");
    await store.set("LOGIN", "new");
    assertEquals(await store.get("LOGIN"), "new");
  });

  it("does not choose between two items of one title, nor between vaults", async () => {
    const item = { title: "KEY", category: "PASSWORD", fields: [password] };
    const { vendor, store } = await use([item, item]);
    await using _ = vendor;
    assertStringIncludes(await catchFailure(store.get("KEY")), "2 items have this title");
    const runtime = loopbackRuntime({ OP_CONNECT_HOST: vendor.url, OP_CONNECT_TOKEN: connectToken });
    for (const settings of [{}, { vault: "Kyes" }]) {
      const message = await catchFailure(secretStore("1password.connect.v1").create(settings, runtime).get("KEY"));
      assertMatch(message, /set "secrets.vault" or OP_CONNECT_VAULT to one of .*: "Keys", "Other"$/);
    }
  });
});
