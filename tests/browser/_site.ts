/**
 * A web site on loopback with one plain page, which loads the browser entry as a consumer's bundler makes it.
 * @module
 */
import { build, stop } from "../../scripts/npm/esbuild.ts";
import { type Behaviour, completeResponse, startUpstream, status } from "../support/upstream.ts";

/** A site that runs. */
export interface Site extends AsyncDisposable {
  /** Its port on 127.0.0.1; every name under `.example` leads there too. */
  readonly port: number;
}

/** Bundled for the page: the module's path on the site, and its file. */
const modules = { "/modelmesh.js": "browser.ts", "/conformance.js": "tests/browser/_conformance.ts" } as const;

const plainPage = `<!doctype html>
<title>A plain page</title>
<link rel="icon" href="data:,">
<output></output>
<script type="module">
  import * as modelmesh from "/modelmesh.js";
  globalThis.modelmesh = modelmesh;
</script>`;

/** Starts the site. What it serves is bundled first. */
export async function startSite(): Promise<Site> {
  const bundles = await Promise.all(
    Object.entries(modules).map(async ([path, file]) => [path, await bundle(file)] as const),
  ).finally(stop);
  const anyOrigin = { "access-control-allow-origin": "*" }; // a sandboxed page has an origin of its own
  const answers = new Map<string, Behaviour>([
    ["/", pageUnder(noEval)],
    ["/worker.js", completeResponse(200, worker, javascript)],
    // such a page may run scripts, and is kept from every storage
    ["/sandboxed", pageUnder(`${noEval}; sandbox allow-scripts`)],
  ]);
  for (const [path, text] of bundles) {
    answers.set(path, completeResponse(200, text, javascript, anyOrigin));
  }
  const { port, close } = await startUpstream(({ path }) => answers.get(path) ?? status(404));
  return { port, [Symbol.asyncDispose]: close };
}

/** Evaluates what the page sends. */
const worker = `import * as modelmesh from "/modelmesh.js";
globalThis.modelmesh = modelmesh;
onmessage = async ({ data }) => postMessage(await eval(data));`;

/** The type of a script. */
export const javascript = "text/javascript; charset=utf-8";

/** Strict pages run no code that is made from text. */
export const noEval = "script-src 'self' 'unsafe-inline'";

function pageUnder(policy: string): Behaviour {
  return completeResponse(200, plainPage, "text/html; charset=utf-8", { "content-security-policy": policy });
}

async function bundle(file: string): Promise<Uint8Array> {
  const { outputFiles } = await build({
    absWorkingDir: new URL("../../", import.meta.url).pathname,
    entryPoints: [file],
    bundle: true,
    format: "esm",
    platform: "browser",
    target: "es2022",
    external: ["@std/yaml"], // only configurations in YAML need it
    write: false,
    logLevel: "silent", // what fails is thrown
  });
  return outputFiles[0]!.contents;
}
