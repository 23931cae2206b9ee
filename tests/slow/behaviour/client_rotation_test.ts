/** Tokens of clients: replaced with a grace time, or brought along as a hash. */
import { assert, assertEquals, assertFalse, assertMatch, assertStringIncludes } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { type FakeClock, fakeClock } from "../../../src/runtime/test.ts";
import { sha256 } from "../../../src/util/sha256.ts";
import {
  adminToken,
  type ClientResponse,
  clientsConfig,
  type ClientsProxy,
  clientsProxy,
  tempFolder,
} from "../../support/_runtime_clients.ts";
import { startTestProxy } from "../../support/proxy.ts";
import { ok, startUpstream } from "../../support/upstream.ts";

const hourMs = 3_600_000;
/** A token of another gateway. */
const own = "sk-of-another-gateway-0123456789";

type Folder = Awaited<ReturnType<typeof tempFolder>>;

/** Runs a test with proxies on one file, one after the other or at once. */
async function withFile(
  test: (start: (clock: FakeClock) => Promise<ClientsProxy & AsyncDisposable>, folder: Folder) => Promise<void>,
  more: Record<string, unknown> = {},
) {
  await using upstream = await startUpstream(ok());
  await using folder = await tempFolder();
  const config = { ...clientsConfig(upstream, { path: `${folder.path}/state.json` }), ...more };
  await test(async (clock) => {
    const started = await startTestProxy({ upstreams: {}, config, clock });
    return { ...clientsProxy(started.url), [Symbol.asyncDispose]: () => started[Symbol.asyncDispose]() };
  }, folder);
}

async function create(proxy: ClientsProxy, facts: Record<string, unknown> = {}): Promise<ClientResponse> {
  const { status, body } = await proxy.ask("POST ", { name: "app", ...facts });
  assertEquals(status, 201, JSON.stringify(body));
  return body;
}

async function rotate(proxy: ClientsProxy, id: string, body?: unknown): Promise<Required<ClientResponse>> {
  const { status, body: client } = await proxy.ask(`POST /${id}/rotate`, body);
  assertEquals(status, 200, JSON.stringify(client));
  return client as Required<ClientResponse>;
}

const clockAt = () => fakeClock({ now: Date.UTC(2026, 0, 1, 18), skipSleeps: true });
const list = async (proxy: ClientsProxy) => (await proxy.ask<{ data: ClientResponse[] }>("GET ")).body.data;

