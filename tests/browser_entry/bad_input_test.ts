import { assert, assertEquals, assertMatch, assertRejects, assertStringIncludes, assertThrows } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import {
  BrowserBaseProvider,
  ConfigError,
  create,
  createBrowserProviderConfig,
  memoryStorage,
  MeshConfig,
  MeshError,
  NoProvidersError,
  ollama,
  openai,
  openAiCompatible,
  providerOf,
  roundRobin,
} from "../../browser.ts";
import { openai as serverOpenai } from "../../connectors/providers/openai.ts";
import { openaiCompatible } from "../../connectors/providers/openai_compatible.ts";
import { explainBlocked } from "../../src/runtime/browser.ts";
import { key, providerAt } from "./_provider.ts";

// deno-lint-ignore no-explicit-any -- programs in plain JavaScript pass what they like
type Anything = any;

const at = "http://127.0.0.1:9/v1";
const good = providerAt(at, { id: "good" });

const configured = MeshConfig.parse({ providers: { a: { connector: "openai.compatible.v1", base_url: at } } });

const createProblems: readonly (readonly [name: string, options: Anything, problem: RegExp])[] = [
  ["a name", { providers: ["openai"] }, /^providers\[0\]: expected an instance such as openai\(.*found string/],
  ["a key in its place", { providers: [`sk-${key}`] }, /^providers\[0\]: expected an instance/],
  [
    "a vendor without its key",
    { providers: [openai] },
    /^providers\[0\]: expected .* openai\(\{ apiKey \}\), found function/,
  ],
  ["a class", { providers: [BrowserBaseProvider] }, /^providers\[0\]: expected an instance/],
  ["a strategy", { providers: [roundRobin] }, /^providers\[0\]: expected an instance.*found object/],
  ["a server's connector", { providers: [serverOpenai] }, /^providers\[0\]: expected an instance such as openai\(/],
  ["nothing in the list", { providers: [undefined] }, /^providers\[0\]: expected an instance.*found undefined/],
  ["null in the list", { providers: [null] }, /^providers\[0\]: expected an instance.*found null/],
  ["one twice", { providers: [good, good] }, /^providers\[1\]: has the id "good" of providers\[0\]: use another/],
  [
    "an id twice",
    { providers: [good, providerAt(at, { id: "good" })] },
    /^providers\[1\]: has the id "good".*use another/,
  ],
  [
    "an example's key",
    { providers: [openai({ apiKey: "sk-..." })] },
    /^providers\[0\]\.apiKey: expected an API key: .*not a placeholder/,
  ],
  [
    "a blank key",
    { providers: [openai({ apiKey: " " })] },
    /^providers\[0\]\.apiKey: expected an API key: .*not a placeholder/,
  ],
  [
    "a broken key",
    { providers: [openai({ apiKey: "a\nb" })] },
    /^providers\[0\]\.apiKey: expected an API key: .*without spaces/,
  ],
  [
    "a number as key",
    { providers: [openai({ apiKey: 7 as Anything })] },
    /^providers\[0\]\.apiKey: expected an API key/,
  ],
  [
    "a strategy's name",
    { providers: [good], strategy: "round-robin" },
    /^strategy: import one from "@modelmesh\/core\/browser" and pass it, such as \{ strategy: roundRobin \}/,
  ],
  [
    "a strategy's id",
    { providers: [good], strategy: "mesh.cost-first.v1" },
    /^strategy: import one .*\{ strategy: costFirst \}/,
  ],
  ["no strategy at all", { providers: [good], strategy: {} }, /^strategy: import one/],
  ["an option's misspelt name", { providers: [good], middlewares: [] }, /^middlewares: .*did you mean "middleware"/],
  ["an unknown pool", { providers: [good], pool: "chatt" }, /^pool: /],
  ["an unknown capability", { providers: [good], capability: "chat-complation" }, /^capability: .*chat-completion/],
  ["a configuration's path", { config: "modelmesh.yaml" }, /^config: expected a document .* a page has no files/],
  ["no configuration", { config: null }, /^config: expected/],
  ["a bare storage", { providers: [good], storage: memoryStorage() }, /^storage: expected what stateIn\(…\) returns/],
  ["both", { config: configured, providers: [good] }, /^providers: goes without `config`/],
];

describe("create() in a browser refuses", () => {
  for (const [name, options, problem] of createProblems) {
    it(name, () => {
      const error = assertThrows(() => create(options), ConfigError);
      const [{ path, message } = { path: "", message: "" }] = error.problems;
      assertMatch(`${path}: ${message}`, problem);
      assert(!error.message.includes(key), "a key is shown");
    });
  }

  it("a client without providers, and says how to give one", () => {
    for (const options of [undefined, {}, { providers: [] }, { providers: openai }] as Anything[]) {
      const { message } = assertThrows(() => create("chat-completion", options), NoProvidersError);
      assertStringIncludes(message, "new BrowserBaseProvider(createBrowserProviderConfig(");
      assertStringIncludes(message, "providers: [openai({ apiKey })]");
    }
    assertThrows(() => create({ config: MeshConfig.parse({}) }), NoProvidersError, 'has no "providers"');
  });

  it("a request that narrows its own routing to nothing that there is", async () => {
    await using client = create("chat-completion", { providers: [good] });
    const request = { messages: [{ role: "user" as const, content: "Hi" }] };
    const headers = { "x-mesh-route": "only=goood" };
    for (
      const [body, settings] of [
        [request, { headers }],
        [request, { route: { only: ["goood"] } }],
        [{ ...request, mesh: { only: ["goood"] } }, {}],
      ] as const
    ) {
      const { message } = await assertRejects(() => client.chat.completions.create(body, settings), MeshError);
      assertStringIncludes(message, '"goood"');
    }
  });

  it("a provider that does not say which models it has", () => {
    const provider = Object.create(good, { id: { value: "bare" }, instanceSettings: { value: undefined } });
    assertThrows(() => create({ providers: [provider] }), ConfigError, "list them in its instanceSettings");
  });

  it("no server of the visitor's own for its lack of a key", () => {
    assertEquals(create({ providers: [ollama()] }).describe().providers.map(({ id }) => id), ["ollama"]);
  });

  it("several things at once, all of them reported", () => {
    const options: Anything = { providers: ["a", openai({ apiKey: "" }), good, good], strategy: "c" };
    const { problems } = assertThrows(() => create(options), ConfigError);
    assertEquals(problems.map(({ path }) => path), ["providers[0]", "providers[1].apiKey", "providers[3]", "strategy"]);
  });
});

const vendorProblems: readonly (readonly [options: Anything, problem: RegExp])[] = [
  [undefined, /^apiKey: openai needs the visitor's API key/],
  [{}, /^apiKey: openai needs the visitor's API key/],
  [{ apiKey: undefined }, /^apiKey: openai needs the visitor's API key, or a function that looks it up/],
  [`sk-${key}`, /^apiKey: openai needs the visitor's API key/],
  [{ apiKey: key, baseUrl: "api.acme.example" }, /^baseUrl: openai needs an http or https URL/],
  [{ apiKey: key, models: [] }, /^models: openai needs a list of at least one model/],
  [{ apiKey: key, models: "gpt-5" }, /^models: openai needs a list/],
];

describe("A vendor refuses", () => {
  for (const [options, problem] of vendorProblems) {
    it(JSON.stringify(options)?.replace(key, "…") ?? "no options", () => {
      const { problems, message } = assertThrows(() => openai(options), ConfigError);
      assertMatch(`${problems[0]?.path}: ${problems[0]?.message}`, problem);
      assert(!message.includes(key), "a key is shown");
    });
  }

  it("to be without an address when it has none of its own, and a key it can do without", () => {
    assertThrows(
      () => providerOf(openAiCompatible(openaiCompatible)),
      ConfigError,
      "baseUrl: openai-compatible needs an http",
    );
    assertEquals(openai({ baseUrl: at }).id, "openai"); // a forwarder may add the key
  });

  it("calls before create() has attached it", async () => {
    const provider = openai({ apiKey: key });
    const response = { status: 500, headers: new Headers(), body: null, reader: () => null };
    const options = { send: () => Promise.resolve(response), signal: new AbortController().signal };
    await assertRejects(() => provider.listModels(options), MeshError, "used through create()");
  });
});

const configProblems: readonly (readonly [options: Anything, problem: RegExp])[] = [
  [undefined, /^: expected an object/],
  [{}, /^models: expected at least one name/],
  [{ models: [] }, /^models: expected at least one name/],
  [{ models: "small" }, /^models: expected at least one name/],
  [{ models: [""] }, /^models\[0\]: expected an id/],
  [{ models: [{ name: "small" }] }, /^models\[0\]: expected an id, or an object with an "id"/],
  [{ models: ["a", "a"] }, /^models\[1\]: is in the list twice/],
  [{ models: [{ id: "a", capabilities: ["chat"] }] }, /^models\[0\]\.capabilities\[0\]: is not a capability/],
  [{ models: ["a"], capabilities: ["audio"] }, /^capabilities\[0\]: is ambiguous: use generation\.audio or/],
  [{ models: ["a"], baseurl: at }, /^baseurl: unknown option; known are id, baseUrl,/],
  [{ models: ["a"], baseUrl: "api.acme.example" }, /^baseUrl: expected an http or https URL/],
  [{ models: ["a"], baseUrl: "https://me:secret@acme.example" }, /^baseUrl: .*without credentials/],
  [{ models: ["a"], baseUrl: 7 }, /^baseUrl: expected an http or https URL/],
  [{ models: ["a"], proxyUrl: "https://acme.example?key=secret" }, /^proxyUrl: .*without credentials, query/],
  [{ models: ["a"], apiKey: "a\u0000b" }, /^apiKey: expected an API key: .*without spaces/],
  [{ models: ["a"], apiKey: "your-api-key" }, /^apiKey: expected an API key: .*not a placeholder/],
  [{ models: ["a"], apiKey: 1 }, /^apiKey: expected an API key/],
  [{ models: ["a"], apiKey: key, authMethod: "none" }, /^authMethod: "none" sends no key/],
  [{ models: ["a"], authMethod: "bearer" }, /^authMethod: expected api_key/],
  [{ models: ["a"], timeout: 0 }, /^timeout: expected an integer of ms/],
  [{ models: ["a"], timeout: "30s" }, /^timeout: expected an integer of ms/],
  [{ models: ["a"], maxRetries: -1 }, /^maxRetries: expected an integer from 0 to 10/],
  [{ models: ["a"], maxRetries: 1.5 }, /^maxRetries: expected an integer/],
  [{ models: ["a"], retryableCodes: [42] }, /^retryableCodes: expected a list of HTTP statuses/],
  [
    { models: ["a"], retryableCodes: [418], nonRetryableCodes: [418] },
    /^nonRetryableCodes: 418 is also in "retryableCodes"/,
  ],
  [{ models: ["a"], id: "a b" }, /^id: expected a name without spaces/],
];

describe("createBrowserProviderConfig()", () => {
  for (const [options, problem] of configProblems) {
    it(`refuses ${JSON.stringify(options)}`, () => {
      const { problems, message } = assertThrows(() => createBrowserProviderConfig(options), ConfigError);
      assertEquals(problems.length, 1);
      assertMatch(`${problems[0]?.path}: ${problems[0]?.message}`, problem);
      assert(!/secret/.test(message) && !message.includes(key), "a secret is shown");
    });
  }

  it("fills in what was left out, and freezes it", () => {
    const config = createBrowserProviderConfig({
      baseUrl: `${at}/`,
      models: ["a", { id: "b", capabilities: ["ocr"] }],
    });
    assertEquals(config.baseUrl, at);
    assertEquals(config.models.map(({ capabilities }) => capabilities), [["chat-completion"], ["ocr"]]);
    assertEquals([config.maxRetries, config.authMethod, config.timeout], [2, "api_key", undefined]);
    assertEquals(config.retryableCodes, [408, 409, 425, 429, 500, 502, 503, 504, 529]);
    assertEquals(config.nonRetryableCodes, [400, 401, 403, 404, 413, 422]);
    assert(Object.isFrozen(config) && Object.isFrozen(config.models) && Object.isFrozen(config.models[0]));
  });

  it("takes a list's codes out of the other default", () => {
    const config = createBrowserProviderConfig({ models: ["a"], retryableCodes: [404] });
    assertEquals(config.nonRetryableCodes, [400, 401, 403, 413, 422]);
  });

  it("reports everything that is wrong at once", () => {
    const options: Anything = { models: [], timeout: -1, baseUrl: "x" };
    const { problems } = assertThrows(() => createBrowserProviderConfig(options), ConfigError);
    assertEquals(problems.map(({ path }) => path), ["models", "timeout", "baseUrl"]);
  });
});

it("a provider refuses a configuration that was not checked, and one without an address", () => {
  const unchecked: Anything = { baseUrl: at, models: ["a"] };
  assertThrows(
    () => new BrowserBaseProvider(unchecked),
    ConfigError,
    "the result of createBrowserProviderConfig({ … })",
  );
  const nowhere = new BrowserBaseProvider(createBrowserProviderConfig({ models: ["a"] }));
  assertThrows(() => create({ providers: [nowhere] }), ConfigError, "override _getCompletionEndpoint");
});

it("explainBlocked() says what a page can do", () => {
  const url = "http://api.acme.example/v1?key=secret";
  const cases: readonly (readonly [url: string, facts: Parameters<typeof explainBlocked>[1], says: string])[] = [
    [url, { isOffline: false, page: "http://app.example/" }, "no CORS headers for this page's origin"],
    [url, { isOffline: false }, "no CORS headers"],
    [url, { isOffline: true, page: "https://app.example/" }, "The browser is offline"],
    [
      url,
      { isOffline: false, page: "https://app.example/" },
      "A page that came over https may not call an http address",
    ],
    ["http://[", { isOffline: false, page: "https://app.example/" }, "is not a URL"],
    ["/api/chat", { isOffline: false, page: "https://app.example/" }, "no CORS headers"],
    ["/api/chat", { isOffline: false }, "is not a URL"],
  ];
  for (const [address, facts, says] of cases) {
    const { message } = explainBlocked(address, facts);
    assertStringIncludes(message, says);
    assert(!message.includes("secret") && !message.includes("acme.example"), "an address is shown");
  }
});
