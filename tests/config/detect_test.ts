import { addressOfHost } from "../../src/config/detect/_variables.ts";
import { assert, assertEquals, assertThrows } from "@std/assert";
import { detectedSettings, detectProviders, overlayKeys } from "../../src/config/detect/detect.ts";
import type { Environment } from "../../src/contracts/runtime.ts";
import { NoProvidersError } from "../../src/errors.ts";
import { catchProblems, connectors, known } from "./_known.ts";

function environment(variables: Readonly<Record<string, string>>): Environment {
  return (name) => Object.hasOwn(variables, name) ? variables[name] : undefined;
}

function detect(variables: Readonly<Record<string, string>>, filter?: readonly string[]) {
  return detectProviders(connectors, environment(variables), filter);
}

interface DetectionCase {
  readonly variables: Readonly<Record<string, string>>;
  /** Connector id, source, keys and address of each provider found. */
  readonly found: readonly (readonly [id: string, source: string, keys: readonly string[], baseUrl?: string])[];
}

const table: readonly DetectionCase[] = [
  { variables: { ACME_API_KEY: "k1" }, found: [["acme.llm.v1", "ACME_API_KEY", ["k1"]]] },
  { variables: { ACME_TOKEN: "k2" }, found: [["acme.llm.v1", "ACME_TOKEN", ["k2"]]] },
  { variables: { ACME_TOKEN: "k2", ACME_API_KEY: "k1" }, found: [["acme.llm.v1", "ACME_API_KEY", ["k1"]]] },
  { variables: { ACME_API_KEY: " ", ACME_TOKEN: "k2" }, found: [["acme.llm.v1", "ACME_TOKEN", ["k2"]]] },
  { variables: { ACME_API_KEY: "sk-...", ACME_TOKEN: "k2" }, found: [["acme.llm.v1", "ACME_TOKEN", ["k2"]]] },
  { variables: { ACME_API_KEY: " k1\n" }, found: [["acme.llm.v1", "ACME_API_KEY", ["k1"]]] },
  { variables: { ACME_API_KEY: '"k1"' }, found: [["acme.llm.v1", "ACME_API_KEY", ['"k1"']]] },
  { variables: { ACME_API_KEY: "a${secrets:b" }, found: [["acme.llm.v1", "ACME_API_KEY", ["a$${secrets:b"]]] },
  {
    variables: { ACME_API_KEY: "k1", ACME_BASE_URL: "https://gateway.example/v1" },
    found: [["acme.llm.v1", "ACME_API_KEY", ["k1"], "https://gateway.example/v1"]],
  },
  {
    variables: { HOME_HOST: "0.0.0.0:11434" },
    found: [["home.local.v1", "HOME_HOST", [], "http://127.0.0.1:11434/v1"]],
  },
  { variables: { HOME_HOST: "box" }, found: [["home.local.v1", "HOME_HOST", [], "http://box:11434/v1"]] },
  {
    variables: { HOME_HOST: "box", HOME_BASE_URL: "http://other:1", HOME_API_KEY: "k" },
    found: [["home.local.v1", "HOME_HOST", ["k"], "http://other:1/v1"]],
  },
  {
    variables: { HOME_BASE_URL: "http://other:1/v1" },
    found: [["home.local.v1", "HOME_BASE_URL", [], "http://other:1/v1"]],
  },
  {
    variables: { HOME_HOST: "box:1", ZETA_API_KEY: "z", ZETA_ACCOUNT_ID: "id", ACME_API_KEY: "a", HOME_API_KEY: "" },
    found: [
      ["acme.llm.v1", "ACME_API_KEY", ["a"]],
      ["zeta.api.v1", "ZETA_API_KEY", ["z"]],
      ["home.local.v1", "HOME_HOST", [], "http://box:1/v1"],
    ],
  },
];

Deno.test("detectProviders() finds providers by their variables, in the connectors' order", () => {
  for (const { variables, found } of table) {
    const facts = detect(variables).providers.map(({ entry: { id, source, apiKeys, baseUrl } }) => {
      return baseUrl === undefined ? [id, source, apiKeys] : [id, source, apiKeys, baseUrl];
    });
    assertEquals(facts, found.map((one) => [...one]));
  }
});

