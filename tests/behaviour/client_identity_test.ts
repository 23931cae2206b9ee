/** What belongs to a client belongs to its id: another client of the same name has nothing of it. */
import { assertEquals, assertNotEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { serve } from "../../proxy.ts";
import { ask, everything, fileForm, requestLines } from "../support/_objects.ts";
import {
  adminToken,
  type ClientResponse,
  type ClientsProxy,
  clientsProxy,
  tempFolder,
} from "../support/_runtime_clients.ts";
import { until } from "../support/patience.ts";
import { testConfig } from "../support/proxy.ts";
import { respond, startUpstream } from "../support/upstream.ts";
import { startObjectVendor } from "../support/vendors/openai_objects.ts";

const dollar = { capabilities: ["chat-completion"], pricing: { input: 0, output: 0, per_request: 1 } };
const configuredToken = "token-of-a-configured-client-0123456789";

/** Proxies on one storage, over a model for chat and a vendor of files. */
async function startStage() {
  const [upstream, vendor, folder] = [await startUpstream(respond()), await startObjectVendor(), await tempFolder()];
  const running = new Set<AsyncDisposable>();
  return {
    vendor,
    /** Starts a proxy; `clients` are configured ones. */
    async start(clients: readonly object[] = []): Promise<ClientsProxy & { stop(): Promise<void> }> {
      const config = testConfig({
        upstreams: { a: upstream.url, stored: vendor.url },
        provider: (name) => name === "stored" ? everything : {},
        config: {
          models: { a: { provider: "a", ...dollar }, stored: { provider: "stored", ...dollar, model: "stored-1" } },
          pools: { chat: { models: ["a"] }, stored: { models: ["stored"] } },
          storage: { connector: "mesh.local-file.v1", path: `${folder.path}/state.json` },
          proxy: { id_secret: "secret-of-ids-0123456789-0123456789", auth: { tokens: [adminToken, ...clients] } },
        },
      });
      const proxy = await serve({ config, port: 0 });
      const disposable = { [Symbol.asyncDispose]: () => proxy.stop() };
      running.add(disposable);
      const stop = async () => void (running.delete(disposable) && await proxy.stop());
      return { ...clientsProxy(proxy.url), stop };
    },
    async [Symbol.asyncDispose]() {
      for (const one of [...running, upstream, vendor, folder]) await one[Symbol.asyncDispose]();
    },
  };
}

async function made(proxy: ClientsProxy, facts: object = {}): Promise<ClientResponse> {
  const { status, body } = await proxy.ask("POST ", { name: "app", ...facts });
  assertEquals(status, 201);
  return body;
}

/** Creates a file, a batch and a fine-tuning job. Returns their paths below `/v1/`. */
async function createObjects(proxy: ClientsProxy, token: string): Promise<readonly string[]> {
  const pool = { "x-mesh-pool": "stored" };
  const upload = async (body: FormData) => (await ask(proxy, "files", { token, headers: pool, body })).json.id;
  const file = await upload(fileForm('{"messages":[]}\n', { purpose: "fine-tune" }));
  const input_file_id = await upload(fileForm(requestLines(2, { model: "stored" })));
  const endpoint = "/v1/chat/completions";
  const batch = await ask(proxy, "batches", { token, json: { input_file_id, endpoint, completion_window: "24h" } });
  const job = await ask(proxy, "fine_tuning/jobs", { token, json: { model: "stored", training_file: file } });
  assertEquals([batch.status, job.status], [200, 200], JSON.stringify([batch.json, job.json]));
  return [`files/${file}`, `batches/${batch.json.id}`, `fine_tuning/jobs/${job.json.id}`];
}

/** The statuses of reading objects. */
async function readAll(proxy: ClientsProxy, token: string, paths: readonly string[]): Promise<number[]> {
  return await Promise.all(paths.map(async (path) => (await ask(proxy, path, { token })).status));
}

async function readCounts(proxy: ClientsProxy, token: string): Promise<number[]> {
  const lists = ["files", "batches", "fine_tuning/jobs"].map((path) => ask(proxy, path, { token }));
  return (await Promise.all(lists)).map(({ json }) => json.data.length);
}

/** What a client sees of itself: its totals, its budgets, its metrics, and its records since the start. */
async function readView(proxy: ClientsProxy, token: string) {
  const headers = { authorization: `Bearer ${token}` };
  const status = await (await fetch(`${proxy.url}/mesh/status`, { headers })).json();
  const metrics = await (await fetch(`${proxy.url}/metrics`, { headers })).text();
  const events = await fetch(`${proxy.url}/mesh/events`, { headers: { ...headers, "last-event-id": "0" } });
  const reader = events.body!.getReader();
  const records = new TextDecoder().decode((await reader.read()).value);
  await reader.cancel();
  return {
    requests: status.clients?.map(({ requests }: { requests: number }) => requests) ?? [],
    spent: status.budgets.map(({ spent_usd }: { spent_usd: number }) => spent_usd),
    samples:
      metrics.split("\n").filter((line) => /^modelmesh_(requests|tokens|cost_usd)_total\{.*"a"/.test(line)).length,
    records: records.split("\n").filter((line) => line.includes('"type":"routing"')).length,
  };
}

describe("A client with the name of a revoked one", () => {
  it("has none of its files, batches and jobs, at no proxy, before and after a restart", async () => {
    await using stage = await startStage();
    const [one, other] = [await stage.start(), await stage.start()];
    const before = await made(one);
    const paths = await createObjects(one, before.token!);
    assertEquals(await readCounts(one, before.token!), [2, 1, 1]);
    await one.ask(`DELETE /${before.id}`);
    const { id, token } = await made(one);
    assertNotEquals(id, before.id);
    await until(async () => await other.chat(token!) === 200, "the other proxy knows the new client");
    await other.stop();
    for (const proxy of [one, await stage.start()]) {
      assertEquals(await readAll(proxy, token!, [...paths, `${paths[0]}/content`]), [404, 404, 404, 404]);
      assertEquals(await readCounts(proxy, token!), [0, 0, 0]);
      for (const path of [`${paths[1]}/cancel`, `${paths[2]}/cancel`]) {
        assertEquals((await ask(proxy, path, { token: token!, method: "POST" })).status, 404, path);
      }
      assertEquals((await ask(proxy, paths[0]!, { token: token!, method: "DELETE" })).status, 404);
    }
    assertEquals(stage.vendor.files.size, 2);
  });

  it("has none of its spending, requests, metrics and records", async () => {
    await using stage = await startStage();
    const proxy = await stage.start();
    const limits = { budget: { daily_limit: 2 }, rpm: 2 };
    const before = await made(proxy, limits);
    const spent = [await proxy.chat(before.token!), await proxy.chat(before.token!), await proxy.chat(before.token!)];
    assertEquals(spent, [200, 200, 429]);
    assertEquals((await readView(proxy, before.token!)).spent, [2]);
    await proxy.ask(`DELETE /${before.id}`);
    const { id, token } = await made(proxy, limits);
    assertEquals(await readView(proxy, token!), { requests: [], spent: [0], samples: 0, records: 0 });
    assertEquals([await proxy.chat(token!), await proxy.chat(token!), await proxy.chat(token!)], [200, 200, 429]);
    const { requests, spent: own, records } = await readView(proxy, token!);
    assertEquals([requests, own, records], [[3], [2], 2]);
    const requestsOf = async (id: string) => {
      const { body } = await proxy.ask<{ data: { requests: number; cost_usd: number }[] }>(`GET /${id}/usage`);
      return body.data.map(({ requests, cost_usd }) => [requests, cost_usd]);
    };
    assertEquals([await requestsOf(before.id!), await requestsOf(id!)], [[[2, 2]], [[2, 2]]]);
  });

  it("shares its samples in the metrics of administrators, each once", async () => {
    await using stage = await startStage();
    const proxy = await stage.start();
    for (const _ of ["revoked", "new"]) {
      const { id, token } = await made(proxy);
      assertEquals(await proxy.chat(token!), 200);
      await proxy.ask(`DELETE /${id}`);
    }
    const headers = { authorization: `Bearer ${adminToken}` };
    const text = await (await fetch(`${proxy.url}/metrics`, { headers })).text();
    const samples = text.split("\n").filter((line) =>
      /^modelmesh_requests_total\{.*client="app".*status="200"/.test(line)
    );
    assertEquals(samples.map((line) => line.split(" ").at(-1)), ["2"]);
  });
});

describe("A configured client and one created at runtime with the same name", () => {
  it("have different files, limits and totals", async () => {
    await using stage = await startStage();
    const first = await stage.start();
    const { token } = await made(first, { rpm: 3 });
    await first.stop();
    const proxy = await stage.start([{ token: configuredToken, name: "app", pools: ["stored"], rpm: 100 }]);
    const [runtime, configured] = [
      await ask(proxy, "files", { token: token!, body: fileForm("x", { purpose: "user_data" }) }),
      await ask(proxy, "files", { token: configuredToken, body: fileForm("y", { purpose: "user_data" }) }),
    ];
    const paths = [runtime, configured].map(({ json }) => `files/${json.id}`);
    assertEquals(await readAll(proxy, token!, paths), [200, 404]);
    assertEquals(await readAll(proxy, configuredToken, paths), [404, 200]);
    assertEquals([await proxy.chat(token!), await proxy.chat(token!)], [200, 429], "its own pools and rate");
    assertEquals(await proxy.chat(configuredToken), 404);
    const headers = { authorization: `Bearer ${adminToken}` };
    const { clients } = await (await fetch(`${proxy.url}/mesh/status`, { headers })).json();
    assertEquals(clients.map(({ name }: { name: string }) => name), ["app", "app"]);
    await proxy.stop();
    const again = await stage.start([{ token: configuredToken, name: "app", pools: ["stored"] }]);
    assertEquals(await readAll(again, configuredToken, paths), [404, 200], "after a restart");
    await again.stop();
    const without = await stage.start();
    assertEquals(await readAll(without, token!, paths), [200, 404]);
  });

  it("are never confused by an id as a name, which is refused", async () => {
    await using stage = await startStage();
    const proxy = await stage.start();
    const { id } = await made(proxy);
    await proxy.stop();
    let message = "";
    await stage.start([{ token: configuredToken, name: id }]).catch((error) => message = error.message);
    assertEquals(/proxy\.auth\.tokens\[1\]\.name: has the form of an id/.test(message), true, message);
  });
});
