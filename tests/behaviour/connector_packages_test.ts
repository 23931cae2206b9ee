/** Connectors that come in archives: from a file or an address, and the archives that are refused. */
import { assert, assertEquals, assertMatch, assertRejects, assertStringIncludes } from "@std/assert";
import { afterAll, beforeAll, describe, it } from "@std/testing/bdd";
import { createHash, randomBytes } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { env } from "node:process";
// deno-lint-ignore no-import-prefix -- an entry of `imports` would be downloaded before every task
import { zipSync } from "npm:fflate@0.8.3";
import { ConfigError, ConnectorError, create, MeshError, ModelMesh } from "../../mod.ts";
import { makeFolder, type TestFolder } from "../support/_library.ts";
import { answer, startUpstream } from "../support/upstream.ts";

/** What is unpacked goes there, and not to where programs of this machine keep theirs. */
function withCacheApart(): void {
  beforeAll(async () => void (env.MODELMESH_CACHE = await mkdtemp(join(tmpdir(), "modelmesh-test-"))));
  afterAll(() => rm(env.MODELMESH_CACHE!, { recursive: true }));
}

type Files = Readonly<Record<string, string | Uint8Array>>;

const encoder = new TextEncoder();

function zip(files: Files): Uint8Array {
  const bytes = Object.entries(files).map((
    [path, text],
  ) => [path, typeof text === "string" ? encoder.encode(text) : text]);
  return zipSync(Object.fromEntries(bytes), { level: 1, mtime: new Date(2026, 0, 1) });
}

const manifest = (facts: object = {}) =>
  JSON.stringify({ id: "acme.echo.v1", type: "provider", version: "1.0.0", entry: "main.js", ...facts });

/** A provider that answers with what it is made with, by a module beside its entry. */
const echo: Files = {
  "connector.json": manifest({
    config_schema: {
      type: "object",
      properties: {
        greeting: { type: "string" },
        nested: { type: "object", properties: { count: { type: "integer" } } },
      },
      required: ["greeting"],
      additionalProperties: false,
    },
  }),
  "main.js": `
    import { complete } from "./lib/complete.js";
    globalThis.loads = (globalThis.loads ?? 0) + 1;
    export const connector = {
      id: "acme.echo.v1", kind: "provider", vendor: "acme", keyless: true, needsBaseUrl: false,
      models: [{ id: "echo-1", capabilities: ["chat-completion"], defaultFor: ["chat-completion"] }],
      create: ({ config }) => ({
        id: "acme.echo.v1",
        complete: (request) => Promise.resolve(complete(request.body, config)),
        async *stream() { throw new Error("whole answers only"); },
        getCapabilities: () => ["chat-completion"], supports: (_model, _capability, delivery) => delivery === "sync",
        listModels: () => Promise.resolve([]), getModelInfo: () => Promise.resolve(undefined),
        checkQuota: () => Promise.resolve(undefined), getRateLimits: () => undefined,
        getPricing: () => undefined, reportUsage: () => {},
        classifyError: () => "retryable", isRetryable: () => false,
      }),
    };`,
  "lib/complete.js": `
    export const complete = ({ model }, { greeting }) => ({
      status: 200, headers: {},
      body: { id: "e", object: "chat.completion", created: 1, model, choices: [
        { index: 0, message: { role: "assistant", content: greeting, refusal: null }, finish_reason: "stop", logprobs: null } ] },
    });`,
};

const strategy: Files = {
  "connector.json": manifest({ id: "acme.last.v1", type: "strategy" }),
  "main.js": `export default { id: "acme.last.v1", kind: "strategy", create: () => ({
    select: (candidates) => candidates.at(-1), score: ({ name }) => name === "last" ? 1 : 0 }) };`,
};

const hashOf = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");

async function packed(folder: TestFolder, files: Files, name = "package.zip"): Promise<string> {
  const path = join(folder.path, name);
  await writeFile(path, zip(files));
  return path;
}

const withEcho = (packages: readonly unknown[], config: object = { greeting: "Hello from a zip" }) => ({
  connectors: { packages },
  providers: { "acme.echo.v1": { config } },
  pools: { chat: { capability: "chat-completion" } },
});

const messages = [{ role: "user" as const, content: "Hi" }];

/** What is wrong with a package. */
async function refusalOf(files: Files | Uint8Array): Promise<string> {
  await using folder = await makeFolder();
  const path = join(folder.path, "bad.zip");
  await writeFile(path, files instanceof Uint8Array ? files : zip(files as Files));
  const mesh = new ModelMesh();
  const error = await assertRejects(() => mesh.initialize(withEcho([path])), ConnectorError);
  assert(!mesh.catalogue.ids("provider").includes("acme.echo.v1"));
  return error.message.replaceAll(path, "bad.zip");
}

