/** `POST /mesh/activate` and `/mesh/deactivate`, and who may: `proxy.auth.admin_tokens`. */
import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { fakeClock } from "../../src/runtime/test.ts";
import { startTestProxy, type TestProxy } from "../support/proxy.ts";
import { ok, startUpstream } from "../support/upstream.ts";

const tokens = [
  "t-plain-0123456789",
  { token: "t-free-0123456789", name: "free" },
  { token: "t-team-0123456789", name: "team", rpm: 10 },
];

async function withProxy(auth: Record<string, unknown>, test: (proxy: TestProxy) => Promise<void>): Promise<void> {
  await using a = await startUpstream(ok());
  await using b = await startUpstream(ok());
  await using proxy = await startTestProxy({
    upstreams: { a: a.url, b: b.url },
    clock: fakeClock(),
    config: Object.keys(auth).length === 0 ? {} : { proxy: { auth } },
  });
  await test(proxy);
}

/** Posts to a path of the mesh. */
async function post(
  proxy: TestProxy,
  path: string,
  { body, token, headers }: { body: unknown; token?: string; headers?: Record<string, string> },
) {
  const response = await fetch(`${proxy.url}/mesh/${path}`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      ...(token && { authorization: `Bearer ${token}` }),
      ...headers,
    },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  return { status: response.status, body: await response.json() };
}

describe("POST /mesh/activate and /mesh/deactivate", () => {
  it("set a model or a provider aside, and put it back with a recovery event", async () => {
    await withProxy({}, async (proxy) => {
      const off = await post(proxy, "deactivate", { body: { model: "a" } });
      assertEquals(off, { status: 200, body: { model: "a", status: "standby" } });
      const answer = await proxy.chat();
      await answer.text();
      assertEquals(answer.headers.get("x-mesh-model"), "b");
      const on = await post(proxy, "activate", { body: { model: "a" } });
      assertEquals(on, { status: 200, body: { model: "a", status: "active" } });
      const events = proxy.records.flatMap((record) => record.type === "event" ? [[record.event, record.model]] : []);
      assertEquals(events.filter(([event]) => event !== "rotation"), [
        ["deactivation", "a"],
        ["outage", undefined], // of its provider, which has no other model
        ["recovery", "a"],
        ["outage", undefined],
      ]);
    });
  });

  it("mean a provider by its id, even where a model has the same name", async () => {
    await withProxy({}, async (proxy) => {
      const off = await post(proxy, "deactivate", { body: { provider: "b" } });
      assertEquals(off, { status: 200, body: { provider: "b", status: "standby" } });
      assertEquals(proxy.mesh.activeProviders(), ["a"]);
      const on = await post(proxy, "activate", { body: { provider: "b" } });
      assertEquals(on.body, { provider: "b", status: "active" });
      assertEquals(proxy.mesh.activeProviders(), ["a", "b"]);
    });
  });

  it("refuse bodies that name nothing", async () => {
    await withProxy({}, async (proxy) => {
      const cases: [unknown, number, string, string | null][] = [
        ["{", 400, "invalid_json", null],
        ["", 400, "invalid_json", null],
        [[], 400, "invalid_value", null],
        [{}, 400, "invalid_value", null],
        [{ model: "a", provider: "a" }, 400, "invalid_value", null],
        [{ model: 1 }, 400, "invalid_value", "model"],
        [{ provider: "" }, 400, "invalid_value", "provider"],
        [{ pool: "chat" }, 400, "invalid_value", "pool"],
        [{ model: "none" }, 404, "model_not_found", "model"],
        [{ provider: "none" }, 404, "model_not_found", "model"],
      ];
      for (const [body, status, code, param] of cases) {
        for (const path of ["activate", "deactivate"]) {
          const { status: actual, body: { error } } = await post(proxy, path, { body });
          assertEquals([actual, error.code, error.param], [status, code, param], JSON.stringify(body));
        }
      }
      const { body: { error } } = await post(proxy, "activate", { body: { provider: "none" } });
      assertMatch(error.message, /^No provider is named "none"; there are "a", "b"$/);
      const get = await fetch(`${proxy.url}/mesh/activate`);
      assertEquals([get.status, get.headers.get("allow"), (await get.json()).error.code], [
        405,
        "POST",
        "method_not_allowed",
      ]);
    });
  });

  it("are never for pages of another origin, whatever CORS allows", async () => {
    await withProxy({ tokens: ["t-plain-0123456789"] }, async (proxy) => {
      const token = "t-plain-0123456789";
      const foreign = { origin: "https://page.example" };
      const { status, body } = await post(proxy, "deactivate", { body: { model: "a" }, token, headers: foreign });
      assertEquals([status, body.error.code], [403, "origin_not_allowed"]);
      const preflight = await fetch(`${proxy.url}/mesh/deactivate`, {
        method: "OPTIONS",
        headers: { ...foreign, "access-control-request-method": "POST" },
      });
      await preflight.body?.cancel();
      assertEquals([preflight.status, preflight.headers.get("access-control-allow-methods")], [403, null]);
      const own = await post(proxy, "deactivate", { body: { model: "a" }, token, headers: { origin: proxy.url } });
      assertEquals(own.status, 200);
    });
  });
});

