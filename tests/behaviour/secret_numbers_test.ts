/** Secrets in place of numbers and booleans, and secrets that may be missing. */
import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { ConfigError, SecretNotFoundError } from "../../mod.ts";
import { clientOver, getText, messages } from "../support/_library.ts";
import { ok, startUpstream, status } from "../support/upstream.ts";

const pool = { retry: { max_attempts: "${secrets:TRIES}", backoff: "fixed" } };

describe("A number in a secret", () => {
  for (const tries of [0, 2]) {
    it(`has its effect: ${tries} retries`, async () => {
      await using upstream = await startUpstream(status(500));
      await using made = clientOver({ upstreams: { a: upstream.url }, pool, options: { env: { TRIES: `${tries}` } } });
      await assertRejects(() => made.client.chat.completions.create({ messages }));
      assertEquals(upstream.requests.length, tries + 1);
    });
  }

  it("is asked of the store at the start: a wrong or missing one fails it, and is not shown", async () => {
    await using upstream = await startUpstream(ok({ text: "hello" }));
    await using wrong = clientOver({ upstreams: { a: upstream.url }, pool, options: { env: { TRIES: "sk-secret" } } });
    const { message } = await assertRejects(() => wrong.client.ready(), ConfigError);
    assertStringIncludes(message, "pools.chat.retry.max_attempts: expected an integer from 0 to 10");
    assertEquals(message.includes("sk-secret"), false);
    await using none = clientOver({ upstreams: { a: upstream.url }, pool, options: { env: {} } });
    await assertRejects(() => none.client.ready(), SecretNotFoundError, "TRIES");
  });
});

describe("fail_on_missing: false", () => {
  it("starts without a storage, a sink and a number whose secrets are missing", async () => {
    await using upstream = await startUpstream([status(500), ok({ text: "hello" })]);
    await using made = clientOver({
      upstreams: { a: upstream.url },
      pool,
      config: {
        secrets: { resolution: { fail_on_missing: false } },
        storage: { connector: "redis.redis.v1", url: "${secrets:REDIS}" },
        observability: { routing: { connector: "mesh.webhook.v1", url: "${secrets:HOOK}" } },
      },
      options: { env: {} },
    });
    assertEquals(getText(await made.client.chat.completions.create({ messages })), "hello");
    assertEquals(upstream.requests.length, 2, "retried as by default");
  });
});
