/** Clients with models of their own: what exists for them, by name and in pools. */
import { assert, assertEquals, assertFalse, assertMatch } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { startTestProxy, type TestProxy } from "../support/proxy.ts";
import { ok, startUpstream, status, type Upstream } from "../support/upstream.ts";

const token = "of-the-client-0123456789";
const admin = "of-the-admin-0123456789";

interface Scene {
  readonly proxy: TestProxy;
  readonly upstreams: Readonly<Record<"a" | "b" | "c", Upstream>>;
  /** Sends a chat request, and returns the model that has answered, or the code of the error. */
  ask(model: string, headers?: Readonly<Record<string, string>>): Promise<string>;
  get(path: string, sender?: string): Promise<{ readonly status: number; readonly text: string }>;
}

/** A proxy with the models a, b and c; `chat` has all of them, `others` has c. */
async function withClient(
  client: Readonly<Record<string, unknown>>,
  test: (scene: Scene) => Promise<void>,
): Promise<void> {
  await using a = await startUpstream(ok({ text: "from a" }));
  await using b = await startUpstream(ok({ text: "from b" }));
  await using c = await startUpstream(ok({ text: "from c" }));
  const order = ["a", "b", "c"];
  await using proxy = await startTestProxy({
    upstreams: { a: a.url, b: b.url, c: c.url },
    config: {
      models: Object.fromEntries(
        order.map((name) => [name, {
          provider: name,
          model: `vendor-${name}`,
          capabilities: ["chat-completion"],
          pricing: { input: 0, output: 0 },
        }]),
      ),
      pools: {
        chat: { models: order, strategy: "priority", model_priority: order, retry: { max_attempts: 0 } },
        others: { models: ["c"] },
      },
      aliases: { short: "b", hidden: "a", wide: "chat" },
      proxy: { auth: { tokens: [{ token: admin, name: "admin" }, { token, name: "app", ...client }] } },
    },
  });
  const get = async (path: string, sender = token) => {
    const response = await fetch(`${proxy.url}${path}`, { headers: { authorization: `Bearer ${sender}` } });
    return { status: response.status, text: await response.text() };
  };
  const ask = async (model: string, headers = {}) => {
    const own = { authorization: `Bearer ${token}`, "content-type": "application/json", ...headers };
    const response = await proxy.chat({ model }, { headers: own });
    const body = await response.json();
    return response.ok ? response.headers.get("x-mesh-model")! : String(body.error.code);
  };
  await test({ proxy, upstreams: { a, b, c }, ask, get });
}

const missing = "model_not_found";

describe("a client with models", () => {
  it("uses them by all their names, and no others: those do not exist", () =>
    withClient({ models: ["b", "c"] }, async ({ ask }) => {
      assertEquals([await ask("b"), await ask("vendor-b"), await ask("short"), await ask("c")], ["b", "b", "b", "c"]);
      assertEquals(
        [await ask("a"), await ask("vendor-a"), await ask("hidden"), await ask("none")],
        Array(4).fill(missing),
      );
    }));

  it("has only them in pools, also when one of them fails", () =>
    withClient({ models: ["b", "c"] }, async ({ ask, upstreams: { a, b, c } }) => {
      assertEquals([await ask("chat"), await ask("wide"), await ask("chat-completion")], ["b", "b", "b"]);
      b.follow(status(500));
      assertEquals(await ask("chat"), "c");
      c.follow(status(500));
      assertEquals(await ask("chat"), "all_attempts_failed");
      assertEquals(a.calls, 0);
    }));

  it("has no pool that has none of them", () =>
    withClient({ models: ["a"] }, async ({ ask }) => {
      assertEquals([await ask("others"), await ask("chat")], [missing, "a"]);
    }));

  it("and pools uses the models that are in both", () =>
    withClient({ models: ["b", "c"], pools: ["others"] }, async ({ ask }) => {
      assertEquals([await ask("others"), await ask("c"), await ask("b"), await ask("chat")], [
        "c",
        "c",
        missing,
        missing,
      ]);
    }));

  it("cannot choose another model by a routing constraint, nor learn of it", () =>
    withClient({ models: ["b", "c"] }, async ({ ask, proxy }) => {
      assertEquals(await ask("chat", { "x-mesh-route": "order=c,b" }), "c");
      const send = async (model: string) => {
        const headers = {
          authorization: `Bearer ${token}`,
          "content-type": "application/json",
          "x-mesh-route": `only=${model}`,
        };
        const response = await proxy.chat({ model: "chat" }, { headers });
        const { error } = await response.json();
        return `${response.status} ${error.message}`.replaceAll(`"${model}"`, '"?"');
      };
      const [hidden, unknown] = [await send("a"), await send("z")];
      assertEquals(hidden, unknown);
      assertMatch(hidden, /^4/);
    }));

  it("sees only them in lists, states, health and metrics", () =>
    withClient({ models: ["b", "c"] }, async ({ get, ask, upstreams: { a } }) => {
      a.follow(status(500));
      await ask("chat");
      const list = JSON.parse((await get("/v1/models")).text);
      const named = list.data.map(({ id, mesh }: { id: string; mesh: Record<string, unknown> }) => [id, mesh.active]);
      assertEquals(Object.fromEntries(named), {
        ...{ chat: 2, others: 1 },
        short: undefined,
        wide: undefined,
        ...{ b: undefined, c: undefined },
      });
      assertEquals([(await get("/v1/models/b")).status, (await get("/v1/models/a")).status], [200, 404]);
      const { pools, providers } = JSON.parse((await get("/mesh/status")).text);
      assertEquals(pools.chat.models.map(({ name }: { name: string }) => name), ["b", "c"]);
      assertEquals([pools.chat.total, pools.chat.active], [2, 2]);
      assertEquals(providers.map(({ id }: { id: string }) => id), ["b", "c"]);
      assertEquals(JSON.parse((await get("/health")).text).pools, {
        chat: { active: 2, standby: 0 },
        others: { active: 1, standby: 0 },
      });
      assertFalse(/model="a"/.test((await get("/metrics")).text));
      assert(/model="a"/.test((await get("/metrics", admin)).text));
      assertEquals((await get("/mesh/clients")).status, 403);
    }));

  it("is the same in the Responses API and for Claude's clients", () =>
    withClient({ models: ["b"] }, async ({ proxy }) => {
      const send = async (path: string, body: object) => {
        const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
        const response = await fetch(`${proxy.url}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
        await response.body?.cancel();
        return [response.status, response.headers.get("x-mesh-model")];
      };
      const messages = [{ role: "user", content: "Hi" }];
      assertEquals(await send("/v1/responses", { model: "chat", input: "Hi" }), [200, "b"]);
      assertEquals((await send("/v1/responses", { model: "a", input: "Hi" }))[0], 404);
      assertEquals(await send("/v1/messages", { model: "chat", max_tokens: 9, messages }), [200, "b"]);
      assertEquals((await send("/v1/messages", { model: "a", max_tokens: 9, messages }))[0], 404);
    }));
});