Deno.test("detectProviders() takes blanks and placeholders for nothing", () => {
  const values = [
    "",
    "  ",
    "\n",
    "sk-...",
    "sk-…",
    "sk-xxxx",
    "xxx",
    "XXXX",
    "your-key",
    "your_api_key_here",
    "your-acme-api-key",
  ];
  for (
    const value of [
      ...values,
      "<key>",
      "<your key>",
      "changeme",
      "change-me",
      "${KEY}",
      "$KEY",
      "insert-key-here",
      "...",
    ]
  ) {
    assertThrows(() => detect({ ACME_API_KEY: value }), NoProvidersError, "No providers were detected", value);
  }
  for (const value of ["sk-abc", "test", "xai-1", "key", "yours", "k"]) {
    assertEquals(detect({ ACME_API_KEY: value }).providers.length, 1, value);
  }
});

Deno.test("detectProviders() says that a key is left in from an example, alone or beside another provider", () => {
  assertThrows(
    () => detect({ ACME_API_KEY: "changeme" }, ["acme"]),
    NoProvidersError,
    "Set at least one of ACME_API_KEY. ACME_API_KEY is set to what looks like a placeholder",
  );
  assertEquals(detect({ ACME_API_KEY: "changeme", HOME_HOST: "box" }).warnings, [
    { path: "ACME_API_KEY", message: "is set to what looks like a placeholder" },
  ]);
});

Deno.test("detectProviders() lists the variables when there is nothing, and what is only half there", () => {
  assertThrows(
    () => detect({ HOME_API_KEY: "a key is no server" }),
    NoProvidersError,
    "No providers were detected. Set at least one of ACME_API_KEY, ZETA_API_KEY, HOME_HOST",
  );
  assertThrows(
    () => detect({ ZETA_API_KEY: "k" }, ["zeta"]),
    NoProvidersError,
    "Set at least one of ZETA_API_KEY. ZETA_API_KEY is set, but ZETA_ACCOUNT or ZETA_ACCOUNT_ID is not",
  );
});

Deno.test("detectProviders() fills in what else a provider needs", () => {
  const variables = { ZETA_API_KEY: "k", ZETA_ACCOUNT_ID: " id " };
  assertEquals(detect(variables).providers[0]?.entry.config, { account: "id" });
  assertEquals(detect({ ACME_API_KEY: "k", ZETA_API_KEY: "k" }).warnings, [{
    path: "ZETA_API_KEY",
    message: "is set, but ZETA_ACCOUNT or ZETA_ACCOUNT_ID is not: the provider is excluded",
  }]);
});

Deno.test("detectProviders() asks for no more than a key and an address where that is given", () => {
  const { providers, warnings } = detect({ ZETA_API_KEY: "k", ZETA_BASE_URL: "https://zeta.example/v1" });
  assertEquals([providers[0]?.entry.baseUrl, providers[0]?.entry.config], ["https://zeta.example/v1", {}]);
  assertEquals(warnings, []);
});

Deno.test("detectProviders() keeps to the filter and names what it misses", () => {
  const variables = { ACME_API_KEY: "a", HOME_HOST: "box:1" };
  const { providers, missing } = detect(variables, ["zeta", "home.local.v1", "acme"]);
  assertEquals(providers.map(({ entry }) => entry.id), ["acme.llm.v1", "home.local.v1"]);
  assertEquals(missing, ["zeta"]);
  assertThrows(() => detect(variables, ["zeta"]), NoProvidersError, "Set at least one of ZETA_API_KEY");
  assertEquals(catchProblems(() => detect(variables, ["acme", "acne", "no.such.v1"])), [
    'providers[1]: no provider "acne", did you mean "acme"? (allowed: "acme", "zeta", "open", "home")',
    'providers[2]: no provider "no.such.v1"; allowed: "acme.llm.v1", "zeta.api.v1", "open.compatible.v1", "home.local.v1"',
  ]);
});

