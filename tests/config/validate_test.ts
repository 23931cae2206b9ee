import { assert, assertEquals, assertThrows } from "@std/assert";
import { retryFor } from "../../src/config/settings/routing.ts";
import { validate } from "../../src/config/build/validate.ts";
import { ConfigError } from "../../src/errors.ts";
import type { Provider } from "../../src/contracts/provider.ts";
import type { SelectionStrategy } from "../../src/contracts/rotation.ts";
import { assertLinear } from "../support/effort.ts";
import { catchProblems, known } from "./_known.ts";

const fiveMistakes = {
  providers: { "acme.llm.v1": { api_key: "${secrets:ACME}", timeout: "30s" } },
  models: { fast: { provider: "acne" } },
  pools: { "chat-completion": { strategy: "round-robbin", retry: { max_attempts: 11 } } },
  polls: {},
};

Deno.test("validate() reports five mistakes as five problems with their paths", () => {
  const error = assertThrows(
    () => validate(fiveMistakes, { knownConnectors: known, source: "mesh.yaml" }),
    ConfigError,
  );
  assertEquals(error.problems.map(({ path }) => path), [
    "providers.acme.llm.v1.timeout",
    "pools.chat-completion.retry.max_attempts",
    "polls",
    "models.fast.provider",
    "pools.chat-completion.strategy",
  ]);
  assert(error.message.startsWith('Cannot use the configuration "mesh.yaml": 5 problems\n'), error.message);
});

Deno.test("validate() never shows a key, a token or an address with a password", () => {
  const canary = "canary5ecretcanary5ecret";
  const documents: readonly unknown[] = [
    { providers: { "acme.llm.v1": { api_key: `${canary}\n` } } },
    { providers: { "acme.llm.v1": { api_key: [canary, `${canary} x`] } } },
    { providers: { "acme.llm.v1": { apikey: canary } } },
    { providers: { "acme.llm.v1": canary } },
    { providers: { "acme.llm.v1": { base_url: `https://user:${canary}@host/v1` } } },
    { providers: { "acme.llm.v1": { base_url: `https://host/v1?key=${canary}` } } },
    { providers: { "acme.llm.v1": { api_key: "a", auth: { api_key: canary } } } },
    { providers: { "acme.llm.v1": { auth: { client_secret: { value: canary } } } } },
    { providers: { "acme.llm.v1": { enabled: canary, connector: canary } } },
    { proxy: { auth: { tokens: [`${canary} x`] } } },
    { proxy: { auth: { tokens: canary } } },
    { proxy: { auth: { tokens: [{ tokn: canary }] } } },
    { proxy: { port: `sk-${canary}`, host: `Bearer ${canary}` } },
    { secrets: { store: canary } },
    { observability: { routing: { connector: "mesh.webhook.v1", secret: { a: canary } } } },
  ];
  for (const document of documents) {
    const error = assertThrows(() => validate(document, { knownConnectors: known }), ConfigError);
    assert(!JSON.stringify([error.message, error.problems]).includes(canary), error.message);
  }
});

Deno.test("validate() fills in what an empty document leaves out", () => {
  const settings = validate({}, { knownConnectors: known });
  const { store, failOnMissing, config } = settings.secrets!;
  assertEquals({ store, failOnMissing, config }, { store: "mesh.env.v1", failOnMissing: true, config: {} });
  assertEquals([settings.providers.size, settings.models.size, settings.pools.size], [0, 0, 0]);
  assertEquals(settings.proxy?.host, "127.0.0.1");
  assertEquals(settings.proxy?.port, 8080);
  assertEquals(settings.proxy?.tokenRequired, false);
  assertEquals(settings.proxy?.bodyLimit, 32 * 1024 * 1024);
  assertEquals(settings.deadlineMs, 600_000);
  assertEquals(settings.observability, []);
  assertEquals(settings.warnings, []);
});

