/** Memory of those that wait: bodies count until their last use, and readers of records are few. */
import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { behind } from "../support/_failover.ts";
import { assertRefused, goodBody, listeners } from "../support/_surface.ts";
import { becomes, until } from "../support/patience.ts";
import { startTestProxy, type TestProxyOptions } from "../support/proxy.ts";
import {
  type Behaviour,
  Gate,
  hang,
  respond,
  type Script,
  startUpstream,
  status,
  stream,
} from "../support/upstream.ts";

const overloaded = { status: 503, type: "server_error", code: "overloaded", headers: { "retry-after": "1" } };

/** Sizes of bodies, bytes: below 64 KiB, one is read at once. */
const sizes = { short: 60 * 1024, long: 100 * 1024 };

/** A chat whose body has this size. */
function toBody(size: number, members: object = {}): string {
  const body = (content: string) => JSON.stringify({ ...goodBody, messages: [{ role: "user", content }], ...members });
  return body("x".repeat(size - body("").length));
}

/** A proxy whose memory four bodies of this size fill. */
async function startSite(size: number, script: Script, options: Partial<TestProxyOptions> = {}) {
  const upstream = await startUpstream(script);
  const proxy = await startTestProxy({
    upstreams: { a: upstream.url },
    pool: { retry: { max_attempts: 0 }, deactivation: { retry_limit: 100 } },
    config: { proxy: { body_memory: `${4 * size}B` } },
    ...options,
  });
  const send = (body: string, init: RequestInit = {}) =>
    fetch(`${proxy.url}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body,
      ...init,
    });
  return {
    proxy,
    upstream,
    send,
    /** Fails unless there is no room for another body. */
    assertFull: async () => void await assertRefused(await send(toBody(size)), overloaded),
    async [Symbol.asyncDispose]() {
      await proxy[Symbol.asyncDispose]();
      await upstream[Symbol.asyncDispose]();
    },
  };
}

const four = [1, 2, 3, 4];

/** A stream that never ends after its first piece. */
function midway(): Behaviour {
  const gate = new Gate();
  gate.open(2);
  return stream({ pieces: ["one", "two"], gate });
}

for (
  const [listener, [what, size]] of listeners.flatMap((one) =>
    Object.entries(sizes).map((size) => [one, size] as const)
  )
) {
  const by = listener === undefined ? {} : { listener };
  describe(`The ${what} body of a request that waits for its provider, through ${listener}`, () => {
    it("counts against proxy.body_memory until it is answered", async () => {
      const gate = new Gate();
      await using site = await startSite(size, behind(gate, respond()), by);
      for (const round of [1, 2]) {
        const waiting = four.map(() => site.send(toBody(size)));
        await gate.reached(4 * round);
        await site.assertFull();
        gate.open(4);
        for (const response of await Promise.all(waiting)) {
          assertEquals((await response.json()).object, "chat.completion");
        }
      }
      assertEquals(site.upstream.calls, 8);
    });

    it("counts until the end of its stream", async () => {
      await using site = await startSite(size, midway, by);
      const readers = await Promise.all(four.map(async () => {
        const reader = (await site.send(toBody(size, { stream: true }))).body!.getReader();
        await reader.read();
        return reader;
      }));
      await site.assertFull();
      for (const reader of readers) await reader.cancel();
      await becomes(() => site.upstream.open, 0);
    });
  });
}

describe("The memory of a body", () => {
  it("is free again after an error, a refusal and a client that has left", async () => {
    const ends: readonly (readonly [string, Behaviour, object, number])[] = [
      ["an error of the provider", status(500), {}, 502],
      ["an invalid request", respond(), { messages: "none" }, 400],
      ["an unknown model", respond(), { model: "none" }, 404],
    ];
    for (const [what, script, members, expected] of ends) {
      await using site = await startSite(sizes.long, script);
      for (const _ of four) {
        for (const response of await Promise.all(four.map(() => site.send(toBody(sizes.long, members))))) {
          await response.body?.cancel();
          assertEquals(response.status, expected, what);
        }
      }
    }
    await using site = await startSite(sizes.long, hang(), { listener: "node" });
    for (const round of four) {
      const controllers = four.map(() => new AbortController());
      const sent = controllers.map(({ signal }) => site.send(toBody(sizes.long), { signal }).catch(() => {}));
      await until(() => site.upstream.calls === 4 * round, "four requests wait");
      for (const controller of controllers) controller.abort();
      await Promise.all(sent);
      await becomes(() => site.upstream.open, 0);
    }
  });
});

describe("Readers of records", () => {
  const events = (url: string, signal: AbortSignal, headers: Record<string, string> = {}) =>
    fetch(`${url}/mesh/events`, { signal, headers });

  it("are at most 100, further ones are refused until one leaves", async () => {
    await using site = await startSite(sizes.long, respond(), { listener: "node" });
    const controllers = Array.from({ length: 100 }, () => new AbortController());
    const readers = await Promise.all(controllers.map(({ signal }) => events(site.proxy.url, signal)));
    assertEquals(new Set(readers.map(({ status }) => status)), new Set([200]));
    const { signal } = new AbortController();
    await assertRefused(await events(site.proxy.url, signal), overloaded);
    const head = await fetch(`${site.proxy.url}/mesh/events`, { method: "HEAD" });
    assertEquals(head.status, 503);
    controllers[0]!.abort();
    await until(async () => {
      const response = await events(site.proxy.url, signal);
      await response.body?.cancel();
      return response.status === 200;
    }, "the place of one that has left is free");
    for (const controller of controllers) controller.abort();
    await until(
      async () => (await fetch(`${site.proxy.url}/mesh/events`, { method: "HEAD" })).status === 200,
      "all left",
    );
  });
});
