/** WebSockets where there are none: the request falls back to POST at once. */
import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { ModelMesh } from "../../mod.ts";
import { createHandler } from "../../proxy.ts";
import { loadWs } from "../../src/runtime/_node_upgrade.ts";
import { fakeClock } from "../../src/runtime/test.ts";
import { testConfig } from "../support/proxy.ts";

const url = "http://127.0.0.1/v1/responses";
const headers = {
  upgrade: "websocket",
  "sec-websocket-version": "13",
  "sec-websocket-key": "AAAAAAAAAAAAAAAAAAAAAA==",
};

async function createScene() {
  const mesh = new ModelMesh({ clock: fakeClock() });
  await mesh.initialize(testConfig({ upstreams: { one: "http://127.0.0.1:9/v1" } }));
  return { handler: createHandler(mesh), [Symbol.asyncDispose]: () => mesh.close() };
}

Deno.test("a handler without a server of ours answers 426 to a request for a WebSocket", async () => {
  await using scene = await createScene();
  const response = await scene.handler(new Request(url, { headers }));
  assertEquals([response.status, response.headers.get("upgrade")], [426, "HTTP/1.1"]);
  assertEquals((await response.json()).error, {
    message: "This server has no WebSockets: send the request with POST",
    type: "invalid_request_error",
    param: null,
    code: "upgrade_unavailable",
  });
});

Deno.test("a missing package is named", async () => {
  await using scene = await createScene();
  const upgrade = async () => {
    await loadWs(() => Promise.reject(new Error("Cannot find package 'ws' in /home/someone/node_modules")));
    return { status: 101, headers: {}, body: null };
  };
  const request = Object.assign(new Request(url, { headers }), { upgrade });
  const { status, body } = await scene.handler.plain(request);
  assertEquals(status, 426);
  assertStringIncludes(String(body), 'the package \\"ws\\", which is not installed');
  assertMatch(String(body), /^(?!.*someone)/);
});
