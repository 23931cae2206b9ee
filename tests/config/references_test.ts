import { assert, assertEquals, assertRejects } from "@std/assert";
import { escapeReferences, referencesIn, resolveReferences } from "../../src/config/schema/references.ts";
import { completeSettings, resolveSettings } from "../../src/config/secrets/resolve_settings.ts";
import type { Settings } from "../../src/config/settings/settings.ts";
import { validate } from "../../src/config/build/validate.ts";
import { SecretNotFoundError } from "../../src/errors.ts";
import { assertLinear } from "../support/effort.ts";
import { catchProblems, catchRejections, known } from "./_known.ts";
import { readLimits } from "../support/_budgets.ts";

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

function createSettings(more: Record<string, unknown> = {}): Settings {
  return validate({ ...document, ...more }, { knownConnectors: known });
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
  const { settings, secrets } = await resolveSettings(createSettings(), get);
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
    () => resolveSettings(createSettings(), store({ KEY: " \n", HOST: "h" }).get),
    SecretNotFoundError,
  );
  assertEquals(error.names.toSorted(), ["KEY", "OTHER", "TOKEN"]);
  assertEquals(error.message, 'Cannot find the secrets "KEY", "OTHER", "TOKEN" in the store "mesh.env.v1"');
});

const lenient = { secrets: { resolution: { fail_on_missing: false } } };

/** The lines of warnings. */
function formatWarnings({ warnings }: Settings): string[] {
  return warnings.map(({ path, message }) => `${path}: ${message}`);
}

Deno.test("resolveSettings() leaves out whatever lacks a secret when it may, with a warning", async () => {
  const more = {
    ...lenient,
    models: { ...document.models, other: { provider: "acme.llm.v1", parameters: { fill: { a: "${secrets:GONE}" } } } },
    pools: { chat: { models: ["fast", "other"] } },
    storage: { connector: "mesh.local-file.v1", path: "${secrets:GONE}" },
    observability: { routing: [{ url: "${secrets:GONE}", connector: "mesh.webhook.v1" }, { path: "./a.jsonl" }] },
    proxy: {
      ...document.proxy,
      host: "${secrets:GONE}",
      id_secret: "${secrets:GONE}",
      allowed_hosts: ["a.example", "${secrets:GONE}"],
      cors: { origins: ["${secrets:GONE}"], headers: ["x-one", "${secrets:GONE}"] },
    },
  };
  const { settings } = await resolveSettings(createSettings(more), store(all).get);
  assertEquals([...settings.models.keys()], ["fast"]);
  assertEquals([settings.storage, settings.observability.length], [undefined, 1]);
  const { host, idSecret, allowedHosts, cors } = settings.proxy!;
  assertEquals([host, idSecret, allowedHosts, cors.origins, cors.headers], [
    "127.0.0.1",
    undefined,
    ["a.example"],
    [],
    ["x-one"],
  ]);
  assertEquals(formatWarnings(settings).filter((line) => line.includes('"GONE"')), [
    'models.other: is left out: the secret "GONE" is missing',
    'proxy.id_secret: is left out: the secret "GONE" is missing',
    'proxy.host: is left out: the secret "GONE" is missing',
    'proxy.allowed_hosts[1]: is left out: the secret "GONE" is missing',
    'proxy.cors.origins[0]: is left out: the secret "GONE" is missing',
    'proxy.cors.headers[1]: is left out: the secret "GONE" is missing',
    'storage: is left out, so that states are kept in memory: the secret "GONE" is missing',
    'observability: the sink "mesh.webhook.v1" is left out: the secret "GONE" is missing',
  ]);
});

Deno.test("resolveSettings() does without missing keys when it may, and never without a token", async () => {
  const noModels = createSettings({ ...lenient, models: {} });
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
  const admin = createSettings({ ...lenient, proxy: { auth: { admin_tokens: ["${secrets:GONE}"] } } });
  await assertRejects(() => resolveSettings(admin, store(all).get), SecretNotFoundError);
});

/** Numbers, booleans, durations and sizes as secrets. */
const scalars = {
  ...lenient,
  pools: { chat: { models: ["fast"], retry: { max_attempts: "${secrets:TRIES}", max_delay: "${secrets:WAIT}" } } },
  budget: { daily_limit: "${secrets:LIMIT}" },
  models: { fast: { provider: "acme.llm.v1", pricing: { input: "${secrets:PRICE}", output: "0.${secrets:TRIES}" } } },
  proxy: { port: "${secrets:PORT}", body_limit: "${secrets:SIZE}", cors: { enabled: "${secrets:CORS}" } },
};
const numbers = { TRIES: "5", WAIT: "1h30m", LIMIT: "2.5", PRICE: "3", PORT: "8443\n", SIZE: "4MiB", CORS: "false" };

