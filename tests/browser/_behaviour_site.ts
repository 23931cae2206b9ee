/**
 * The behaviour suites as a page has them: bundled, with what stands in there for the machine.
 * @module
 */
import { build, type Plugin, stop } from "../../scripts/npm/esbuild.ts";
import { std } from "../../scripts/npm/std.ts";
import { type Behaviour, completeResponse, startUpstream, status } from "../support/upstream.ts";
import { javascript, noEval, type Site } from "./_site.ts";

const root = new URL("../../", import.meta.url).pathname;
const inPage = `${root}tests/browser/in_page/`;

/** By path in the repository: what is taken in a page. */
const replaced: Readonly<Record<string, string>> = {
  "mod.ts": "mod.ts",
  "proxy.ts": "proxy.ts",
  "tests/support/_breathe.ts": "breathe.ts",
  "tests/support/_raw_http.ts": "raw_http.ts",
  "tests/support/schema.ts": "schema.ts",
};

const machine: Plugin = {
  name: "what stands in for the machine",
  setup({ onLoad, onResolve }) {
    onResolve({ filter: /^@std\/testing\/bdd$/ }, () => ({ path: `${inPage}bdd.ts` }));
    onResolve({ filter: /^\.{1,2}\/.*\.ts$/ }, ({ path, resolveDir }) => {
      const file = new URL(path, `file://${resolveDir}/`).pathname.slice(root.length);
      const standIn = resolveDir.startsWith(`${root}tests`) ? replaced[file] : undefined;
      return standIn === undefined ? undefined : { path: inPage + standIn };
    });
    // a test that needs one fails, but its file can be read
    onResolve({ filter: /^(node:|openai$|@anthropic-ai\/sdk$)/ }, ({ path }) => ({ path, namespace: "absent" }));
    onLoad({ filter: /./, namespace: "absent" }, () => ({ contents: "module.exports = {};" }));
  },
};

/**
 * Bundles suites into one script, of which a page runs the one that it is titled after: what is imported later is
 * there at once, as it is on a server.
 *
 * @param files Their paths in the repository.
 */
export async function bundleSuites(files: readonly string[]): Promise<Uint8Array> {
  const suites = files.map((file) => `${JSON.stringify(file)}: () => import("./${file}"),`).join("\n");
  const { outputFiles } = await build({
    stdin: { contents: `await ({\n${suites}\n})[document.title]();`, resolveDir: root },
    outdir: "/",
    bundle: true,
    format: "esm",
    platform: "browser",
    target: "es2022",
    plugins: [machine, std],
    external: ["@std/yaml"], // only configurations in YAML need it
    write: false,
    logLevel: "silent", // what fails is thrown
  }).finally(stop);
  return outputFiles[0]!.contents;
}

/**
 * Starts a site with one page, which loads a suite.
 *
 * @param file The suite's path in the repository.
 * @param script All suites, bundled.
 */
export async function startSuiteSite(file: string, script: Uint8Array): Promise<Site> {
  const page = `<!doctype html>
<title>${file}</title>
<link rel="icon" href="data:,">
<script type="module" src="/suites.js"></script>`;
  const { port, close } = await startUpstream(({ path }): Behaviour => {
    if (path === "/") {
      return completeResponse(200, page, "text/html; charset=utf-8", { "content-security-policy": noEval });
    }
    return path === "/suites.js" ? completeResponse(200, script, javascript) : status(404);
  });
  return { port, [Symbol.asyncDispose]: close };
}