describe("proxy.auth.admin_tokens", () => {
  const body = { model: "a" };

  it("are by default the tokens without limits", async () => {
    await withProxy({ tokens }, async (proxy) => {
      assertEquals((await post(proxy, "activate", { body, token: "t-plain-0123456789" })).status, 200);
      assertEquals((await post(proxy, "activate", { body, token: "t-free-0123456789" })).status, 200);
      const refused = await post(proxy, "activate", { body, token: "t-team-0123456789" });
      assertEquals([refused.status, refused.body.error.code], [403, "not_an_administrator"]);
      assertEquals((await post(proxy, "activate", { body })).status, 401);
    });
  });

  it("are the only ones once they are given, and need not be among the tokens", async () => {
    const admin_tokens = ["t-team-0123456789", "t-boss-0123456789"];
    await withProxy({ tokens, admin_tokens }, async (proxy) => {
      for (const token of admin_tokens) assertEquals((await post(proxy, "activate", { body, token })).status, 200);
      for (const token of ["t-plain-0123456789", "t-free-0123456789"]) {
        assertEquals((await post(proxy, "activate", { body, token })).status, 403);
      }
    });
  });

  it("decide who sees what others sent and spent", async () => {
    await withProxy({ tokens, admin_tokens: ["t-boss-0123456789"] }, async (proxy) => {
      const as = (token: string) => ({
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      });
      for (const token of ["t-plain-0123456789", "t-free-0123456789"]) {
        await (await proxy.chat({}, as(token))).text();
      }
      const namesFor = async (token: string) => {
        const status = await (await fetch(`${proxy.url}/mesh/status`, as(token))).json();
        const metrics = await (await fetch(`${proxy.url}/metrics`, as(token))).text();
        assertStringIncludes(metrics, "modelmesh_model_active");
        const requests = metrics.split("\n").filter((line) => line.startsWith("modelmesh_requests_total{"));
        return { clients: status.clients?.map(({ name }: { name: string }) => name), requests: requests.length };
      };
      assertEquals(await namesFor("t-boss-0123456789"), { clients: ["free"], requests: 2 });
      assertEquals(await namesFor("t-free-0123456789"), { clients: ["free"], requests: 1 });
      assertEquals(await namesFor("t-plain-0123456789"), { clients: undefined, requests: 0 });
    });
  });

  it("alone make the proxy require a token", async () => {
    await withProxy({ admin_tokens: ["t-boss-0123456789"] }, async (proxy) => {
      const answer = await proxy.chat();
      await answer.text();
      assertEquals(answer.status, 401);
      assertEquals((await post(proxy, "activate", { body, token: "t-boss-0123456789" })).status, 200);
    });
  });
});
