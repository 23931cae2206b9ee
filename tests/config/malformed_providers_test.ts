import { assertEquals } from "@std/assert";
import { validate } from "../../src/config/build/validate.ts";
import { catchProblems, known } from "./_known.ts";

function acme(entry: unknown): unknown {
  return { providers: { "acme.llm.v1": entry } };
}

function open(base_url: unknown): unknown {
  return { providers: { "open.compatible.v1": { base_url } } };
}

/** A document, and every problem it has. */
const malformed: readonly (readonly [document: unknown, ...problems: string[]])[] = [
  [{ providers: [] }, "providers: expected an object, found a list: write the name of each entry as its key"],
  [acme({ enabled: "no" }), 'providers.acme.llm.v1.enabled: expected true or false, found "no"'],
  [
    { providers: { "acme.lm.v1": {} } },
    'providers.acme.lm.v1: no connector "acme.lm.v1" is registered, did you mean "acme.llm.v1"? (allowed: "acme.llm.v1", "zeta.api.v1", "open.compatible.v1", "home.local.v1")',
  ],
  [
    { providers: { mine: { connector: "nothing.like.it" } } },
    'providers.mine.connector: no connector "nothing.like.it" is registered; allowed: "acme.llm.v1", "zeta.api.v1", "open.compatible.v1", "home.local.v1"',
  ],
  [
    { providers: { "open.compatible.v1": {} } },
    'providers.open.compatible.v1.base_url: missing: the connector "open.compatible.v1" has no default URL',
  ],
  [
    open("/v1"),
    'providers.open.compatible.v1.base_url: expected an http or https URL such as "https://api.example.com/v1", found "/v1"',
  ],
  [
    open("ftp://h/v1"),
    'providers.open.compatible.v1.base_url: expected an http or https URL such as "https://api.example.com/v1", found "ftp://h/v1"',
  ],
  [
    open("file:///x"),
    'providers.open.compatible.v1.base_url: expected an http or https URL such as "https://api.example.com/v1", found "file:///x"',
  ],
  [
    open("https://user:pass@h/v1"),
    'providers.open.compatible.v1.base_url: expected an http or https URL such as "https://api.example.com/v1" without a user name or password, found a string',
  ],
  [
    open("https://h/v1?key=1"),
    'providers.open.compatible.v1.base_url: expected an http or https URL such as "https://api.example.com/v1" without a query or fragment, found a string',
  ],
  [
    open("https://h/v1#x"),
    'providers.open.compatible.v1.base_url: expected an http or https URL such as "https://api.example.com/v1" without a query or fragment, found a string',
  ],
  [open(1), "providers.open.compatible.v1.base_url: expected a string, found 1: put it in quotes"],
  [
    open("http:h"),
    'providers.open.compatible.v1.base_url: expected an http or https URL such as "https://api.example.com/v1", found "http:h"',
  ],
  [
    acme({ api_key: "a b" }),
    "providers.acme.llm.v1.api_key: has a space, a control or a non-ASCII character at position 2, which a key must not contain",
  ],
  [acme({ api_key: "ab\n" }), "providers.acme.llm.v1.api_key: contains a line break or another control character"],
  [
    acme({ api_key: "schlüssel" }),
    "providers.acme.llm.v1.api_key: has a space, a control or a non-ASCII character at position 5, which a key must not contain",
  ],
  [acme({ api_key: " " }), "providers.acme.llm.v1.api_key: expected a string, found a blank one"],
  [
    acme({ api_key: ["good", "b d", 3] }),
    "providers.acme.llm.v1.api_key[1]: has a space, a control or a non-ASCII character at position 2, which a key must not contain",
    "providers.acme.llm.v1.api_key[2]: expected a string, found a number: put it in quotes",
  ],
  [acme({ api_key: null }), "providers.acme.llm.v1.api_key: expected a string, found nothing"],
  [acme({ api_key: { value: "x" } }), "providers.acme.llm.v1.api_key: expected a string, found an object"],
  [
    acme({ api_key: "${ACME_API_KEY}" }),
    'providers.acme.llm.v1.api_key: "${ACME_API_KEY}" refers to nothing: write "${secrets:ACME_API_KEY}"',
  ],
  [
    acme({ api_key: "${secrets:}" }),
    'providers.acme.llm.v1.api_key: secret reference without a name: write "${secrets:NAME}", or "$${secrets:" for the literal characters',
  ],
  [
    acme({ api_key: "${secrets:a" }),
    'providers.acme.llm.v1.api_key: unclosed secret reference: write "${secrets:NAME}", or "$${secrets:" for the literal characters',
  ],
  [
    acme({ api_key: "${secrets:${secrets:a}}" }),
    'providers.acme.llm.v1.api_key: secret references cannot be nested: write "${secrets:NAME}", or "$${secrets:" for the literal characters',
  ],
  [
    acme({ api_key: "${secrets:a b}" }),
    'providers.acme.llm.v1.api_key: invalid character in a secret\'s name: write "${secrets:NAME}", or "$${secrets:" for the literal characters',
  ],
  [
    acme({ api_key: "${secrets:A} " }),
    "providers.acme.llm.v1.api_key: has a space, a control or a non-ASCII character at position 17, which a key must not contain",
  ],
  [
    acme({ base_url: "https://a/v1", execution: { base_url: "https://b/v1" } }),
    'providers.acme.llm.v1.execution.base_url: differs from "base_url", which is an alias: set only one of them',
  ],
  [
    acme({ api_key: "a", "auth.api_key": "b" }),
    'providers.acme.llm.v1.auth.api_key: differs from "api_key", which is an alias: set only one of them',
  ],
  [
    acme({ discovery: { enumerate_models: true }, catalogue: { auto_discover: false } }),
    'providers.acme.llm.v1.catalogue.auto_discover: differs from "discovery.enumerate_models", which is an alias: set only one of them',
  ],
  [
    acme({ execution: { timeout: 30 } }),
    'providers.acme.llm.v1.execution.timeout: expected a duration above 0 such as "500ms" or "1h30m", found 30: write "30s" or "30ms"',
  ],
  [
    acme({ execution: { timeout: "-1s" } }),
    'providers.acme.llm.v1.execution.timeout: expected a duration above 0 such as "500ms" or "1h30m", found "-1s"',
  ],
  [
    acme({ execution: { timeout: "1.5h" } }),
    'providers.acme.llm.v1.execution.timeout: expected a duration above 0 such as "500ms" or "1h30m", found "1.5h"',
  ],
  [
    acme({ execution: { timeout: "5 s" } }),
    'providers.acme.llm.v1.execution.timeout: expected a duration above 0 such as "500ms" or "1h30m", found "5 s"',
  ],
  [
    acme({ execution: { timeout: "1e3s" } }),
    'providers.acme.llm.v1.execution.timeout: expected a duration above 0 such as "500ms" or "1h30m", found "1e3s"',
  ],
  [
    acme({ execution: { timeout: "999999d" } }),
    'providers.acme.llm.v1.execution.timeout: expected a duration above 0 such as "500ms" or "1h30m", found "999999d"',
  ],
  [
    acme({ execution: { timeout: "0s" } }),
    'providers.acme.llm.v1.execution.timeout: expected a duration above 0 such as "500ms" or "1h30m", found "0s"',
  ],
  [
    acme({ execution: { timeout: "" } }),
    'providers.acme.llm.v1.execution.timeout: expected a duration above 0 such as "500ms" or "1h30m", found ""',
  ],
  [acme({ timeout: "3s" }), 'providers.acme.llm.v1.timeout: unknown key, did you mean "execution.timeout"?'],
  [
    acme({ error: { retryable_codes: [429, 503], non_retryable_codes: [503] } }),
    'providers.acme.llm.v1.error.non_retryable_codes: 503 is in "retryable_codes" as well: list each once',
  ],
  [
    acme({ error: { retryable_codes: [99, 600, "5xx", 500] } }),
    "providers.acme.llm.v1.error.retryable_codes[0]: expected an integer from 100 to 599, found 99",
    "providers.acme.llm.v1.error.retryable_codes[1]: expected an integer from 100 to 599, found 600",
    'providers.acme.llm.v1.error.retryable_codes[2]: expected an integer from 100 to 599, found "5xx"',
  ],
  [
    acme({ execution: { max_retries: 11 } }),
    "providers.acme.llm.v1.execution.max_retries: expected an integer from 0 to 10, found 11",
  ],
  [
    acme({ budget: { daily_limit: -1 } }),
    "providers.acme.llm.v1.budget.daily_limit: expected a number of 0 or more, found -1",
  ],
  [
    acme({ budget: { daily_limit: "5" } }),
    'providers.acme.llm.v1.budget.daily_limit: expected a number of 0 or more, found "5"',
  ],
  [
    acme({ budget: { daily_limit: Infinity } }),
    "providers.acme.llm.v1.budget.daily_limit: expected a number of 0 or more, found Infinity",
  ],
  [
    acme({ quota: { reset_schedule: "weekly" } }),
    'providers.acme.llm.v1.quota.reset_schedule: unknown value "weekly"; allowed: "monthly", "daily", "rolling"',
  ],
  [
    acme({ auth: { method: "basic" } }),
    'providers.acme.llm.v1.auth.method: unknown value "basic"; allowed: "api_key", "oauth", "service_account", "ambient"',
  ],
  [
    { providers: { mine: { instance: { stream() {} } } } },
    "providers.mine.instance: expected a provider, an object with complete, found an object",
  ],
  [
    { providers: { mine: { instance: "x" } } },
    'providers.mine.instance: expected a provider, an object with complete, found "x"',
  ],
];

Deno.test("validate() says what is wrong with providers", () => {
  for (const [document, ...problems] of malformed) {
    assertEquals(catchProblems(() => validate(document, { knownConnectors: known })), problems);
  }
});