Deno.test("validate() holds bodies to a quarter of what all share, and warns where that is less than configured", () => {
  const bounds = (proxy: object) => {
    const { proxy: built, warnings } = validate({ proxy }, { knownConnectors: known });
    return [built?.bodyLimit, built?.bodyMemory, ...warnings.map(({ path, message }) => `${path}: ${message}`)];
  };
  const mib = 2 ** 20;
  assertEquals(bounds({}), [32 * mib, 256 * mib]);
  assertEquals(bounds({ body_limit: "64MiB" }), [64 * mib, 256 * mib]);
  assertEquals(bounds({ body_memory: "4MiB" }), [mib, 4 * mib]);
  assertEquals(bounds({ body_limit: "65MiB" }), [
    64 * mib,
    256 * mib,
    'proxy.body_limit: exceeds a quarter of "body_memory", the limit of each client: 67108864 bytes apply',
  ]);
});

Deno.test("validate() reads an entry of nothing as one with nothing set", () => {
  const settings = validate({ providers: { "acme.llm.v1": null }, pools: { "chat-completion": null } }, {
    knownConnectors: known,
  });
  assertEquals(settings.providers.get("acme.llm.v1")?.enabled, true);
  assertEquals(settings.pools.get("chat-completion")?.capability, "chat-completion");
});

Deno.test("validate() takes dotted keys for nested ones, at any level", () => {
  const nested = validate({
    providers: { "acme.llm.v1": { execution: { timeout: "3s", connect_timeout: "1s" } } },
    pools: { "*": { retry: { max_attempts: 0 } } },
    proxy: { cors: { enabled: false }, port: 9000 },
  }, { knownConnectors: known });
  const dotted = validate({
    providers: { "acme.llm.v1": { execution: { timeout: "3s" }, "execution.connect_timeout": "1s" } },
    pools: { "*": { "retry.max_attempts": 0 } },
    "proxy.cors.enabled": false,
    "proxy.port": 9000,
  }, { knownConnectors: known });
  assertEquals(dotted.providers, nested.providers);
  assertEquals(dotted.proxy, nested.proxy);
  assertEquals(retryFor(dotted.defaultRouting, "x"), retryFor(nested.defaultRouting, "x"));
});

Deno.test("validate() takes one of two keys that mean the same, or both when they agree", () => {
  for (
    const entry of [
      { base_url: "https://a.example/v1", api_key: "k" },
      { execution: { base_url: "https://a.example/v1" }, auth: { api_key: ["k"] } },
      {
        base_url: "https://a.example/v1",
        "execution.base_url": "https://a.example/v1",
        api_key: "k",
        "auth.api_key": "k",
      },
    ]
  ) {
    const provider = validate({ providers: { "acme.llm.v1": entry } }, { knownConnectors: known }).providers.get(
      "acme.llm.v1",
    );
    assertEquals([provider?.baseUrl, provider?.apiKeys], ["https://a.example/v1", ["k"]]);
  }
});

Deno.test("validate() takes the id sent upstream from the model's name, less its vendor", () => {
  const { models } = validate({
    providers: { mine: { connector: "acme.llm.v1" } },
    models: {
      "acme.small": { provider: "mine" },
      "small": { provider: "mine" },
      "acme.": { provider: "mine" },
      "fast": { provider: "mine", model: "tiny" },
    },
  }, { knownConnectors: known });
  assertEquals([...models.values()].map(({ id }) => id), ["small", "small", "acme.", "tiny"]);
});

Deno.test("validate() accepts the names that models will go by", () => {
  validate({
    providers: { "acme.llm.v1": {}, "home.local.v1": {} },
    models: { fast: { provider: "acme.llm.v1" } },
    pools: { "chat-completion": { models: ["fast", "acme.small", "home.whatever"] } },
    aliases: { a: "chat-completion", b: "fast", c: "acme.large", d: "acme/large", e: "large", f: "text-generation" },
  }, { knownConnectors: known });
});