Deno.test("detectProviders() refuses keys and addresses that cannot be used, without showing them", () => {
  assertEquals(catchProblems(() => detect({ ACME_API_KEY: "my secret", ACME_BASE_URL: "https://u:p@h/v1" })), [
    "ACME_API_KEY: has a space, a control or a non-ASCII character at position 3, which a key must not contain",
    'ACME_BASE_URL: expected an http or https URL such as "https://api.example.com/v1" without a user name or password',
  ]);
});

Deno.test("overlayKeys() sets keys by variable or by provider", () => {
  const base = environment({ ACME_API_KEY: "old", ZETA_ACCOUNT: "id" });
  const env = overlayKeys(connectors, base, { acme: "new", ZETA_API_KEY: "z" });
  assertEquals(detectProviders(connectors, env).providers.map(({ entry }) => entry.apiKeys), [["new"], ["z"]]);
  assertEquals(
    catchProblems(() => overlayKeys(connectors, base, { acne: "k", open: "k" })).map((line) => line.split(/[,;]/)[0]),
    [
      'apiKeys.acne: no provider or variable "acne"',
      'apiKeys.open: no provider or variable "open"',
    ],
  );
});

Deno.test("addressOfHost() makes an address of what servers are configured to listen on", () => {
  const hosts: readonly (readonly [host: string, address: string])[] = [
    ["0.0.0.0:11434", "http://127.0.0.1:11434/v1"],
    ["0.0.0.0", "http://127.0.0.1:11434/v1"],
    [":8000", "http://127.0.0.1:8000/v1"],
    ["localhost", "http://localhost:11434/v1"],
    ["[::]:11434", "http://[::1]:11434/v1"],
    ["[::1]", "http://[::1]:11434/v1"],
    ["http://box", "http://box/v1"],
    ["https://box.example/", "https://box.example/v1"],
    ["https://box.example/models/v1/", "https://box.example/models/v1"],
    ["'box:1'", "http://box:1/v1"],
  ];
  for (const [host, address] of hosts) assertEquals(addressOfHost(host, 11434), address, host);
  assertEquals(addressOfHost("box"), "http://box/v1");
});

Deno.test("detectedSettings() makes settings without pools", () => {
  const detection = detect({ ACME_API_KEY: "a", HOME_HOST: "box:1" });
  const settings = detectedSettings(detection, { knownConnectors: known, strategy: "priority" });
  assertEquals([...settings.providers.keys()], ["acme.llm.v1", "home.local.v1"]);
  assertEquals(settings.providers.get("acme.llm.v1")?.source, "ACME_API_KEY");
  assertEquals([settings.pools.size, settings.models.size, settings.only], [0, 0, undefined]);
  assertEquals(settings.defaultRouting.strategy, "mesh.priority-selection.v1");
  assert(Object.isFrozen(settings));
});

Deno.test("detectedSettings() narrows to the models that are asked for", () => {
  const detection = detect({ ACME_API_KEY: "a", ZETA_API_KEY: "z", ZETA_ACCOUNT: "id" });
  const names: readonly (readonly [asked: string, ...only: string[]])[] = [
    ["acme.small", "acme.small"],
    ["acme/small", "acme.small"],
    ["small", "acme.small", "zeta.small"],
    ["acme/large", "acme.large", "zeta.acme/large"],
    ["zeta.brand-new", "zeta.brand-new"],
  ];
  for (const [asked, ...only] of names) {
    const settings = detectedSettings(detection, { knownConnectors: known, models: [asked] });
    assertEquals(settings.only, only);
    assertEquals([...settings.models.keys()], only);
  }
  assertEquals(
    catchProblems(() => detectedSettings(detection, { knownConnectors: known, models: ["smal"], strategy: "x" })),
    [
      'strategy: no strategy "x" is registered; allowed: "stick-until-failure", "round-robin", "priority-selection"',
      'models[0]: no model "smal", did you mean "acme.small"? (allowed: "acme.small", "acme.large", "zeta.small", "zeta.acme/large")',
    ],
  );
});
