import { assert, assertEquals, assertRejects } from "@std/assert";
import { escapeReferences, referencesIn, resolveReferences } from "../../src/config/schema/references.ts";
import { resolveSettings } from "../../src/config/secrets/resolve_settings.ts";
import type { Settings } from "../../src/config/settings/settings.ts";
import { validate } from "../../src/config/build/validate.ts";
import { SecretNotFoundError } from "../../src/errors.ts";
import { assertLinear } from "../support/effort.ts";
import { known, rejectionsOf } from "./_known.ts";

const secrets: Readonly<Record<string, string>> = {
  A: "alpha",
  "b/c.d-e": "beta",
  NEST: "${secrets:A}",
  DOLLAR: "$&$1",
};

function get(name: string): string | undefined {
  return Object.hasOwn(secrets, name) ? secrets[name] : undefined;
}

Deno.test("resolveReferences() puts secrets in, whole or inside a text, once", () => {
  const table: readonly (readonly [text: string, resolved: string])[] = [
    ["plain", "plain"],
    ["${secrets:A}", "alpha"],
    ["x-${secrets:A}-${secrets:b/c.d-e}-${secrets:A}", "x-alpha-beta-alpha"],
    ["$${secrets:A}", "${secrets:A}"],
    ["$$${secrets:A}", "$${secrets:A}"],
    ["$${secrets:${secrets:A}}", "${secrets:alpha}"],
    ["${secrets:NEST}", "${secrets:A}"],
    ["${secrets:DOLLAR}", "$&$1"],
    ["100$", "100$"],
    ["a ${ b", "a ${ b"],
  ];
  for (const [text, resolved] of table) {
    assertEquals(resolveReferences(text, get), { text: resolved, missing: [] }, text);
  }
});

Deno.test("resolveReferences() names every secret that is missing", () => {
  assertEquals(resolveReferences("${secrets:X}${secrets:A}${secrets:toString}${secrets:X}", get), {
    text: "alpha",
    missing: ["X", "toString"],
  });
});

Deno.test("referencesIn() names the secrets of a text, or what is wrong with it", () => {
  assertEquals(referencesIn("${secrets:A} ${secrets:B} ${secrets:A}"), { names: ["A", "B"] });
  assertEquals(referencesIn("$${secrets:A}"), { names: [] });
  for (
    const wrong of [
      "${secrets:",
      "${secrets:}",
      "${secrets: A}",
      "${secrets:${secrets:A}}",
      "${A}",
      "${env:A}",
      "${secret:A}",
    ]
  ) {
    assert(referencesIn(wrong).problem !== undefined, wrong);
  }
});

Deno.test("escapeReferences() makes a text that resolves to itself", () => {
  for (const text of ["plain", "${secrets:A}", "$${secrets:A}", "a${secrets:"]) {
    assertEquals(resolveReferences(escapeReferences(text), get), { text, missing: [] });
  }
});

Deno.test("references are read in a time in proportion to the text", async () => {
  for (const part of ["${secrets:", "$${secrets:", "${secrets:A}", "${", "${a"]) {
    await assertLinear(part, 25_000, (size) => referencesIn(part.repeat(size / part.length)));
  }
});

const document = {
  providers: {
    "acme.llm.v1": {
      api_key: ["${secrets:KEY}", "pre-${secrets:OTHER}"],
      base_url: "https://${secrets:HOST}/v1",
      config: { deep: [{ "x": "${secrets:KEY}" }] },
    },
    "zeta.api.v1": { enabled: false, api_key: "${secrets:NEVER_ASKED}" },
  },
  models: { fast: { provider: "acme.llm.v1", model: "ft:${secrets:OTHER}" } },
  proxy: { auth: { tokens: ["${secrets:TOKEN}"] } },
};

function settingsOf(more: Record<string, unknown> = {}): Settings {
  return validate({ ...document, ...more }, { known });
}

function store(
  values: Readonly<Record<string, string>>,
): { asked: string[]; get(name: string): Promise<string | undefined> } {
  const asked: string[] = [];
  return {
    asked,
    get(name) {
      asked.push(name);
      return Promise.resolve(Object.hasOwn(values, name) ? values[name] : undefined);
    },
  };
}