Deno.test("validate() takes every setting of routing, limits and money without a warning", () => {
  const budget = { daily_limit: 1, monthly_limit: 10 };
  const { warnings } = validate({
    providers: { "acme.llm.v1": { budget, execution: { max_retries: 1 } }, "zeta.api.v1": {} },
    pools: {
      "*": { recovery: { probe_on_start: true, on_quota_reset: true, quota_reset_schedule: "daily_utc" } },
      "chat-completion": {
        models: ["acme.small", "acme.large"],
        model_priority: ["acme.small"],
        fallback_strategy: "round-robin",
        rate_limit: { min_delta: "1s", max_rpm: 60 },
        budget,
        deactivation: {
          error_rate_threshold: 0.5,
          error_rate_window: "1m",
          error_rate_min_requests: 5,
          request_limit: 100,
          token_limit: 100_000,
          budget_limit: 1,
          quota_window: "daily",
          maintenance_window: "0 3 * * *",
          maintenance_duration: "30m",
        },
        recovery: { cooldown: "30s", probe_interval: "5m" },
        provider_deactivation: "on_auth_failure",
        provider_recovery: "on_probe_success",
      },
    },
    budget,
    discovery: { health: { interval: "1m", timeout: "5s", failure_threshold: 2, providers: ["acme"] } },
  }, { knownConnectors: known });
  assertEquals(warnings, []);
});

Deno.test("validate() warns of keys that are placeholders, except where any key will do", () => {
  const warn = (id: string, api_key: string, more = {}) =>
    validate({ providers: { [id]: { api_key, ...more } } }, { knownConnectors: known }).warnings
      .map(({ path, message }) => `${path}: ${message}`);
  const message = "is what looks like a placeholder: the provider will refuse it";
  for (
    const key of ["sk-...", "your-key", "<your key>".replace(" ", "-"), "sk-xxxx", "YOUR_API_KEY_HERE", "changeme"]
  ) {
    assertEquals(warn("acme.llm.v1", key), [`providers.acme.llm.v1.api_key: ${message}`], key);
  }
  for (const key of ["sk-0123456789", "${secrets:KEY}", "keyed"]) assertEquals(warn("acme.llm.v1", key), [], key);
  assertEquals(warn("home.local.v1", "xxx"), []);
  assertEquals(warn("open.compatible.v1", "xxx", { base_url: "https://open.example/v1" }), []);
});

Deno.test("validate() warns of keys sent unencrypted, short tokens and aliases that no request reaches", () => {
  const { warnings } = validate({
    providers: {
      "acme.llm.v1": { api_key: "k", base_url: "http://gateway.example/v1" },
      "open.compatible.v1": { base_url: "http://127.0.0.1:8000/v1", api_key: "k" },
      far: { connector: "open.compatible.v1", base_url: "http://169.254.169.254/v1" },
    },
    pools: { "chat-completion": {} },
    aliases: { "chat-completion": "acme.small" },
    proxy: { auth: { tokens: ["short", "${secrets:T}", "long-enough-to-be-a-token"] } },
  }, { knownConnectors: known });
  assertEquals(warnings.map(({ path, message }) => `${path}: ${message}`), [
    "providers.acme.llm.v1.base_url: sends the key unencrypted: use https",
    "providers.far.base_url: is a link-local address",
    "aliases.chat-completion: has no effect: a pool has this name",
    "proxy.auth.tokens[0]: is short: use 16 characters or more, so that it cannot be guessed",
  ]);
});

Deno.test("validate() uses detected providers for a document without any", () => {
  const detected = [...validate({ providers: { "acme.llm.v1": {} } }, { knownConnectors: known }).providers.values()];
  const document = { pools: { "chat-completion": { models: ["acme.small"] } } };
  assertEquals(validate(document, { knownConnectors: known, detected }).providers.get("acme.llm.v1"), detected[0]);
  assertEquals(
    validate({ ...document, providers: { "acme.llm.v1": { enabled: true } } }, { knownConnectors: known, detected })
      .providers.size,
    1,
  );
  assertEquals(catchProblems(() => validate(document, { knownConnectors: known })).length, 1);
});

