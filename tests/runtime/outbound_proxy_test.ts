import { assertEquals, assertThrows } from "@std/assert";
import { NetworkError } from "../../src/errors.ts";
import { outboundProxy } from "../../src/runtime/_outbound_proxy.ts";

/** Where a call goes by way of, in short. */
function wayTo(url: string, env: Readonly<Record<string, string>>): string {
  const proxy = outboundProxy(new URL(url), (name) => env[name]);
  return proxy === undefined ? "direct" : `${proxy.protocol}//${proxy.hostname}:${proxy.port}`;
}

const proxied = "http://proxy:3128";

Deno.test("HTTPS_PROXY, HTTP_PROXY and ALL_PROXY are for what they say, upper case first", () => {
  const table: [env: Record<string, string>, https: string, http: string][] = [
    [{}, "direct", "direct"],
    [{ HTTPS_PROXY: proxied }, proxied, "direct"],
    [{ HTTPS_PROXY: proxied, https_proxy: "http://other:1" }, proxied, "direct"],
    [{ HTTP_PROXY: proxied }, "direct", proxied],
    [{ http_proxy: proxied }, "direct", proxied],
    [{ ALL_PROXY: proxied }, proxied, proxied],
    [{ all_proxy: proxied, HTTPS_PROXY: "https://secure" }, "https://secure:443", proxied],
    [{ HTTPS_PROXY: " ", HTTP_PROXY: "" }, "direct", "direct"],
    [{ HTTPS_PROXY: "proxy:3128", HTTP_PROXY: "http://[::1]" }, proxied, "http://::1:80"],
  ];
  for (const [env, https, http] of table) {
    assertEquals([wayTo("https://a.example", env), wayTo("http://a.example", env)], [https, http], JSON.stringify(env));
  }
});

Deno.test("NO_PROXY spares hosts with all below them, addresses, networks and single ports", () => {
  const table: [list: string, url: string, spared: boolean][] = [
    ["", "https://a.example", false],
    ["*", "https://a.example", true],
    ["a.example", "https://a.example", true],
    ["A.Example", "https://a.EXAMPLE", true],
    ["a.example", "https://b.a.example", true],
    [".a.example", "https://a.example", true],
    ["*.a.example", "https://b.a.example", true],
    ["a.example", "https://ba.example", false],
    ["example", "https://a.example.org", false],
    ["x, a.example ,y", "https://a.example", true],
    ["x a.example", "https://a.example", true],
    ["a.example:443", "https://a.example", true],
    ["a.example:443", "https://a.example:8443", false],
    ["a.example:80", "http://a.example", true],
    ["127.0.0.1", "http://127.0.0.1:8080", true],
    ["127.0.0.0/8", "http://127.9.9.9", true],
    ["10.0.0.0/8", "http://11.0.0.1", false],
    ["10.0.0.0/99", "http://10.0.0.1", false],
    ["10.0.0.0/8", "http://a.example", false],
    ["::1", "http://[::1]:8080", true],
    ["[::1]:8080", "http://[::1]:8080", true],
    ["fd00::/8", "http://[fd00::1]", true],
    ["fd00::/8", "http://10.0.0.1", false],
  ];
  for (const [NO_PROXY, url, spared] of table) {
    assertEquals(wayTo(url, { ALL_PROXY: proxied, NO_PROXY }), spared ? "direct" : proxied, `${NO_PROXY} ${url}`);
  }
});

Deno.test("a proxy address that is invalid is reported by its variable, without its value", () => {
  for (const value of ["socks5://user:canary@proxy:1080", "http://user:canary@:99999", "ftp://canary"]) {
    const error = assertThrows(() => wayTo("https://a.example", { HTTPS_PROXY: value }), NetworkError);
    assertEquals([error.neverSent, error.message], [
      true,
      "Cannot reach the provider: HTTPS_PROXY has to be the http:// or https:// address of a proxy",
    ]);
  }
});

Deno.test("a name and a password go to the proxy as they were meant", () => {
  const proxy = outboundProxy(
    new URL("https://a.example"),
    (name) => name === "https_proxy" ? "http://us%40er:p%3Aw@proxy" : undefined,
  );
  assertEquals(proxy?.headers, { "proxy-authorization": `Basic ${btoa("us@er:p:w")}` });
});
