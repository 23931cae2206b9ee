/**
 * Serves the page beside the package's build, on loopback.
 *
 *     deno task npm
 *     deno run -A examples/browser/serve.ts
 *
 * In a project of its own a page has a bundler, or loads the package from a CDN, in place of this file.
 */
const [build = "npm/dist", port = "8000"] = Deno.args;
const page = new URL("index.html", import.meta.url);
const scripts = `${await Deno.realPath(build)}/`;

Deno.serve({ hostname: "127.0.0.1", port: Number(port) }, async (request) => {
  const { pathname } = new URL(request.url);
  if (pathname === "/") return await file(page, "text/html; charset=utf-8");
  const [, name] = /^\/modelmesh\/((?:[\w-]+\/)?[\w.-]+\.js)$/.exec(pathname) ?? [];
  return name === undefined
    ? new Response("Not found", { status: 404 })
    : await file(`${scripts}${name}`, "text/javascript; charset=utf-8");
});

async function file(path: string | URL, type: string): Promise<Response> {
  try {
    return new Response((await Deno.open(path)).readable, { headers: { "content-type": type } });
  } catch {
    return new Response("Not found", { status: 404 });
  }
}