describe("A connector package", () => {
  withCacheApart();

  it("brings a provider that is named by its id, with its attributes, for library and clients", async () => {
    await using folder = await makeFolder();
    const path = await packed(folder, echo);
    await using client = create({ config: withEcho([path]) });
    const { choices } = await client.chat.completions.create({ messages });
    assertEquals(choices[0]?.message.content, "Hello from a zip");
    const file = await folder.write("mesh.json", JSON.stringify(withEcho([{ path, sha256: hashOf(zip(echo)) }])));
    await using second = create({ config: file });
    await second.ready();
    assertEquals(second.describe().pools[0]?.models[0]?.name, "acme.echo-1");
  });

  it("brings connectors of other kinds, and several at once", async () => {
    await using folder = await makeFolder();
    await using upstream = await startUpstream(answer());
    const packages = [await packed(folder, strategy, "one.zip"), await packed(folder, echo, "two.zip")];
    const mesh = new ModelMesh();
    const provider = { connector: "openai.compatible.v1", base_url: upstream.url, api_key: "key-0123456789" };
    await mesh.initialize({
      connectors: { packages },
      providers: { a: provider, b: provider },
      models: {
        first: { provider: "a", capabilities: ["chat-completion"] },
        last: { provider: "b", capabilities: ["chat-completion"] },
      },
      pools: { chat: { models: ["first", "last"], strategy: "acme.last.v1" } },
    });
    const { order } = await mesh.explain({ model: "chat", messages });
    assertEquals(order[0]?.model, "last");
    assert(mesh.catalogue.ids("provider").includes("acme.echo.v1"));
    await mesh.close();
  });

  it("is loaded once for the same archive, again for another one, and never unless it is named", async () => {
    await using folder = await makeFolder();
    const loads = () => (globalThis as { loads?: number }).loads ?? 0;
    const fresh = { ...echo, "lib/note.txt": randomBytes(8) };
    const path = await packed(folder, fresh);
    const before = loads();
    const unnamed = new ModelMesh();
    await assertRejects(() => unnamed.initialize({ providers: { "acme.echo.v1": {} } }), ConfigError, "acme.echo.v1");
    assertEquals(loads(), before);
    const mesh = new ModelMesh();
    for (let count = 0; count < 2; count++) await mesh.initialize(withEcho([path]));
    assertEquals(loads(), before + 1);
    await packed(folder, { ...fresh, "lib/note.txt": randomBytes(8) });
    await mesh.initialize(withEcho([path]));
    assertEquals(loads(), before + 2);
    await mesh.close();
  });

  it("has its attributes held against its schema, each with its place", async () => {
    await using folder = await makeFolder();
    const path = await packed(folder, echo);
    const config = { nested: { count: "x" }, colour: "red" };
    const error = await assertRejects(() => new ModelMesh().initialize(withEcho([path], config)), ConfigError);
    assertEquals(error.problems.map(({ path }) => path).sort(), [
      "providers.acme.echo.v1.config",
      "providers.acme.echo.v1.config.colour",
      "providers.acme.echo.v1.config.nested.count",
    ]);
    assertStringIncludes(error.message, 'required property "greeting"');
  });

  it("is refused when its hash is another one", async () => {
    await using folder = await makeFolder();
    const path = await packed(folder, echo);
    const sha256 = hashOf(zip(strategy));
    const error = await assertRejects(() => new ModelMesh().initialize(withEcho([{ path, sha256 }])), ConnectorError);
    assertStringIncludes(error.message, `its SHA-256 is ${hashOf(zip(echo))}, not the one configured`);
  });

  it("takes the place of no connector that is there", async () => {
    await using folder = await makeFolder();
    const files = {
      ...echo,
      "connector.json": manifest({ id: "openai.llm.v1" }),
      "main.js": String(echo["main.js"]).replaceAll("acme.echo.v1", "openai.llm.v1"),
    };
    const path = await packed(folder, files);
    await assertRejects(
      () => new ModelMesh().initialize(withEcho([path])),
      ConnectorError,
      'brings "openai.llm.v1", which is there already',
    );
    const twice = [await packed(folder, echo, "one.zip"), await packed(folder, echo, "two.zip")];
    await assertRejects(() => new ModelMesh().initialize(withEcho(twice)), ConnectorError, "which is there already");
  });
});

