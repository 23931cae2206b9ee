import { assert, assertEquals, assertMatch, assertStringIncludes, assertThrows } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import {
  BrowserBaseProvider,
  ConfigError,
  create,
  createBrowserProviderConfig,
  memoryStorage,
  NoProvidersError,
  ollama,
  openai,
} from "../../browser.ts";
import { openaiCompatible } from "../../connectors/providers/openai_compatible.ts";
import { roundRobin } from "../../connectors/strategies/round_robin.ts";
import { explainBlocked } from "../../src/runtime/browser.ts";
import { key, providerAt } from "./_provider.ts";

// deno-lint-ignore no-explicit-any -- programs in plain JavaScript pass what they like
type Anything = any;

const at = "http://127.0.0.1:9/v1";
const good = providerAt(at, { id: "good" });

const createProblems: readonly (readonly [name: string, options: Anything, problem: RegExp])[] = [
  ["a name", { providers: ["openai"] }, /^providers\[0\]: "openai" is a name: import the provider itself/],
  ["a key in its place", { providers: [`sk-${key}`] }, /^providers\[0\]: a text is a name/],
  ["a class", { providers: [BrowserBaseProvider] }, /^providers\[0\]: expected a provider, an instance made by new/],
  ["a strategy", { providers: [roundRobin] }, /^providers\[0\]: expected a provider/],
  ["nothing in the list", { providers: [undefined] }, /^providers\[0\]: expected a provider.*found nothing/],
  ["no address", { providers: [openaiCompatible] }, /^providers\[0\]: .*give a BrowserBaseProvider with its baseUrl/],
  ["one twice", { providers: [good, good] }, /^providers\[1\]: is the same as providers\[0\]/],
  [
    "an id twice",
    { providers: [good, providerAt(at, { id: "good" })] },
    /^providers\[1\]: has the id "good".*another id/,
  ],
  ["no key", { providers: [openai] }, /^apiKeys: "openai\.llm\.v1" needs a key: .*apiKeys: \{ openai: "…" \}/],
  ["an undefined key", { providers: [openai], apiKeys: { openai: undefined } }, /^apiKeys: .*needs a key/],
  [
    "an example's key",
    { providers: [openai], apiKeys: { openai: "sk-..." } },
    /^apiKeys\.openai: is blank or an example/,
  ],
  ["a blank key", { providers: [openai], apiKeys: { openai: " " } }, /^apiKeys\.openai: is blank or an example/],
  ["a broken key", { providers: [openai], apiKeys: { openai: "a\nb" } }, /^apiKeys\.openai: has a space, a control/],
  ["a number as key", { providers: [openai], apiKeys: { openai: 7 } }, /^apiKeys\.openai: expected a text/],
  [
    "a key for nobody",
    { providers: [good], apiKeys: { opnai: key } },
    /^apiKeys\.opnai: no provider given goes by this name/,
  ],
  [
    "an unknown strategy",
    { providers: [good], strategy: "round-robbin" },
    /^strategy: no strategy "round-robbin", did you/,
  ],
  ["an unknown model", { providers: [good], models: ["big"] }, /^models\[0\]: no model "big"/],
  ["an unknown pool", { providers: [good], pool: "chatt" }, /^pool: /],
  ["an unknown capability", { providers: [good], capability: "chat-complation" }, /^capability: .*chat-completion/],
  ["a configuration's path", { config: "modelmesh.yaml" }, /^config: there are no files here.*MeshConfig\.parse/],
  ["a document", { config: { pools: {} } }, /^config: .*pass what MeshConfig\.parse\(document\)/],
  ["a bare storage", { providers: [good], storage: memoryStorage() }, /^storage: expected what stateIn\(…\) returns/],
  ["both", { config: { pools: {} }, providers: [good] }, /^providers: goes without `config`/],
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
      assertStringIncludes(message, "providers: [openai], apiKeys: { openai: key }");
    }
  });

  it("a provider that does not say which models it has, unless the program names them", () => {
    const provider = Object.create(good, { id: { value: "bare" }, instanceSettings: { value: undefined } });
    assertThrows(() => create({ providers: [provider] }), ConfigError, 'name them, such as "bare.small"');
    const client = create({ providers: [provider], models: ["bare.small"] });
    assertEquals(client.mesh.listModels().map(({ name }) => name), ["bare.small"]);
  });

  it("no server of the user's own for its lack of a key", () => {
    assertEquals(create({ providers: [ollama] }).describe().providers.map(({ id }) => id), ["ollama.local.v1"]);
  });

  it("several things at once, all of them told", () => {
    const options: Anything = { providers: ["a", openai], apiKeys: { b: key }, strategy: "c" };
    const { problems } = assertThrows(() => create(options), ConfigError);
    assertEquals(problems.map(({ path }) => path), ["providers[0]", "apiKeys.b", "apiKeys", "strategy"]);
  });
});

