import { assertEquals, assertFalse } from "@std/assert";
import { generateKeyPairSync } from "node:crypto";
import { ConfigError } from "../../src/errors.ts";
import { resolveSettings } from "../../src/config/secrets/resolve_settings.ts";
import { validate } from "../../src/config/build/validate.ts";
import { catchProblems, known } from "./_known.ts";

const at = "providers.acme.llm.v1";
const oauth = { method: "oauth", token_url: "https://t.example/token", client_id: "me", client_secret: "s3cret" };

function acme(entry: unknown): unknown {
  return { providers: { "acme.llm.v1": entry } };
}

function auth(values: object): unknown {
  return acme({ auth: values });
}

function account(members: object): object {
  return { method: "service_account", credentials: { ...goodAccount, ...members } };
}

const goodAccount = {
  client_email: "robot@project.example",
  private_key: generateKeyPairSync("rsa", { modulusLength: 1024 }).privateKey.export({ type: "pkcs8", format: "pem" }),
  token_uri: "https://t.example/token",
};

/** A document, and every problem it has. */
const malformed: readonly (readonly [document: unknown, ...problems: string[]])[] = [
  [
    acme({ credentials: "header", "auth.api_key": ["one", "two"] }),
    `${at}.auth.api_key: contradicts "credentials: header": one key, at most, lists the models`,
  ],
  [
    acme({ credentials: "header", auth: oauth }),
    `${at}.auth.method: contradicts "credentials: header": callers send API keys`,
  ],
  [acme({ api_key: [] }), `${at}.api_key: expected at least one item, found an empty list`],
  [acme({ "auth.api_key": [] }), `${at}.auth.api_key: expected at least one item, found an empty list`],
  [acme({ api_key: ["one", 2] }), `${at}.api_key[1]: expected a string, found a number: put it in quotes`],
  [acme({ api_key: ["one", "two", "one"] }), `${at}.api_key[2]: is the same as [0]: list each key once`],
  [
    acme({ "auth.api_key": ["${secrets:K}", "${secrets:K}"] }),
    `${at}.auth.api_key[1]: is the same as [0]: list each key once`,
  ],
  [
    acme({ api_key: ["one", "two"], "auth.key_rotation": false }),
    `${at}.auth.key_rotation: cannot be false with 2 keys: a list implies rotation`,
  ],
  [
    auth({ method: "basic" }),
    `${at}.auth.method: unknown value "basic"; allowed: "api_key", "oauth", "service_account", "ambient"`,
  ],
  [
    auth({ method: "oath", token_url: "https://t.example" }),
    `${at}.auth.method: unknown value "oath", did you mean "oauth"? (allowed: "api_key", "oauth", "service_account", "ambient")`,
  ],
  [
    auth({ method: "oauth" }),
    `${at}.auth.token_url: missing: the URL of the token endpoint`,
    `${at}.auth.client_id: missing: a client needs an id and a secret, unless there is a "refresh_token"`,
    `${at}.auth.client_secret: missing: a client needs an id and a secret, unless there is a "refresh_token"`,
  ],
  [
    auth({ method: "oauth", token_url: "https://t.example", refresh_token: "r", client_secret: "s" }),
    `${at}.auth.client_id: missing: "client_secret" belongs to a client`,
  ],
  [
    auth({ ...oauth, token_url: "t.example" }),
    `${at}.auth.token_url: expected an http or https URL such as "https://api.example.com/v1", found "t.example"`,
  ],
  [
    auth({ ...oauth, client_secret: 5 }),
    `${at}.auth.client_secret: expected a string, found a number: put it in quotes`,
  ],
  [
    auth({ token_url: "https://t.example", client_secret: "s" }),
    `${at}.auth.token_url: belongs to the method "oauth", "service_account": set "auth.method"`,
    `${at}.auth.client_secret: belongs to the method "oauth": set "auth.method"`,
  ],
  [
    auth({ ...oauth, credentials: {} }),
    `${at}.auth.credentials: belongs to the method "service_account": "auth.method" is "oauth"`,
  ],
  [
    acme({ api_key: "k", auth: oauth }),
    `${at}.api_key: has no effect if "auth.method" is "oauth": remove it`,
  ],
  [
    auth({ ...oauth, api_key: "k" }),
    `${at}.auth.api_key: belongs to the method "api_key": "auth.method" is "oauth"`,
  ],
  [
    auth({ method: "ambient", credentials: {} }),
    `${at}.auth.credentials: belongs to the method "service_account": "auth.method" is "ambient"`,
    `${at}.auth.method: "ambient" needs the identity of a machine in a cloud; no connector here has one`,
  ],
  [
    auth({ method: "service_account" }),
    `${at}.auth.credentials: missing: the service account's JSON key, preferably as a secret reference`,
  ],
  [
    auth({ method: "service_account", credentials: "account.json" }),
    `${at}.auth.credentials: is not the JSON key of a service account: it is not valid JSON`,
  ],
  [
    auth({ method: "service_account", credentials: "[]" }),
    `${at}.auth.credentials: is not the JSON key of a service account: expected an object`,
  ],
  [auth({ method: "service_account", credentials: {} }), `${at}.auth.credentials: has no "client_email"`],
  [auth(account({ private_key: undefined })), `${at}.auth.credentials: has no "private_key"`],
  [
    auth(account({ private_key: "-----BEGIN RSA PRIVATE KEY-----\nAAAA\n-----END RSA PRIVATE KEY-----" })),
    `${at}.auth.credentials: has a "private_key" that is not PKCS#8 in PEM ("-----BEGIN PRIVATE KEY-----")`,
  ],
  [
    auth(account({ private_key: "-----BEGIN PRIVATE KEY-----\nA!A\n-----END PRIVATE KEY-----" })),
    `${at}.auth.credentials: has a "private_key" whose text between the PEM lines is not base64`,
  ],
  [
    auth(account({ token_uri: "here" })),
    `${at}.auth.credentials: has no URL in "token_uri": set it there or as "token_url"`,
  ],
  [
    auth({ ...oauth, tokenurl: "x" }),
    `${at}.auth.tokenurl: unknown key, did you mean "token_url"? (allowed: "method", ` +
    `"api_key", "key_rotation", "token_url", "client_id", "client_secret", "refresh_token", "scope", "credentials")`,
  ],
];