const all = { KEY: "key-value\n", OTHER: "other", HOST: "host.example", TOKEN: "token-value-long-enough" };

Deno.test("resolveSettings() asks for each secret once and puts it in wherever it is referred to", async () => {
  const { asked, get } = store(all);
  const { settings, secrets } = await resolveSettings(settingsOf(), get);
  const entry = settings.providers.get("acme.llm.v1");
  assertEquals(entry?.apiKeys, ["key-value", "pre-other"]);
  assertEquals(entry?.baseUrl, "https://host.example/v1");
  assertEquals((entry?.config.deep as { x: string }[])[0]?.x, "key-value");
  assertEquals(settings.models.get("fast")?.id, "ft:other");
  assertEquals(settings.proxy?.clients.map(({ token }) => token), ["token-value-long-enough"]);
  assertEquals(asked.toSorted(), ["HOST", "KEY", "OTHER", "TOKEN"]);
  assertEquals([...secrets].toSorted(), ["host.example", "key-value", "other", "token-value-long-enough"]);
  assert(Object.isFrozen(settings.providers) && Object.isFrozen(entry));
});

Deno.test("resolveSettings() names all missing secrets at once, blank ones too", async () => {
  const error = await assertRejects(
    () => resolveSettings(settingsOf(), store({ KEY: " \n", HOST: "h" }).get),
    SecretNotFoundError,
  );
  assertEquals(error.names.toSorted(), ["KEY", "OTHER", "TOKEN"]);
  assertEquals(error.message, 'Cannot find the secrets "KEY", "OTHER", "TOKEN" in the store "mesh.env.v1"');
});

Deno.test("resolveSettings() does without missing keys when it may, and never without a token", async () => {
  const lenient = settingsOf({ secrets: { resolution: { fail_on_missing: false } } });
  const some = await resolveSettings(lenient, store({ ...all, OTHER: "", KEY: "k" }).get).catch((error) => error.names);
  assertEquals(some, ["OTHER"], "a model's id cannot be left out");
  const noModels = settingsOf({ secrets: { resolution: { fail_on_missing: false } }, models: {} });
  const { OTHER: _other, ...one } = all;
  const { settings } = await resolveSettings(noModels, store(one).get);
  assertEquals(settings.providers.get("acme.llm.v1")?.apiKeys, ["key-value"]);
  assertEquals(settings.providers.get("acme.llm.v1")?.enabled, true);
  const { HOST: _host, ...hostless } = all;
  const off = await resolveSettings(noModels, store(hostless).get);
  assertEquals(off.settings.providers.get("acme.llm.v1")?.enabled, false);
  assertEquals(off.settings.warnings.map(({ path }) => path), [
    "providers.acme.llm.v1",
    "providers.acme.llm.v1",
  ]);
  const { TOKEN: _token, ...tokenless } = all;
  await assertRejects(() => resolveSettings(noModels, store(tokenless).get), SecretNotFoundError);
});

Deno.test("resolveSettings() refuses what came out and does not hold, without showing it", async () => {
  const values = { KEY: "se cret", OTHER: "o\u00e9", HOST: "user:pass@host", TOKEN: "to ken" };
  const cors = { origins: ["https://ok.example", "https://${secrets:HOST}"] };
  const proxy = { ...document.proxy, cors, allowed_hosts: ["${secrets:HOST}"] };
  assertEquals(await rejectionsOf(resolveSettings(settingsOf({ proxy }), store(values).get)), [
    "providers.acme.llm.v1.api_key: has a space, a control or a non-ASCII character at position 3, which a key must not contain",
    "providers.acme.llm.v1.api_key: has a space, a control or a non-ASCII character at position 6, which a key must not contain",
    'providers.acme.llm.v1.base_url: expected an http or https URL such as "https://api.example.com/v1" without a user name or password',
    "proxy.auth.tokens[0]: has a space, a control or a non-ASCII character at position 3, which a key must not contain",
    'proxy.allowed_hosts[0]: expected a host name or an IP address without scheme, port or path, such as "127.0.0.1"',
    'proxy.cors.origins[1]: expected "*" or an origin such as "https://app.example.com", in lower case and without a path',
  ]);
});