describe("A rotated token", () => {
  it("is accepted until the grace time is over, beside the next one, also after a restart", async () => {
    await withFile(async (start) => {
      const clock = clockAt();
      let [first, next] = ["", ""];
      {
        await using proxy = await start(clock);
        const { id, token } = await create(proxy, { budget: { daily_limit: 4 } });
        const rotated = await rotate(proxy, id, { grace: "24h" });
        [first, next] = [token!, rotated.token];
        assertEquals(rotated.previous_token_ends_at, "2026-01-02T18:00:00.000Z");
        assertEquals((await list(proxy))[0]!.previous_token_ends_at, "2026-01-02T18:00:00.000Z");
        assertEquals([await proxy.chat(first), await proxy.chat(next)], [200, 200]);
      }
      await clock.advance(24 * hourMs - 1);
      await using proxy = await start(clock);
      // both are the same client, with one budget
      assertEquals([await proxy.chat(first), await proxy.chat(next)], [200, 200]);
      await clock.advance(1);
      assertEquals([await proxy.chat(first), await proxy.chat(next)], [401, 200]);
      assertEquals("previous_token_ends_at" in (await list(proxy))[0]!, false);
    });
  });

  it("is rejected at once without a grace time, and with it any earlier one", async () => {
    await withFile(async (start) => {
      await using proxy = await start(clockAt());
      const { id, token } = await create(proxy);
      const second = await rotate(proxy, id, { grace: "24h" });
      const third = await rotate(proxy, id);
      const answers = [token!, second.token, third.token].map((each) => proxy.chat(each));
      assertEquals(await Promise.all(answers), [401, 401, 200]);
      assertFalse("previous_token_ends_at" in third);
      const fourth = await rotate(proxy, id, { grace: "0s" });
      assertEquals([await proxy.chat(third.token), await proxy.chat(fourth.token)], [401, 200]);
    });
  });

  it("leaves one previous token: another rotation ends the one before", async () => {
    await withFile(async (start) => {
      await using proxy = await start(clockAt());
      const { id, token } = await create(proxy);
      const second = await rotate(proxy, id, { grace: "24h" });
      const third = await rotate(proxy, id, { grace: "1h" });
      const answers = [token!, second.token, third.token].map((each) => proxy.chat(each));
      assertEquals(await Promise.all(answers), [401, 200, 200]);
    });
  });

  it("ends with its client: when that is revoked, and when it expires", async () => {
    await withFile(async (start) => {
      const clock = clockAt();
      await using proxy = await start(clock);
      const { id, token } = await create(proxy);
      const { token: next } = await rotate(proxy, id, { grace: "24h" });
      assertEquals((await proxy.ask(`DELETE /${id}`)).status, 200);
      assertEquals([await proxy.chat(token!), await proxy.chat(next)], [401, 401]);
      const short = await create(proxy, { name: "short", expires_at: "2026-01-01T19:00:00Z" });
      const { token: replaced } = await rotate(proxy, short.id, { grace: "24h" });
      await clock.advance(hourMs);
      assertEquals([await proxy.chat(short.token!), await proxy.chat(replaced)], [401, 401]);
    });
  });

  it("is accepted by another proxy on the storage within a second, and rejected by it when it has ended", async () => {
    await withFile(async (start) => {
      const [here, there] = [clockAt(), clockAt()];
      await using one = await start(here);
      await using other = await start(there);
      const { id, token } = await create(one);
      const { token: next } = await rotate(one, id, { grace: "1h" });
      await there.advance(1_000);
      assertEquals([await other.chat(token!), await other.chat(next)], [200, 200]);
      await there.advance(hourMs);
      assertEquals([await other.chat(token!), await other.chat(next)], [401, 200]);
    });
  });

  for (
    const [body, message] of [
      [{ grace: "soon" }, 'grace: expected a duration such as "500ms" or "1h30m", found "soon"'],
      [{ grace: 24 }, 'grace: expected a duration such as "500ms" or "1h30m", found 24: write "24s" or "24ms"'],
      [{ grace: "91d" }, "grace: expected a duration of up to 90d"],
      [{ grase: "24h" }, 'grase: unknown key, did you mean "grace"?'],
      [["24h"], "The body has to be an object, or empty"],
    ] as const
  ) {
    it(`is left as it is by ${JSON.stringify(body)}`, async () => {
      await withFile(async (start) => {
        await using proxy = await start(clockAt());
        const { id, token } = await create(proxy);
        const { status, body: answer } = await proxy.ask<{ error: { message: string } }>(`POST /${id}/rotate`, body);
        assertEquals(status, 400);
        assertStringIncludes(answer.error.message, message);
        assertEquals(await proxy.chat(token!), 200);
      });
    });
  }
});