const configProblems: readonly (readonly [options: Anything, problem: RegExp])[] = [
  [undefined, /^: expected an object/],
  [{}, /^models: name at least one/],
  [{ models: [] }, /^models: name at least one/],
  [{ models: "small" }, /^models: name at least one/],
  [{ models: [""] }, /^models\[0\]: expected an id/],
  [{ models: [{ name: "small" }] }, /^models\[0\]: expected an id or an object with an "id", found an object/],
  [{ models: ["a", "a"] }, /^models\[1\]: "a" is in the list twice/],
  [{ models: [{ id: "a", capabilities: ["chat"] }] }, /^models\[0\]\.capabilities\[0\]: "chat" is no capability/],
  [{ models: ["a"], capabilities: ["audio"] }, /^capabilities\[0\]: "audio" is ambiguous/],
  [{ models: ["a"], baseurl: at }, /^baseurl: unknown option, did you mean "baseUrl"/],
  [{ models: ["a"], baseUrl: "api.acme.example" }, /^baseUrl: expected an http or https address/],
  [{ models: ["a"], baseUrl: "https://me:secret@acme.example" }, /^baseUrl: .*without a user name or password/],
  [{ models: ["a"], baseUrl: 7 }, /^baseUrl: expected an http or https address/],
  [{ models: ["a"], proxyUrl: "https://acme.example?key=secret" }, /^proxyUrl: .*without a query/],
  [{ models: ["a"], apiKey: "a\u0000b" }, /^apiKey: has a space, a control/],
  [{ models: ["a"], apiKey: "your-api-key" }, /^apiKey: is blank or an example's/],
  [{ models: ["a"], apiKey: 1 }, /^apiKey: expected a text/],
  [{ models: ["a"], apiKey: key, authMethod: "none" }, /^authMethod: "none" sends no key/],
  [{ models: ["a"], authMethod: "bearer" }, /^authMethod: expected one of "api_key"/],
  [{ models: ["a"], timeout: 0 }, /^timeout: expected a whole number of ms/],
  [{ models: ["a"], timeout: "30s" }, /^timeout: expected a whole number of ms/],
  [{ models: ["a"], maxRetries: -1 }, /^maxRetries: expected an integer from 0 to 10/],
  [{ models: ["a"], maxRetries: 1.5 }, /^maxRetries: expected an integer/],
  [{ models: ["a"], retryableCodes: [42] }, /^retryableCodes: expected a list of HTTP statuses/],
  [
    { models: ["a"], retryableCodes: [418], nonRetryableCodes: [418] },
    /^nonRetryableCodes: 418 is in "retryableCodes" too/,
  ],
  [{ models: ["a"], id: "a b" }, /^id: expected a text without spaces/],
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

  it("tells everything that is wrong at once", () => {
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
    "what createBrowserProviderConfig({ … }) returns",
  );
  const nowhere = new BrowserBaseProvider(createBrowserProviderConfig({ models: ["a"] }));
  assertThrows(() => create({ providers: [nowhere] }), ConfigError, "override _getCompletionEndpoint");
});

it("explainBlocked() says what a page can do", () => {
  const url = "http://api.acme.example/v1?key=secret";
  const cases: readonly (readonly [url: string, facts: Parameters<typeof explainBlocked>[1], says: string])[] = [
    [url, { isOffline: false, page: "http://app.example/" }, "no CORS headers for this page's origin"],
    [url, { isOffline: false }, "no CORS headers"],
    [url, { isOffline: true, page: "https://app.example/" }, "the browser is offline"],
    [
      url,
      { isOffline: false, page: "https://app.example/" },
      "a page that came over https may not call an http address",
    ],
    ["http://[", { isOffline: false, page: "https://app.example/" }, "is no URL"],
    ["/api/chat", { isOffline: false, page: "https://app.example/" }, "no CORS headers"],
    ["/api/chat", { isOffline: false }, "is no URL"],
  ];
  for (const [address, facts, says] of cases) {
    const { message } = explainBlocked(address, facts);
    assertStringIncludes(message, says);
    assert(!message.includes("secret") && !message.includes("acme.example"), "an address is shown");
  }
});
