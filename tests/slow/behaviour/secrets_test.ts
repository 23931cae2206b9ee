import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { Buffer } from "node:buffer";
import { inspect } from "node:util";
import { create, type MeshOptions, ModelMesh, routingOf } from "../../../mod.ts";
import { getEngine } from "../../../src/engine/get_engine.ts";
import { fakeClock } from "../../../src/runtime/test.ts";
import {
  assertNoSecret,
  assertNoSecretIn,
  canaries,
  canaryConfig,
  canaryEnv,
  everything,
  readApiKey,
  type Site,
  startSite,
} from "../../support/_canaries.ts";
import { createChunk, customProvider } from "../../support/_custom_provider.ts";
import { goodBody } from "../../support/_surface.ts";
import {
  type Behaviour,
  cutAt,
  errorIn200,
  html200,
  json,
  ok,
  raw,
  type ReceivedRequest,
  refusingUrl,
  reset,
  startUpstream,
  status,
  stream,
  truncatedJson,
} from "../../support/upstream.ts";

const statuses = [400, 401, 402, 403, 404, 408, 409, 413, 422, 429, 500, 503, 529];

/** An error that says the key in all its fields and headers. */
function echo(code: number): (request: ReceivedRequest) => Behaviour {
  return (request) => {
    const key = readApiKey(request);
    const error = { message: `Wrong: ${key} (Bearer ${key})`, type: key, code: key, param: key };
    return status(code, { error, headers: { "x-echo": key, "x-request-id": key, "x-mesh-model": key } });
  };
}

/** Everything a provider can do with the key it was sent. */
const leaky: Readonly<Record<string, (request: ReceivedRequest) => Behaviour>> = {
  ...Object.fromEntries(statuses.map((code) => [String(code), echo(code)])),
  "400 as text": (request) => status(400, { text: `Wrong: ${readApiKey(request)}` }),
  "400 with a detail": (request) => status(400, { json: { detail: `Wrong: ${readApiKey(request)}` } }),
  "422 with details": (request) =>
    status(422, { json: { detail: [{ loc: [readApiKey(request)], msg: readApiKey(request) }] } }),
  "404 of a model": (request) => status(404, { error: { code: "model_not_found", message: readApiKey(request) } }),
  "429 with a hint": (request) =>
    status(429, {
      headers: { "retry-after": "30" },
      error: { message: readApiKey(request), type: readApiKey(request) },
    }),
  "a redirect": (request) =>
    status(307, { headers: { location: `/v1?key=${encodeURIComponent(readApiKey(request))}` } }),
  "an error under 200": (request) => errorIn200({ message: readApiKey(request), code: readApiKey(request) }),
  "JSON without an answer": (request) => json({ key: readApiKey(request) }),
  "a web page": () => html200(),
  "half an answer": () => truncatedJson(),
  "an error instead of content": (request) => stream({ error: { after: 0, error: { message: readApiKey(request) } } }),
  "an error after content": (request) => {
    const key = readApiKey(request);
    return stream({ error: { after: 1, error: { message: `Wrong: ${key}`, type: key, code: key, param: key } } });
  },
  "garbage after content": (request) => stream({ garbage: { after: 1, text: `data: {"${readApiKey(request)}` } }),
  "a stream cut off": () => stream({ cut: { after: 1, how: "reset" } }),
  "a broken connection": () => reset("reset"),
  "a broken answer": () => cutAt(ok(), 120),
  "no HTTP": (request) => raw(`${readApiKey(request)}\r\n\r\n`),
  "a broken header": (request) => raw(`HTTP/1.1 200 OK\r\n${readApiKey(request)}\r\n\r\n`),
};