/** A document that holds, and what it is warned of. */
const odd: readonly (readonly [document: unknown, ...warnings: string[]])[] = [
  [acme({ api_key: ["one", "two"] })],
  [acme({ api_key: ["one", "two"], "auth.key_rotation": true, "auth.method": "api_key" })],
  [acme({ api_key: "one", "auth.key_rotation": false })],
  [auth(oauth)],
  [auth(account({}))],
  [auth({ ...account({ token_uri: undefined }), token_url: "https://t.example/token", scope: "one two" })],
  [auth({ method: "service_account", credentials: "${secrets:ACCOUNT}" })],
  [auth({ ...oauth, token_url: "http://127.0.0.1:8/token" })],
  [
    acme({ api_key: "one", "auth.key_rotation": true }),
    `${at}.auth.key_rotation: has no effect with one key: set a list of keys`,
  ],
  [acme({ "auth.key_rotation": true }), `${at}.auth.key_rotation: has no effect with no key: set a list of keys`],
  [
    auth({ ...oauth, token_url: "http://t.example/token" }),
    `${at}.auth.token_url: sends the key unencrypted: use https`,
  ],
  [
    auth({ method: "oauth", token_url: "https://t.example", refresh_token: "r" }),
    `${at}.auth.client_id: is missing: most vendors require the client that the refresh token was issued to`,
  ],
  [
    acme({ base_url: "http://gpu.example/v1", auth: oauth }),
    `${at}.base_url: sends the key unencrypted: use https`,
  ],
];

Deno.test("validate() says what is wrong with credentials", () => {
  for (const [document, ...problems] of malformed) {
    assertEquals(catchProblems(() => validate(document, { knownConnectors: known })), problems);
  }
});

Deno.test("validate() takes what belongs together, and warns of what is odd", () => {
  for (const [document, ...warnings] of odd) {
    assertEquals(
      validate(document, { knownConnectors: known }).warnings.map(({ path, message }) => `${path}: ${message}`),
      warnings,
    );
  }
});

Deno.test("resolveSettings() looks at credentials once they are known, and shows nothing of them", async () => {
  const settings = validate({
    providers: {
      "acme.llm.v1": { auth: { method: "service_account", credentials: "${secrets:ACCOUNT}" } },
      "zeta.api.v1": { auth: { ...oauth, token_url: "${secrets:URL}", client_secret: "${secrets:SECRET}" } },
    },
  }, { knownConnectors: known });
  const values: Record<string, string> = { ACCOUNT: "canary-account", URL: "canary-url", SECRET: "canary secret" };
  const error = await resolveSettings(settings, (name) => Promise.resolve(values[name])).catch((error) => error);
  if (!ConfigError.isInstance(error)) throw error;
  assertEquals(error.problems.map(({ path, message }) => `${path}: ${message}`), [
    "providers.acme.llm.v1.auth.credentials: is not the JSON key of a service account: it is not valid JSON",
    'providers.zeta.api.v1.auth.token_url: expected an http or https URL such as "https://api.example.com/v1"',
    "providers.zeta.api.v1.auth.client_secret: has a space, a control or a non-ASCII character at position 7, which a key must not contain",
  ]);
  assertFalse(error.message.includes("canary"));
});

Deno.test("resolveSettings() counts two secrets of the same value as one key", async () => {
  const settings = validate(acme({ api_key: ["${secrets:A}", "${secrets:B}", "third"] }), { knownConnectors: known });
  const resolved = await resolveSettings(settings, () => Promise.resolve("same"));
  assertEquals(resolved.settings.providers.get("acme.llm.v1")!.apiKeys, ["same", "third"]);
  assertEquals(resolved.settings.warnings, [
    { path: `${at}.api_key`, message: "has duplicate keys, which count as one" },
  ]);
});

Deno.test("resolveSettings() switches a provider off whose token cannot be fetched for want of a secret", async () => {
  const settings = validate({
    ...acme({ auth: { ...oauth, client_secret: "${secrets:SECRET}" } }) as object,
    "secrets.resolution.fail_on_missing": false,
  }, { knownConnectors: known });
  const resolved = await resolveSettings(settings, () => Promise.resolve(undefined));
  assertEquals(resolved.settings.providers.get("acme.llm.v1")!.enabled, false);
});
