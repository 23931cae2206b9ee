/** The page at `/ui`, as it is served. */
import { assert, assertEquals, assertMatch, assertNotEquals, assertStringIncludes } from "@std/assert";
import { digestOfSources, hashSource } from "../../scripts/_ui_sources.ts";
import { startTestProxy } from "../support/proxy.ts";

const token = "token-of-the-operator-0123456789";
const nowhere = { upstreams: { "model-of-a-tenant": "http://127.0.0.1:9/v1" } };
const html = { accept: "text/html,application/xhtml+xml;q=0.9,*/*;q=0.8", "accept-encoding": "identity" };

Deno.test("the dashboard is built from the sources that are there (if not: deno task ui)", async () => {
  const built = await Deno.readTextFile(new URL("../../src/proxy/_ui_page.ts", import.meta.url));
  assertStringIncludes(built, `// Its sources: ${await digestOfSources()}\n`);
});

Deno.test("/ui is a bare shell: it needs no token, and has nothing of the mesh in it", async () => {
  await using proxy = await startTestProxy({ ...nowhere, tokens: [token] });
  for (const path of ["/ui", "/ui/"]) {
    const response = await fetch(proxy.url + path, { headers: html });
    assertEquals([response.status, response.headers.get("content-type")], [200, "text/html; charset=utf-8"]);
    const page = await response.text();
    assertMatch(page, /^<!doctype html>/);
    for (const secret of [token, "model-of-a-tenant", "127.0.0.1"]) assert(!page.includes(secret), secret);
  }
  const status = await fetch(`${proxy.url}/mesh/status`);
  assertEquals(status.status, 401);
  await status.body?.cancel();
});

Deno.test("/ui allows its own script and style alone, and no other origin", async () => {
  await using proxy = await startTestProxy(nowhere);
  const response = await fetch(`${proxy.url}/ui`, { headers: html });
  const policy = response.headers.get("content-security-policy")!;
  const page = await response.text();
  const [, style = ""] = /<style>(.*?)<\/style>/s.exec(page) ?? [];
  const [, script = ""] = /<script type="module">(.*?)<\/script>/s.exec(page) ?? [];
  assertStringIncludes(policy, `script-src '${await hashSource(script)}';`);
  assertStringIncludes(policy, `style-src '${await hashSource(style)}';`);
  for (const rule of ["default-src 'none'", "connect-src 'self'", "frame-ancestors 'none'", "base-uri 'none'"]) {
    assertStringIncludes(policy, rule);
  }
  assert(!policy.includes("unsafe"));
  assert(!/\s(?:src|href)="(?!#|data:)/.test(page), "something is loaded from elsewhere");
  assertEquals(response.headers.get("x-content-type-options"), "nosniff");
});

Deno.test("/ui has an ETag for each encoding, and answers 304 to one that a browser has", async () => {
  await using proxy = await startTestProxy(nowhere);
  const ask = (headers: HeadersInit) => fetch(`${proxy.url}/ui`, { headers });
  const [plain, packed] = [await ask(html), await ask({ ...html, "accept-encoding": "gzip, br" })];
  assertEquals(plain.headers.get("content-encoding"), null);
  assertEquals(await plain.text(), await packed.text());
  const [plainTag, packedTag] = [plain.headers.get("etag")!, packed.headers.get("etag")!];
  assertMatch(plainTag, /^"[^"]+"$/);
  assertNotEquals(plainTag, packedTag);
  assertStringIncludes(plain.headers.get("vary")!, "accept-encoding");
  for (const known of [plainTag, `W/${plainTag}`, `"other", ${plainTag}`, "*"]) {
    const again = await ask({ ...html, "if-none-match": known });
    assertEquals([again.status, await again.text(), again.headers.get("etag")], [304, "", plainTag]);
  }
  const other = await ask({ ...html, "if-none-match": packedTag });
  assertEquals(other.status, 200);
  await other.text();
});

Deno.test("/ui answers what it has not, and methods that it does not take, with an error", async () => {
  await using proxy = await startTestProxy(nowhere);
  const cases: readonly [RequestInit, number][] = [
    [{ headers: { accept: "application/json" } }, 406],
    [{ headers: { ...html, "accept-encoding": "identity;q=0, br" } }, 406],
    [{ method: "POST", headers: html, body: "" }, 405],
  ];
  for (const [init, status] of cases) {
    const response = await fetch(`${proxy.url}/ui`, init);
    assertEquals(response.status, status);
    assertEquals(typeof (await response.json()).error.message, "string");
  }
  const head = await fetch(`${proxy.url}/ui`, { method: "HEAD", headers: html });
  assertEquals([head.status, await head.text()], [200, ""]);
});