describe("A connector package at an address", () => {
  withCacheApart();

  it("is downloaded, past redirects, and held against its hash", async () => {
    const bytes = zip(echo);
    const server = createServer((request, response) => {
      if (request.url === "/latest") return void response.writeHead(302, { location: "/package.zip" }).end();
      if (request.url === "/loop") return void response.writeHead(302, { location: "/loop" }).end();
      if (request.url === "/away") return void response.writeHead(302, { location: "http://example.com/x.zip" }).end();
      if (request.url !== "/package.zip") return void response.writeHead(404).end();
      response.writeHead(200).end(bytes);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const url = (path: string) => `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`;
    await using client = create({ config: withEcho([{ url: url("/latest"), sha256: hashOf(bytes) }]) });
    const { choices } = await client.chat.completions.create({ messages });
    assertEquals(choices[0]?.message.content, "Hello from a zip");
    const refused: [address: string, why: RegExp][] = [
      [url("/absent"), /the server answered 404/],
      [url("/loop"), /redirected again and again/],
      [url("/away"), /has to come by https/],
      ["http://example.com/package.zip", /has to come by https/],
    ];
    for (const [address, why] of refused) {
      assertMatch(
        (await assertRejects(() => new ModelMesh().initialize(withEcho([{ url: address }])), MeshError)).message,
        why,
      );
    }
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
});

describe("An archive is refused that", () => {
  withCacheApart();

  it("reaches out of itself", async () => {
    for (
      const path of [
        "../evil.js",
        "/etc/evil.js",
        "a/../../evil.js",
        "C:/evil.js",
        "a\\..\\evil.js",
        "./a.js",
        "a//b.js",
        "a\u0000.js",
      ]
    ) {
      assertMatch(await refusalOf({ ...echo, [path]: "x" }), /is refused: its entry ".*" is no path inside it/, path);
    }
  });

  it("has two files where the case of names does not count", async () => {
    assertMatch(await refusalOf({ ...echo, "MAIN.js": "x" }), /it holds "MAIN.js" twice/);
  });

  it("holds over 1 000 files", async () => {
    const files = Object.fromEntries(Array.from({ length: 999 }, (_, place) => [`f${place}.txt`, ""]));
    assertMatch(await refusalOf({ ...echo, ...files }), /more than 1000 files/);
  });

  it("is over 64 MiB when unpacked, however small it is packed, and whatever it claims", async () => {
    const zeros = new Uint8Array(35 << 20);
    const bomb = zip({ ...echo, "a.bin": zeros, "b.bin": zeros });
    assert(bomb.length < 1 << 20, String(bomb.length));
    assertMatch(await refusalOf(bomb), /over 64 MiB when unpacked/);
    const liar = zip({ "connector.json": manifest(), "main.js": zeros });
    const view = new DataView(liar.buffer, liar.byteOffset);
    for (let at = 0; at < liar.length - 4; at++) {
      if (view.getUint32(at, true) === 0x02014b50 && view.getUint32(at + 24, true) > 1 << 20) {
        view.setUint32(at + 24, 10, true);
      }
    }
    assertMatch(
      await refusalOf(liar),
      /cannot be loaded|has to export a connector/,
      "no more is unpacked than it claims",
    );
  });

  it("is none, is cut off, or has no manifest that holds", async () => {
    assertMatch(await refusalOf(encoder.encode("no zip at all")), /no zip archive, or a damaged one/);
    assertMatch(await refusalOf(zip(echo).slice(0, -30)), /no zip archive, or a damaged one/);
    assertMatch(await refusalOf({ "main.js": "" }), /no connector\.json at its top/);
    assertMatch(await refusalOf({ "connector.json": "{" }), /is no JSON/);
    assertMatch(await refusalOf({ "connector.json": "[]" }), /is no object/);
    assertEquals(
      await refusalOf({
        "connector.json": JSON.stringify({ id: "x", type: "plugin", entry: "../x.js", config_schema: 1 }),
      }),
      'The connector package bad.zip is refused: in connector.json "id" has to be such as "acme.llm.v1"; "type" has to be ' +
        'one of provider, strategy, secret_store, storage, observability; "version" has to be such as "1.0.0"; "entry" has ' +
        'to be a file of the package that ends in .js or .mjs; "config_schema" has to be a JSON Schema, an object',
    );
  });

  it("has an entry that does not run, or exports something else", async () => {
    const withMain = (text: string) => refusalOf({ "connector.json": manifest(), "main.js": text });
    assertMatch(await withMain("throw new Error('canary');"), /cannot be loaded \(see the error's cause\)/);
    assertMatch(await withMain("export const other = 1;"), /has to export a connector/);
    assertMatch(
      await withMain("export default { id: 'b.c.v1', kind: 'provider', create() {} };"),
      /has to have the id "acme\.echo\.v1"/,
    );
    assertMatch(
      await withMain("export default { id: 'acme.echo.v1', kind: 'provider', create() {} };"),
      /"vendor" and "models"/,
    );
  });
});
