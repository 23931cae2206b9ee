/** Secrets of a store of files reach providers, and nothing that a program, a client or a person gets to see. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { stringify } from "@std/dotenv/stringify";
import { describe, it } from "@std/testing/bdd";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inspect } from "node:util";
import { memoryStorage, type MeshEvent, ModelMesh, type RoutingRecord, stateIn, type TraceEntry } from "../../mod.ts";
import { createHandler, listen } from "../../proxy.ts";
import { getEngine } from "../../src/engine/get_engine.ts";
import { fakeClock } from "../../src/runtime/test.ts";
import {
  assertNoSecret,
  assertNoSecretIn,
  canaries,
  canaryConfig,
  everything,
  readApiKey,
} from "../support/_canaries.ts";
import { runCommand } from "../support/_cli.ts";
import { goodBody } from "../support/_surface.ts";
import { type Behaviour, type ReceivedRequest, startUpstream, status, stream } from "../support/upstream.ts";

const passphrase = "canary-passphrase-0123456789";
const env = { MESH_SECRETS_PASSPHRASE: passphrase };

/** Everything that makes a proxy talk, with its key in it. */
function talkative(request: ReceivedRequest): Behaviour {
  const key = readApiKey(request);
  const error = { message: `Wrong: ${key}`, type: key, code: key, param: key };
  if (request.json().stream === true && request.number % 3 !== 0) return stream({ error: { after: 1, error } });
  return status([400, 401, 403, 429, 500, 404][request.number % 6]!, { error, headers: { "x-echo": key } });
}

/** The store's file as the command makes it. */
async function storeFile(store: string, path: string): Promise<{ config: Record<string, unknown>; text: string }> {
  const text = stringify({ KEY: canaries.key, TOKEN: canaries.token, SECOND: canaries.second });
  const args = ["secrets", "import", "all.env", "--store", store, "--path", "made"];
  const { code, out, err, files } = await runCommand(args, { env, files: { "all.env": text } });
  assertEquals(code, 0, err);
  assertNoSecret(out + err, "the command");
  return { config: { store, path }, text: files.get("made")! };
}

for (const store of ["mesh.dotenv.v1", "mesh.encrypted-file.v1"]) {
  describe(`No secret of ${store} leaves`, () => {
    it("by answers, records, states, descriptions, files and errors", async () => {
      const folder = mkdtempSync(join(tmpdir(), "modelmesh-secrets-"));
      try {
        const path = join(folder, "secrets");
        const { config: secrets, text } = await storeFile(store, path);
        writeFileSync(path, text);
        await using upstream = await startUpstream(talkative);
        const config: Record<string, unknown> = { ...canaryConfig(upstream.url), secrets };
        const providers = config.providers as Record<string, object>;
        providers.b = { ...providers.b, api_key: "${secrets:SECOND}" };
        const reported: (MeshEvent | RoutingRecord | TraceEntry)[] = [];
        const storage = memoryStorage();
        const clock = fakeClock({ skipSleeps: true });
        const mesh = new ModelMesh({ clock, env, on: (record) => reported.push(record), storage: stateIn(storage) });
        mesh.addSink({ emit: () => {}, trace: (entry) => reported.push(entry), flush: () => Promise.resolve() });
        await mesh.initialize(config);
        const server = await listen(createHandler(mesh), { port: 0 });
        try {
          await talk(`http://127.0.0.1:${server.port}`);
          const keys = new Set(upstream.requests.map(readApiKey));
          assertEquals(keys, new Set([canaries.key, canaries.second]), "both keys were sent, so both could leak");
          const explained = await mesh.explain({ model: "chat", messages: [{ role: "user", content: "Hi" }] });
          await mesh.saveConfig(join(folder, "saved.yaml"));
          await mesh.saveConfig(join(folder, "saved.json"));
          assertNoSecretIn(
            [
              mesh.exportState(),
              mesh.stats(),
              mesh.poolStatus(),
              mesh.listModels(),
              getEngine(mesh).settings.secrets,
              explained,
            ],
            "what it tells of itself",
          );
          assert(reported.length > 10);
          assertNoSecretIn(reported, "records and traces");
          assertNoSecret(inspect(mesh, { depth: 9, showHidden: true }) + JSON.stringify(mesh), "the mesh itself");
        } finally {
          await server.stop(0);
          await mesh.close();
        }
        for (const key of await storage.list()) {
          assertNoSecret(new TextDecoder().decode(await storage.load(key)), `the stored ${key}`);
        }
        for (const name of readdirSync(folder).filter((name) => name.startsWith("saved."))) {
          const saved = readFileSync(join(folder, name), "utf8");
          assertNoSecret(saved, name);
          assertStringIncludes(saved, "${secrets:KEY}");
        }
        assertEquals(
          readdirSync(folder).sort(),
          ["saved.json", "saved.yaml", "secrets"],
          "nothing else is left behind",
        );
      } finally {
        rmSync(folder, { recursive: true });
      }
    });
  });
}

/** Asks everything that can be asked, and looks into all of what comes back. */
async function talk(url: string): Promise<void> {
  const headers = { "content-type": "application/json", authorization: `Bearer ${canaries.token}` };
  for (const model of ["chat", "a", "b", "chat", "a", "b", "none"]) {
    for (const stream of [false, true]) {
      const body = JSON.stringify({ ...goodBody, model, stream });
      const answer = await fetch(`${url}/v1/chat/completions`, { method: "POST", headers, body });
      assertNoSecret(await everything(answer), `${model}${stream ? ", streaming" : ""}`);
    }
  }
  for (const path of ["/health", "/v1/models", "/nothing"]) {
    assertNoSecret(await everything(await fetch(url + path, { headers })), path);
  }
}

describe("A start whose secrets are not to be had", () => {
  it("fails, naming store and secret, by the library and by the command", async () => {
    const wrong: [file: string, env: Record<string, string>, secrets: Record<string, unknown>, said: string][] = [
      [`KEY=${canaries.key}\nTOKEN ${canaries.token}`, {}, { store: "mesh.dotenv.v1" }, "line 2 expected NAME=value"],
      [`KEY=${canaries.key}\n`, {}, { store: "mesh.dotenv.v1" }, '"TOKEN" in the store "mesh.dotenv.v1"'],
      [`KEY=${canaries.key}\nTOKEN=\n`, {}, { store: "mesh.dotenv.v1" }, '"TOKEN" in the store "mesh.dotenv.v1"'],
      [`{"data": "${canaries.key}`, env, { store: "mesh.encrypted-file.v1" }, "it is truncated"],
      ["", env, { store: "mesh.encrypted-file.v1" }, "it is empty"],
      ["{}", {}, { store: "mesh.encrypted-file.v1" }, "not a file of encrypted secrets of this version"],
    ];
    for (const [text, variables, secrets, said] of wrong) {
      const config = { ...canaryConfig("http://127.0.0.1:9/v1"), secrets: { ...secrets, path: "secrets.file" } };
      const files = { "mesh.json": JSON.stringify(config), "secrets.file": text };
      const { code, out, err } = await runCommand(["proxy", "--config", "mesh.json"], { files, env: variables });
      assertEquals([code, out], [1, ""], said);
      assertStringIncludes(err, said);
      assertMatchesAny(err, ['"KEY"', '"TOKEN"']);
      assertNoSecret(err, said);
    }
  });
});

function assertMatchesAny(text: string, wanted: readonly string[]): void {
  assert(wanted.some((one) => text.includes(one)), text);
}
