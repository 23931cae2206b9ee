/** `providers.<id>.headers`: accepted and rejected names and values. */
import { assertEquals, assertRejects } from "@std/assert";
import { serverConnectors } from "../../connectors/server.ts";
import { ModelMesh } from "../../mod.ts";
import { validate } from "../../src/config/build/validate.ts";
import { groupConnectors } from "../../src/config/settings/known.ts";
import { ConfigError } from "../../src/errors.ts";
import { catchProblems } from "./_known.ts";

const knownConnectors = groupConnectors(serverConnectors);
const key = 'carries the credentials: set "api_key", or "auth"';
const body = "describes the body of each request";
const connection = "belongs to the connection, and is set by the HTTP client";

/** A connector, a header, and what is reported. */
const rejected: readonly (readonly [connector: string, name: string, problem: string])[] = [
  ...["openai.llm.v1", "anthropic.claude.v1", "aws.bedrock.v1"].map((id) => [id, "Authorization", key] as const),
  ["anthropic.claude.v1", "X-API-Key", key],
  ["google.gemini.v1", "x-goog-api-key", key],
  ["google.vertex.v1", "x-goog-api-key", key],
  ["azure.openai.v1", "api-key", key],
  ["azure.tts.v1", "Ocp-Apim-Subscription-Key", key],
  ["elevenlabs.tts.v1", "xi-api-key", key],
  ["serper.search.v1", "x-api-key", key],
  ["openai.llm.v1", "Host", 'is that of "base_url": set that'],
  ["openai.llm.v1", "proxy-authorization", "belongs to the outbound proxy: set user and password in HTTPS_PROXY"],
  ...["connection", "Keep-Alive", "te", "upgrade", "proxy-connection"].map((name) =>
    ["openai.llm.v1", name, connection] as const
  ),
  ...["Content-Length", "content-type", "content-encoding", "transfer-encoding", "trailer", "expect"].map((name) =>
    ["openai.llm.v1", name, body] as const
  ),
  ["openai.llm.v1", "accept-encoding", "lists what the HTTP client decodes"],
  ["openai.llm.v1", "traceparent", "is that of each request: it is forwarded, or created by the tracing sink"],
  [
    "openai.llm.v1",
    "Idempotency-Key",
    "must differ between requests: with a fixed one, all of them would get the same response",
  ],
];

function findProblems(connector: string, headers: unknown): readonly string[] {
  const address = connector.startsWith("openai.compatible") ? { base_url: "http://127.0.0.1:9/v1" } : {};
  const entry = { connector, api_key: "key-of-tests-0123456789", ...address, headers };
  return catchProblems(() => validate({ providers: { a: entry } }, { knownConnectors }));
}

for (const [connector, name, problem] of rejected) {
  Deno.test(`a header that is set otherwise is a problem: ${name} of ${connector}`, () => {
    assertEquals(findProblems(connector, { [name]: "value" }), [
      `providers.a.headers.${name}: cannot be set: it ${problem}`,
    ]);
  });
}

Deno.test("the header that carries the key of another vendor is accepted: a gateway may ask for it", () => {
  const headers = {
    "x-api-key": "key-of-the-gateway",
    "OpenAI-Organization": "org-1",
    "Ocp-Apim-Subscription-Key": "k",
  };
  assertEquals(findProblems("openai.compatible.v1", headers), []);
});

Deno.test("names and values that cannot be sent are problems, all at once, and no value is quoted", () => {
  const headers = {
    "a b": "x",
    "ключ": "x",
    "x-break": "one\r\nx-other: two",
    "x-word": "schlüssel",
    "x-space": " value",
    "x-long": "v".repeat(4097),
    "x-blank": " ",
    "x-number": 7,
    "x-variable": "os.environ/KEY",
    "X-Team": "red",
    "x-team": "blue",
  };
  const name = "is not a header name: it has a character that names must not contain";
  assertEquals(
    findProblems("openai.llm.v1", headers).toSorted(),
    [
      `"a b": ${name}`,
      `"ключ": ${name}`,
      "x-blank: expected a string, found a blank one",
      "x-break: contains a line break or another control character",
      "x-long: has more than 4096 characters",
      "x-number: expected a string, found a number: put it in quotes",
      "x-space: has surrounding spaces, which a header must not have",
      'x-team: is the same header as "X-Team"',
      'x-variable: is the name of a variable, which is not read here: write "${secrets:KEY}"',
      "x-word: has a control or a non-ASCII character at position 5, which a header must not contain",
    ].map((problem) => `providers.a.headers.${problem}`),
  );
});

Deno.test("a secret whose value cannot be a header stops the start, and is not quoted", async () => {
  const value = "line one\nline two";
  const mesh = new ModelMesh({ env: { GATEWAY: value } });
  const error = await assertRejects(() =>
    mesh.initialize({
      secrets: { store: "mesh.env.v1" },
      providers: {
        "openai.llm.v1": { api_key: "key-of-tests-0123456789", headers: { "x-key": "${secrets:GATEWAY}" } },
      },
    }), ConfigError);
  assertEquals(error.problems, [{
    path: "providers.openai.llm.v1.headers.x-key",
    message: "has a control or a non-ASCII character at position 9, which a header must not contain",
  }]);
  await mesh.close();
});
