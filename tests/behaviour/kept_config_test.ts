/** The record `config` of a storage: what is in it, what is not, and when it is written. */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { mkdir, readFile, rmdir } from "node:fs/promises";
import { serve } from "../../proxy.ts";
import { create, memoryStorage, ModelMesh, openStorage } from "../../mod.ts";
import { schema } from "../../src/config/schema/schema.ts";
import type { Field } from "../../src/config/schema/field.ts";
import { keepConfig, withoutSecrets } from "../../src/config/load/kept_config.ts";
import { fakeClock } from "../../src/runtime/test.ts";
import { makeFolder } from "../support/_library.ts";
import { until } from "../support/patience.ts";

const nowhere = "http://127.0.0.1:9/v1";
const env = { ACME_KEY: "key-of-acme-0123456789" };
const document = {
  providers: { acme: { connector: "openai.compatible.v1", base_url: nowhere, api_key: "${secrets:ACME_KEY}" } },
  models: { small: { provider: "acme", capabilities: ["chat-completion"] } },
  pools: { chat: { models: ["small"] } },
};

/** A document with a secret wherever one can stand. */
const full = (path: string) => ({
  ...document,
  providers: {
    ...document.providers,
    plain: {
      connector: "openai.compatible.v1",
      base_url: nowhere,
      api_key: ["canary-2-0123456789", "${secrets:ACME_KEY}"],
    },
    flat: { connector: "openai.compatible.v1", base_url: nowhere, "auth.api_key": "canary-3-0123456789" },
  },
  storage: { path },
  proxy: { auth: { tokens: ["canary-4-0123456789", { name: "ops", token: "canary-5-0123456789" }] } },
  observability: {
    routing: { connector: "mesh.webhook.v1", url: `http://127.0.0.1:9/canary-2-0123456789`, secret: "canary-6" },
  },
});

