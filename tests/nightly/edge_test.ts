/**
 * The built package on runtimes without a server: workerd, which runs Cloudflare Workers, and Vercel's edge runtime. The
 * module is the default export of the proxy, configured by variables, or the one of docs/edge.md.
 */
import { assertEquals } from "@std/assert";
import { afterAll, beforeAll, describe, it } from "@std/testing/bdd";
import { build, stop } from "../../scripts/npm/esbuild.ts";
import { run } from "../../scripts/npm/process.ts";
import { makeFolder, type TestFolder } from "../support/_library.ts";
import { findPackage } from "../support/_package.ts";
import { respond, startUpstream, type Upstream } from "../support/upstream.ts";

const token = "token-of-the-client-0123456789";

/** Requests, and the statuses of their responses; `ask` is how a runtime is called. */
const requests = `
  const headers = { authorization: "Bearer ${token}", "content-type": "application/json", "accept-encoding": "gzip" };
  const chat = (stream) => ({
    method: "POST",
    headers,
    body: JSON.stringify({ model: MODEL, stream, messages: [{ role: "user", content: "Hi" }] }),
  });
  const results = [];
  for (const stream of [false, true, false]) {
    const [status, text] = await ask("/v1/chat/completions", chat(stream));
    results.push([status, text.includes("Hello")]);
  }
  for (const path of ["/health", "/metrics", "/v1/models"]) results.push([(await ask(path, { headers }))[0], path]);
  const [refused] = await ask("/v1/models", {});
  console.log(JSON.stringify([...results, refused]));`;

const expected = [[200, true], [200, true], [200, true], [200, "/health"], [200, "/metrics"], [200, "/v1/models"], 401];

/** A program of Node that runs a module in workerd. */
const workerd = `
  import { Miniflare } from "miniflare";
  import { readFileSync } from "node:fs";
  const [file, MODEL, bindings, flags] = process.argv.slice(2);
  const worker = new Miniflare({
    modules: [{ type: "ESModule", path: "worker.mjs", contents: readFileSync(file, "utf8") }],
    compatibilityDate: "2026-07-01",
    compatibilityFlags: JSON.parse(flags),
    bindings: JSON.parse(bindings),
  });
  const ask = async (path, init) => {
    const response = await worker.dispatchFetch("http://localhost" + path, init);
    return [response.status, await response.text()];
  };
  ${requests}
  await worker.dispose();`;

/** A program of Node that runs a script in Vercel's runtime. */
const vercel = `
  import { EdgeVM } from "@edge-runtime/vm";
  import { readFileSync } from "node:fs";
  const [file, MODEL, bindings] = process.argv.slice(2);
  const vm = new EdgeVM({ extend: (context) => Object.assign(context, { process: { env: JSON.parse(bindings) } }) });
  vm.evaluate(readFileSync(file, "utf8"));
  const ask = (path, init) => vm.evaluate(
    "edge.default.fetch(new Request('http://localhost" + path + "', " + JSON.stringify(init) + "))" +
      ".then(async (response) => [response.status, await response.text()])",
  );
  ${requests}`;

describe("The package on an edge runtime", () => {
  let folder: TestFolder;
  let upstream: Upstream;
  let variables: string;

  beforeAll(async () => {
    folder = await makeFolder();
    upstream = await startUpstream(respond({ text: "Hello" }));
    variables = JSON.stringify({
      OPENAI_API_KEY: "sk-of-the-operator-0123456789",
      OPENAI_BASE_URL: upstream.url,
      MODELMESH_TOKEN: token,
    });
    await folder.write("package.json", `{ "private": true, "type": "module" }`);
    const packages = ["miniflare@4.20260730.0", "@edge-runtime/vm@5.0.0"];
    const options = ["--no-audit", "--no-fund", "--install-links", await findPackage(folder.path)];
    await run(["npm", "install", ...options, ...packages], { folder: folder.path, limitSeconds: 240 });
    await folder.write("default.mjs", `export { default } from "@modelmesh/core/proxy";`);
    const page = await Deno.readTextFile(new URL("../../docs/edge.md", import.meta.url));
    const [, code = ""] = /```ts\n(import \{ ModelMesh \}[^]*?)```/.exec(page) ?? [];
    await folder.write(
      "configured.ts",
      code.replace("{ api_key:", '{ base_url: "${secrets:OPENAI_BASE_URL}", api_key:'),
    );
    await folder.write("workerd.mjs", workerd);
    await folder.write("vercel.mjs", vercel);
    for (
      const [entry, format] of [["default.mjs", "esm"], ["configured.ts", "esm"], ["default.mjs", "iife"]] as const
    ) {
      await build({
        absWorkingDir: folder.path,
        entryPoints: [entry],
        outfile: `${entry.split(".")[0]}.${format}.js`,
        bundle: true,
        format,
        globalName: "edge",
        external: [
          "node:*",
          "ws",
          "jose",
          "postgres",
          "re2js",
          "@redis/client",
          "@msgpack/msgpack",
          "@cfworker/json-schema",
        ],
        logLevel: "silent",
      });
    }
    await stop();
  });

  afterAll(async () => {
    await upstream[Symbol.asyncDispose]();
    await folder[Symbol.asyncDispose]();
  });

  async function results(...command: readonly string[]): Promise<unknown> {
    const { out } = await run(["node", ...command], { folder: folder.path, limitSeconds: 60 });
    return JSON.parse(out);
  }

  for (const flags of [[], ["nodejs_compat"]]) {
    it(`serves its default export in workerd, by bindings, with the flags [${flags}]`, async () => {
      const args = ["workerd.mjs", "default.esm.js", "chat-completion", variables, JSON.stringify(flags)];
      assertEquals(await results(...args), expected);
    });

    it(`serves a configuration in code in workerd, with the flags [${flags}]`, async () => {
      const args = ["workerd.mjs", "configured.esm.js", "assistant", variables, JSON.stringify(flags)];
      assertEquals(await results(...args), expected);
    });
  }

  it("serves its default export in Vercel's runtime, by the variables of the process", async () => {
    assertEquals(await results("vercel.mjs", "default.iife.js", "chat-completion", variables), expected);
  });
});