Deno.test("validate() takes providers and strategies made by a program, and leaves them as they are", () => {
  class Counting {
    count = 0;
    select(): undefined {
      this.count++;
    }
    score(): number {
      return this.count;
    }
  }
  const counting = new Counting();
  const plain = { calls: 0, select: () => undefined, score: () => 0 };
  const instance = { complete() {}, stream() {}, id: "mine" } as unknown as Provider;
  const { pools, providers } = validate({
    providers: { mine: { instance } },
    models: { fast: { provider: "mine" } },
    pools: { a: { models: ["fast"], strategy: counting }, b: { models: ["mine.x"], strategy: plain } },
  }, { knownConnectors: known });
  assertEquals(providers.get("mine")?.instance, instance);
  (pools.get("a")?.routing.strategy as SelectionStrategy).select([], {} as never);
  plain.calls++;
  assertEquals([counting.count, plain.calls, Object.isFrozen(instance)], [1, 1, false]);
});

Deno.test("validate() freezes the settings, maps and sets too, and not the document", () => {
  const document = { providers: { "acme.llm.v1": { config: { tags: ["a"] }, api_key: ["k"] } }, pools: { "*": {} } };
  const settings = validate(document, { knownConnectors: known });
  const entry = settings.providers.get("acme.llm.v1")!;
  const changes: readonly (() => unknown)[] = [
    () => (settings as { source?: string }).source = "x",
    () => (settings.providers as Map<string, unknown>).set("x", entry),
    () => (settings.providers as Map<string, unknown>).delete("acme.llm.v1"),
    () => (entry.apiKeys as string[]).push("x"),
    () => (entry.config.tags as string[]).push("x"),
    () => (settings.defaultRouting as { strategy: string }).strategy = "x",
    () => (retryFor(settings.defaultRouting, "x").retryableCodes as Set<number>).add(418),
    () => (settings.warnings as unknown[]).push("x"),
  ];
  for (const change of changes) assertThrows(change, TypeError);
  document.providers["acme.llm.v1"].config.tags.push("b");
  assertEquals(entry.config.tags, ["a"]);
});

Deno.test("validate() keeps names that objects have anyway apart from those that are configured", () => {
  const settings = validate({ pools: { toString: { models: ["acme.small"] } }, providers: { "acme.llm.v1": {} } }, {
    knownConnectors: known,
  });
  assertEquals([...settings.pools.keys()], ["toString"]);
  assertEquals(
    catchProblems(() => validate({ toString: 1, hasOwnProperty: {} }, { knownConnectors: known })).length,
    2,
  );
  assertEquals(({} as Record<string, unknown>).polluted, undefined);
});

/** Documents with one text that is made to take long. */
const hostile: readonly (readonly [what: string, documentOf: (size: number) => unknown])[] = [
  ["a duration", (size) => ({ providers: { "acme.llm.v1": { execution: { timeout: "1".repeat(size) } } } })],
  ["references", (size) => ({ providers: { "acme.llm.v1": { api_key: "${secrets:".repeat(size / 10) } } })],
  ["an address", (size) => ({ providers: { "acme.llm.v1": { base_url: "1".repeat(size) } } })],
  ["a provider's name", (size) => ({ models: { m: { provider: "1".repeat(size) } } })],
  ["a size", (size) => ({ models: { m: { constraints: { max_file_size: "1".repeat(size) } } } })],
  ["a host", (size) => ({ proxy: { host: "a".repeat(size) } })],
  ["a path", (size) => ({ proxy: { endpoints: ["${".repeat(size / 2)] } })],
  ["a key", (size) => ({ ["1".repeat(size)]: 1 })],
];

Deno.test("validate() reads hostile texts in a time in proportion to their length", async () => {
  for (const [what, documentOf] of hostile) {
    await assertLinear(
      what,
      25_000,
      (size) => catchProblems(() => validate(documentOf(size), { knownConnectors: known })),
    );
  }
});

Deno.test("validate() does not report what only follows from another problem", () => {
  const document = {
    providers: { "acme.lm.v1": {} },
    models: { fast: { provider: "acme.lm.v1" } },
    pools: { "chat-completion": { models: ["acme.small", "fast"] }, own: { capability: 5 }, other: { models: [] } },
  };
  const problems = catchProblems(() => validate(document, { knownConnectors: known })).map((line) =>
    line.split(": ")[0]
  );
  assertEquals(problems, ["pools.own.capability", "pools.other.models", "providers.acme.lm.v1"]);
});