describe("A token of which the hash is given", () => {
  it("opens the proxy, whatever its form, and is neither returned nor stored", async () => {
    await withFile(async (start, folder) => {
      const clock = clockAt();
      {
        await using proxy = await start(clock);
        const client = await create(proxy, { token_hash: sha256(own).toUpperCase(), notes: "From the old\ngateway" });
        assertFalse("token" in client || "token_hash" in client);
        assertEquals(client.notes, "From the old\ngateway");
        assertEquals([await proxy.chat(own), await proxy.chat(`${own}0`), await proxy.chat("")], [200, 401, 401]);
      }
      assertFalse((await folder.texts()).join().includes(own));
      await using proxy = await start(clock);
      assertEquals(await proxy.chat(own), 200);
      const [client] = await list(proxy);
      const { token } = await rotate(proxy, client!.id, { grace: "1h" });
      assertMatch(token, /^mm_/);
      assertEquals([await proxy.chat(own), await proxy.chat(token)], [200, 200]);
      await clock.advance(hourMs);
      assertEquals([await proxy.chat(own), await proxy.chat(token)], [401, 200]);
      assertFalse("token" in await rotate(proxy, client!.id, { token_hash: sha256(`${own}-2`) }));
      assertEquals([await proxy.chat(token), await proxy.chat(`${own}-2`)], [401, 200]);
    });
  });

  it("is refused if it is known, empty or not a hash", async () => {
    await withFile(async (start) => {
      await using proxy = await start(clockAt());
      const { id } = await create(proxy, { token_hash: sha256(own) });
      await rotate(proxy, id, { grace: "1h" });
      const refuse = async (token_hash: unknown) => {
        const { status, body } = await proxy.ask<{ error: { message: string } }>("POST ", {
          name: "other",
          token_hash,
        });
        return `${status} ${body.error.message}`;
      };
      const isTaken = "400 token_hash: another client has this token";
      assertEquals([await refuse(sha256(own)), await refuse(sha256(adminToken))], [isTaken, isTaken]);
      assertEquals(await refuse(sha256("")), "400 token_hash: is that of an empty token, which requests cannot have");
      assertMatch(await refuse("abc"), /^400 token_hash: expected a SHA-256, 64 hexadecimal digits/);
      assertEquals((await proxy.ask(`PATCH /${id}`, { token_hash: sha256("x") })).status, 400);
      const both = await Promise.all(
        ["a", "b"].map((name) => proxy.ask("POST ", { name, token_hash: sha256("same") })),
      );
      assertEquals(both.map(({ status }) => status).sort(), [201, 400]);
    });
  });

  it("may be configured in place of a token", async () => {
    const client = { token_hash: sha256(own), name: "moved", budget: { daily_limit: 1 }, notes: "Moved" };
    const proxySection = { auth: { tokens: [adminToken, client, { token: "t-other-0123456789", name: "other" }] } };
    await withFile(async (start) => {
      await using proxy = await start(clockAt());
      const answers = await Promise.all([own, own, "t-other-0123456789", `${own}0`].map((token) => proxy.chat(token)));
      assertEquals(answers.slice(0, 2).sort(), [200, 429]);
      assertEquals(answers.slice(2), [200, 401]);
      const taken = await proxy.ask("POST ", { name: "app", token_hash: sha256(own) });
      assertEquals(taken.status, 400);
      const headers = { authorization: `Bearer ${own}` };
      const listed = await fetch(`${proxy.url}/mesh/clients`, { headers });
      assertMatch(`${listed.status} ${await listed.text()}`, /^403 /);
    }, { proxy: proxySection });
  });
});

describe("Notes of a client", () => {
  it("are changed and removed by administrators, and have up to 2 000 characters", async () => {
    await withFile(async (start) => {
      await using proxy = await start(clockAt());
      const { id, token } = await create(proxy, { notes: "n".repeat(2000) });
      assertEquals((await proxy.ask(`PATCH /${id}`, { notes: "n".repeat(2001) })).status, 400);
      assertEquals((await proxy.ask(`PATCH /${id}`, { notes: "short" })).body.notes, "short");
      assertEquals(await proxy.chat(token!), 200);
      const read = async (sender: string) => {
        const headers = { authorization: `Bearer ${sender}` };
        return await (await fetch(`${proxy.url}/mesh/status`, { headers })).text();
      };
      assert((await read(adminToken)).includes('"notes":"short"'));
      assertFalse((await read(token!)).includes("short"));
      assertEquals((await proxy.ask(`PATCH /${id}`, { notes: null })).body.notes, undefined);
    });
  });
});