function ask({ url }: Site, body: Readonly<Record<string, unknown>>, token: string = canaries.token): Promise<string> {
  return fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${token}`, "x-api-key": token },
    body: JSON.stringify({ ...goodBody, ...body }),
  }).then(everything);
}

/** What shows a site's state, and what it emitted by itself. */
async function checkState(site: Site, where: string): Promise<void> {
  for (const path of ["/health", "/v1/models"]) {
    const response = await fetch(site.url + path, { headers: { authorization: `Bearer ${canaries.token}` } });
    assertNoSecret(await everything(response), `${where}: ${path}`);
  }
  const { mesh, reported } = site;
  assertNoSecretIn([mesh.poolStatus(), mesh.listModels(), mesh.listPools(), mesh.activeProviders()], where);
  assertNoSecret(inspect(mesh, { depth: 9, showHidden: true }) + JSON.stringify(mesh), `${where}: the mesh itself`);
  assert(reported.length > 0);
  assertNoSecretIn(reported, `${where}: records and traces`);
}

async function readAll(chunks: Promise<AsyncIterable<unknown>>): Promise<void> {
  for await (const _ of await chunks);
}

describe("No key and no token leaves by the proxy", () => {
  for (const [what, behaviour] of Object.entries(leaky)) {
    it(`when a provider answers ${what}`, async () => {
      await using upstream = await startUpstream(behaviour);
      await using site = await startSite(canaryConfig(upstream.url));
      for (const model of ["chat", "a", "b"]) {
        for (const stream of [false, true]) {
          assertNoSecret(await ask(site, { model, stream }), `${what}: ${model}${stream ? ", streaming" : ""}`);
        }
      }
      await checkState(site, what);
      const keys = upstream.requests.map(readApiKey);
      assertEquals(new Set(keys), new Set([canaries.key, canaries.second]), "both keys were sent, so both could leak");
      const sent = upstream.requests.map(({ headers, body, path }) => JSON.stringify([headers, body, path]));
      assert(sent.every((text) => !text.includes(canaries.token)), "the client's token stays here");
    });
  }

  it("when a provider cannot be reached, at an address with a secret in it", async () => {
    const url = (await refusingUrl()).replace("/v1", "/${secrets:BASE}/v1");
    await using site = await startSite(canaryConfig(url));
    for (const model of ["chat", "a"]) {
      const answer = await ask(site, { model });
      assertStringIncludes(answer, "all_attempts_failed");
      assertNoSecret(answer, model);
    }
    await checkState(site, "refused");
  });

  it("when a token is refused", async () => {
    await using site = await startSite(canaryConfig(await refusingUrl()));
    for (const token of [`${canaries.token}x`, canaries.token.slice(0, -1), `${canaries.token} x`]) {
      const answer = await ask(site, {}, token);
      assertStringIncludes(answer, "401");
      assertNoSecret(answer, "401");
    }
    assertEquals(site.reported, []);
  });

  it("when we have a bug that quotes it", async () => {
    class BrokenMesh extends ModelMesh {
      constructor(options?: MeshOptions) {
        super(options);
        const bug = `Cannot read ${canaries.key} of ${canaries.second}, ${canaries.token}`;
        getEngine(this).perform = () => Promise.reject(new TypeError(bug));
      }
    }
    await using site = await startSite(canaryConfig(await refusingUrl()), BrokenMesh);
    const answer = await ask(site, {});
    assertStringIncludes(answer, "internal_error");
    assertNoSecret(answer, "500");
    await checkState(site, "our bug");
  });

  it("when a local server does not list its models, or is not there", async () => {
    await using upstream = await startUpstream(echo(401));
    for (const url of [upstream.url, (await refusingUrl()).replace("/v1", "/${secrets:BASE}/v1")]) {
      const provider = { connector: "vllm.local.v1", base_url: url, api_key: "${secrets:KEY}" };
      const config = { providers: { local: provider }, pools: { chat: { capability: "chat-completion" } } };
      await using site = await startSite({ ...config, proxy: { auth: { tokens: ["${secrets:TOKEN}"] } } });
      const [trace] = site.reported;
      assertStringIncludes(trace?.type === "trace" ? trace.message : "", "did not list its models");
      await checkState(site, "listing");
    }
    assertEquals(upstream.requests.map(readApiKey), [canaries.key]);
  });

  it("when a provider of one's own throws it, in the middle of a response too", async () => {
    const instance = customProvider({
      complete: () => Promise.reject(new Error(`Cannot use ${canaries.key}`)),
      async *stream() {
        yield await Promise.resolve(createChunk("Cus"));
        throw new TypeError(`Header has invalid value: Bearer ${canaries.key}`, { cause: canaries.second });
      },
    });
    await using site = await startSite({
      ...canaryConfig("http://127.0.0.1:9/v1"),
      providers: { a: { instance }, b: { instance } },
    });
    const whole = await ask(site, {});
    assertStringIncludes(whole, "all_attempts_failed");
    const streamed = await ask(site, { stream: true });
    assertStringIncludes(streamed, "stream_interrupted");
    assertNoSecret(whole + streamed, "thrown");
    await checkState(site, "thrown");
  });

  it("when a provider writes it in other ways: for a URL, in base64, as JSON in JSON", async () => {
    await using upstream = await startUpstream((request) => {
      const key = readApiKey(request);
      const message = [
        encodeURIComponent(key),
        Buffer.from(key).toString("base64"),
        JSON.stringify({ authorization: `Bearer ${key}` }),
        JSON.stringify({ key }),
      ].join(" ");
      return status(400, { error: { message } });
    });
    await using site = await startSite(canaryConfig(upstream.url));
    for (const model of ["a", "b"]) assertNoSecret(await ask(site, { model }), model);
    await checkState(site, "other ways");
  });

  it("not even the rest of one that begins like another", async () => {
    await using upstream = await startUpstream((request) => status(400, { error: { message: readApiKey(request) } }));
    const config = canaryConfig(upstream.url);
    const providers = config.providers as Record<string, object>;
    providers.a = { ...providers.a, api_key: "key-that-begins" };
    providers.b = { ...providers.b, api_key: "key-that-begins-and-goes-on" };
    await using site = await startSite(config);
    const answer = await ask(site, { model: "b" });
    assertStringIncludes(answer, "[redacted]");
    assert(!answer.includes("goes-on"), answer);
  });
});

describe("No key leaves by the library", () => {
  for (const [what, behaviour] of Object.entries(leaky)) {
    it(`when a provider answers ${what}`, async () => {
      await using upstream = await startUpstream(behaviour);
      const records: unknown[] = [];
      await using client = create({
        config: canaryConfig(upstream.url),
        env: canaryEnv,
        clock: fakeClock({ skipSleeps: true }),
        on: (record) => records.push(record),
      });
      const { completions } = client.chat;
      const errors: unknown[] = [];
      for (const model of ["chat", "a", "b"]) {
        const request = { model, messages: [{ role: "user" as const, content: "Hi" }] };
        await completions.create(request).catch((error) => errors.push(error));
        await readAll(completions.create({ ...request, stream: true })).catch((error) => errors.push(error));
      }
      assert(errors.length >= 3 && errors.every((error) => error instanceof Error), `${what}: ${errors.length}`);
      for (const error of errors) {
        assertNoSecretIn([error, routingOf(error as Error)], `${what}: thrown`);
        assertNoSecret(inspect(error, { depth: 9, showHidden: true }) + JSON.stringify(error), `${what}: printed`);
      }
      assertNoSecretIn([client.describe(), String(client.describe()), await client.models.list(), records], what);
      assertNoSecret(inspect(client, { depth: 9, showHidden: true }) + JSON.stringify(client), "the client itself");
    });
  }
});