async function complete(
  document: Record<string, unknown>,
  values: Readonly<Record<string, string>>,
): Promise<Settings> {
  return await completeSettings(createSettings(document), store({ ...all, ...values }).get);
}

Deno.test("a secret may stand for a number, a boolean, a duration or a size", async () => {
  const settings = await complete(scalars, numbers);
  const { retry } = settings.pools.get("chat")!.routing;
  assertEquals([retry.maxAttempts, retry.maxDelayMs], [5, 5_400_000]);
  assertEquals(readLimits(settings.budget)?.day, 2_500_000_000);
  assertEquals(settings.models.get("fast")?.pricing, { input: 3, output: 0.5 });
  const { port, bodyLimit, cors } = settings.proxy!;
  assertEquals([port, bodyLimit, cors.enabled], [8443, 4_194_304, false]);
  assertEquals([settings.deferred, settings.warnings], [undefined, []]);
});

Deno.test("a secret that is not a number is refused with its path, and never shown", async () => {
  const wrong = { ...numbers, TRIES: "sk-secret", PORT: "99999", CORS: "yes", WAIT: "10", LIMIT: "-1" };
  assertEquals(
    (await catchRejections(complete(scalars, wrong))).toSorted(),
    [
      "pools.chat.retry.max_attempts: expected an integer from 0 to 10, found another value in ${secrets:TRIES}",
      'pools.chat.retry.max_delay: expected a duration such as "500ms" or "1h30m", found another value in ${secrets:WAIT}',
      "budget.daily_limit: expected a number of 0 or more, found another value in ${secrets:LIMIT}",
      "models.fast.pricing.output: expected a number of 0 or more, found another value in 0.${secrets:TRIES}",
      "proxy.port: expected an integer from 0 to 65535, found another value in ${secrets:PORT}",
      "proxy.cors.enabled: expected true or false, found another value in ${secrets:CORS}",
    ].toSorted(),
  );
});

Deno.test("a missing number stops a start, unless it may be left out", async () => {
  const { PORT: _port, LIMIT: _limit, ...some } = numbers;
  const strict = { ...scalars, secrets: {} };
  const error = await assertRejects(() => complete(strict, some), SecretNotFoundError);
  assertEquals(error.names.toSorted(), ["LIMIT", "PORT"]);
  const settings = await complete(scalars, some);
  assertEquals([settings.proxy?.port, settings.budget], [8080, undefined]);
  assertEquals(formatWarnings(settings).toSorted(), [
    'budget.daily_limit: is left out: the secret "LIMIT" is missing',
    'proxy.port: is left out: the secret "PORT" is missing',
  ]);
});

Deno.test("what a number contradicts is said once it is known, and nothing before", async () => {
  const retry = { max_delay: "${secrets:WAIT}", initial_delay: "20s" };
  const document = { ...scalars, pools: { chat: { models: ["fast"], retry } } };
  createSettings(document);
  assertEquals(
    await catchRejections(complete(document, { ...numbers, WAIT: "10s" })),
    [
      'pools.chat.retry.initial_delay: "max_delay" (10s) is less than "initial_delay" (20s)',
    ].map((line) => line.replace("initial_delay:", "max_delay:")),
  );
});

Deno.test("the section of the store has no references, and names and words have none in their place", () => {
  const document = {
    secrets: { resolution: { cache_ttl: "${secrets:A}" } },
    observability: { logging: { level: "${secrets:A}" } },
  };
  assertEquals(
    catchProblems(() => validate(document, { knownConnectors: known, detected: [] })).map((line) => line.split(":")[0]),
    [
      "secrets.resolution.cache_ttl",
      "observability.logging.level",
    ],
  );
});

Deno.test("resolveSettings() refuses what came out and does not hold, without showing it", async () => {
  const values = { KEY: "se cret", OTHER: "o\u00e9", HOST: "user:pass@host", TOKEN: "to ken" };
  const cors = { origins: ["https://ok.example", "https://${secrets:HOST}"] };
  const proxy = { ...document.proxy, cors, allowed_hosts: ["${secrets:HOST}"] };
  assertEquals(await catchRejections(resolveSettings(createSettings({ proxy }), store(values).get)), [
    "providers.acme.llm.v1.api_key: has a space, a control or a non-ASCII character at position 3, which a key must not contain",
    "providers.acme.llm.v1.api_key: has a space, a control or a non-ASCII character at position 6, which a key must not contain",
    'providers.acme.llm.v1.base_url: expected an http or https URL such as "https://api.example.com/v1" without a user name or password',
    "proxy.auth.tokens[0]: has a space, a control or a non-ASCII character at position 3, which a key must not contain",
    'proxy.allowed_hosts[0]: expected a host name or an IP address without scheme, port or path, such as "127.0.0.1"',
    'proxy.cors.origins[1]: expected "*" or an origin such as "https://app.example.com", in lower case and without a path',
  ]);
});
