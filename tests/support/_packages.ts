/**
 * Connector packages as archives: with a provider, with a strategy, and invalid ones.
 * @module
 */
import { assert, assertRejects } from "@std/assert";
import { afterAll, beforeAll } from "@std/testing/bdd";
import { createHash } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { env } from "node:process";
// deno-lint-ignore no-import-prefix -- an entry of `imports` would be downloaded before every task
import { zipSync } from "npm:fflate@0.8.3";
import { ConnectorError, ModelMesh } from "../../mod.ts";
import { getEngine } from "../../src/engine/get_engine.ts";
import { makeFolder, type TestFolder } from "./_library.ts";

/**
 * Uses a cache folder of the tests for unpacked packages. The test command provides one for all files, since parallel
 * files share one environment.
 */
export function withCacheApart(): void {
  if (env.MODELMESH_CACHE !== undefined) return;
  beforeAll(async () => void (env.MODELMESH_CACHE = await mkdtemp(join(tmpdir(), "modelmesh-test-"))));
  afterAll(async () => {
    await rm(env.MODELMESH_CACHE!, { recursive: true });
    delete env.MODELMESH_CACHE;
  });
}

/** Files by path, as text or bytes. */
export type Files = Readonly<Record<string, string | Uint8Array>>;

/** Text as bytes. */
export const encoder: TextEncoder = new TextEncoder();

/** Creates an archive. */
export function zip(files: Files, level: 0 | 1 | 6 = 1): Uint8Array {
  const bytes = Object.entries(files).map((
    [path, text],
  ) => [path, typeof text === "string" ? encoder.encode(text) : text]);
  return zipSync(Object.fromEntries(bytes), { level, mtime: new Date(2026, 0, 1) });
}

/** Returns a `connector.json`. */
export const manifest = (facts: object = {}): string =>
  JSON.stringify({ id: "acme.echo.v1", type: "provider", version: "1.0.0", entry: "main.js", ...facts });

/** A provider that responds with its settings, implemented in a second module. */
export const echo: Files = {
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

/** A strategy that selects the last candidate. */
export const strategy: Files = {
  "connector.json": manifest({ id: "acme.last.v1", type: "strategy" }),
  "main.js": `export default { id: "acme.last.v1", kind: "strategy", create: () => ({
    select: (candidates) => candidates.at(-1), score: ({ name }) => name === "last" ? 1 : 0 }) };`,
};

/** Returns the SHA-256 as configured. */
export const hashOf = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

/** Writes an archive. */
export async function packed(folder: TestFolder, files: Files, name = "package.zip"): Promise<string> {
  const path = join(folder.path, name);
  await writeFile(path, zip(files));
  return path;
}

/** Returns a configuration of the provider. */
export const withEcho = (
  packages: readonly unknown[],
  config: object = { greeting: "Hello from a zip" },
): Readonly<Record<string, unknown>> => ({
  connectors: { packages },
  providers: { "acme.echo.v1": { config } },
  pools: { chat: { capability: "chat-completion" } },
});

/** Messages of a request. */
export const messages: { role: "user"; content: string }[] = [{ role: "user", content: "Hi" }];

/** Returns the error message of a package. */
export async function catchPackageError(files: Files | Uint8Array): Promise<string> {
  await using folder = await makeFolder();
  const path = join(folder.path, "bad.zip");
  await writeFile(path, files instanceof Uint8Array ? files : zip(files as Files));
  const mesh = new ModelMesh();
  const error = await assertRejects(() => mesh.initialize(withEcho([path])), ConnectorError);
  assert(!getEngine(mesh).catalogue.ids("provider").includes("acme.echo.v1"));
  return error.message.replaceAll(path, "bad.zip");
}