describe("The record of the configuration", () => {
  it("is the document of the last start, without secrets that are written out", async () => {
    await using folder = await makeFolder();
    const path = `${folder.path}/state.json`;
    const given = full(path);
    const before = JSON.stringify(given);
    await using client = create({ config: given, env });
    await client.ready();
    const text = await readFile(`${folder.path}/state.json.config`, "utf8");
    assertEquals([/canary/.test(text), JSON.stringify(given)], [false, before]);
    const kept = JSON.parse(text);
    assertEquals(kept.providers.acme, document.providers.acme);
    assertEquals(kept.providers.plain.api_key, ["${secrets:ACME_KEY}"]);
    assertEquals(kept.proxy.auth.tokens, [{ name: "ops" }]);
    assertEquals([kept.models, kept.pools, kept.storage], [document.models, document.pools, { path }]);
  });

  it("makes the same mesh again, and is replaced at a start with another document", async () => {
    await using folder = await makeFolder();
    const storage = { path: `${folder.path}/state.json` };
    for (const name of ["chat", "talk"]) {
      const config = { ...document, pools: { [name]: { models: ["small"] } }, storage };
      await using client = create({ config, env });
      await client.ready();
    }
    const mesh = await ModelMesh.fromStorage(await openStorage(storage), { env });
    assertEquals(mesh.listPools().map(({ name }) => name), ["talk"]);
    await mesh.close();
  });

  it("is replaced by a reload of the proxy", async () => {
    await using folder = await makeFolder();
    const storage = { path: `${folder.path}/state.json` };
    const providers = { acme: { ...document.providers.acme, api_key: env.ACME_KEY } };
    const textOf = (name: string) =>
      JSON.stringify({ ...document, providers, pools: { [name]: { models: ["small"] } }, storage });
    const config = await folder.write("mesh.json", textOf("chat"));
    const server = await serve({ config, port: 0 });
    await folder.write("mesh.json", textOf("talk"));
    await server.reload();
    await server.stop();
    assertEquals(Object.keys(JSON.parse(await readFile(`${folder.path}/state.json.config`, "utf8")).pools), ["talk"]);
  });

  it("that saveConfig() wrote keeps its keys while nothing else changes", async () => {
    const storage = memoryStorage();
    const withKey = { ...document, providers: { acme: { ...document.providers.acme, api_key: "canary-0123456789" } } };
    const written = JSON.stringify(withKey, null, 2);
    await storage.save("config", new TextEncoder().encode(written));
    const read = async () => new TextDecoder().decode(await storage.load("config"));
    await keepConfig(withKey, storage, (text) => text);
    assertEquals(await read(), written);
    await keepConfig({ ...withKey, pools: {} }, storage, (text) => text);
    assertEquals(/canary/.test(await read()), false);
  });

  it("that cannot be written is logged, and the mesh starts", async () => {
    await using folder = await makeFolder();
    await mkdir(`${folder.path}/state.json.config`);
    const mesh = new ModelMesh({ env });
    const traces: string[] = [];
    mesh.addSink({ emit: () => {}, trace: ({ message }) => void traces.push(message), flush: () => Promise.resolve() });
    await mesh.initialize({ ...document, storage: { path: `${folder.path}/state.json` } });
    await mesh.close();
    assertStringIncludes(traces.join("\n"), "Cannot store the configuration in the storage: ");
  });

  it("that could not be written is written as soon as it can be, with one warning", async () => {
    await using folder = await makeFolder();
    const path = `${folder.path}/state.json.config`;
    await mkdir(path);
    const clock = fakeClock();
    const mesh = new ModelMesh({ env, clock });
    const traces: string[] = [];
    mesh.addSink({ emit: () => {}, trace: ({ message }) => void traces.push(message), flush: () => Promise.resolve() });
    await mesh.initialize({ ...document, storage: { path: `${folder.path}/state.json` } });
    await clock.advance(500);
    await rmdir(path);
    const isWritten = () =>
      readFile(path, "utf8").then((text) => JSON.parse(text).pools.chat !== undefined, () => false);
    await until(async () => {
      await clock.advance(500);
      return await isWritten();
    });
    await mesh.close();
    assertEquals(traces.filter((trace) => trace.startsWith("Cannot store the configuration")).length, 1);
  });

  it("has addresses without the password in them, no value of a header, and no object of the program", () => {
    const url = "rediss://user:canary@host:6379/0";
    const strategy = new (class Own {})();
    const sink = { config: { headers: { "x-tenant": "canary" } } };
    const tls = { ca: "ca.pem", key: "-----BEGIN PRIVATE KEY-----\ncanary\n-----END PRIVATE KEY-----" };
    const sentinel = { master: "m", nodes: ["redis://user:canary@host"], password: "canary" };
    const kept = withoutSecrets(
      { sink, storage: { url, tls, sentinel }, pools: { chat: { strategy, models: ["a"] } } },
      (text) => text,
    );
    assertEquals(kept, {
      sink: { config: { headers: {} } },
      storage: {
        url: "rediss://host:6379/0",
        tls: { ca: "ca.pem" },
        sentinel: { master: "m", nodes: ["redis://host"] },
      },
      pools: { chat: { models: ["a"] } },
    });
  });

  it("leaves out every field that the schema calls a secret", () => {
    const paths: string[][] = [];
    const visit = (field: Field, path: string[]) => {
      if (field.isSecret) paths.push(path);
      if (path.length > 12) return;
      for (const [name, inner] of Object.entries(field.fields ?? {})) visit(inner, [...path, name]);
      for (const option of field.options ?? []) visit(option, path);
      if (field.item !== undefined) visit(field.item, [...path, "item"]);
    };
    visit(schema, []);
    assertEquals(paths.length > 8, true);
    for (const path of paths) {
      const nested = path.reduceRight<unknown>((value, name) => ({ [name]: value }), "canary");
      assertEquals(JSON.stringify(withoutSecrets(nested, (text) => text)).includes("canary"), false, path.join("."));
    }
  });
});
