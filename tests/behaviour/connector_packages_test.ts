/** Connectors that come in archives, from a file or an address. */
import { assert, assertEquals, assertMatch, assertRejects, assertStringIncludes } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { randomBytes } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { ConfigError, ConnectorError, create, MeshError, ModelMesh } from "../../mod.ts";
import { getEngine } from "../../src/engine/get_engine.ts";
import { makeFolder } from "../support/_library.ts";
import {
  echo,
  hashOf,
  manifest,
  messages,
  packed,
  strategy,
  withCacheApart,
  withEcho,
  zip,
} from "../support/_packages.ts";
import { respond, startUpstream } from "../support/upstream.ts";

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

  it("brings models that are in pools also where it marks none as a default", async () => {
    await using folder = await makeFolder();
    const main = String(echo["main.js"]).replace(/,?\s*defaultFor: \[[^\]]*\]/, "");
    assert(main !== echo["main.js"]);
    await using client = create({ config: withEcho([await packed(folder, { ...echo, "main.js": main })]) });
    await client.ready();
    assertEquals(client.describe().pools[0]?.models.map(({ name }) => name), ["acme.echo-1"]);
  });

  it("brings connectors of other kinds, and several at once", async () => {
    await using folder = await makeFolder();
    await using upstream = await startUpstream(respond());
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
    assert(getEngine(mesh).catalogue.ids("provider").includes("acme.echo.v1"));
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

  it("has its attributes checked against its schema, each with its path", async () => {
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
      'contains "openai.llm.v1", which is already registered',
    );
    const twice = [await packed(folder, echo, "one.zip"), await packed(folder, echo, "two.zip")];
    await assertRejects(
      () => new ModelMesh().initialize(withEcho(twice)),
      ConnectorError,
      "which is already registered",
    );
  });
});

describe("A connector package at an address", () => {
  withCacheApart();

  it("is downloaded, past redirects, and checked against its hash", async () => {
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
      [url("/loop"), /redirected too often/],
      [url("/away"), /only https is allowed/],
      ["http://example.com/package.zip", /only https is allowed/],
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
