/** WebSockets where there are none: the request falls back to POST at once. */
import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { ModelMesh } from "../../mod.ts";
import { createHandler } from "../../proxy.ts";
import type { PlainResponse, SocketEvents, UpgradeOptions } from "../../src/contracts/shell.ts";
import type { Exchange } from "../../src/proxy/exchange.ts";
import { upgradeToResponses } from "../../src/proxy/responses_socket.ts";
import { loadWs } from "../../src/runtime/_node_upgrade.ts";
import { fakeClock, settle, testRuntime } from "../../src/runtime/test.ts";
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

Deno.test("a request that follows the last event at once is the one in progress, also for the time of idle connections", async () => {
  const runtime = testRuntime();
  const ends: (() => void)[] = [];
  /** A response that has sent its last event, and ends later. */
  const respond = (): Promise<PlainResponse> => {
    const ended = new Promise<undefined>((resolve) => ends.push(() => resolve(undefined)));
    const texts = ['data: {"type":"response.completed","response":{"id":"r","output":[]}}\n\n'];
    const read = () => texts.length > 0 ? Promise.resolve(texts.shift()) : ended;
    return Promise.resolve({ status: 200, headers: {}, body: { read, cancel: () => {} } });
  };
  const sent: string[] = [];
  const closed: number[] = [];
  const socket = {
    send: (text: string) => Promise.resolve(void sent.push(text)),
    close: (code: number) => void closed.push(code),
  };
  const opened: SocketEvents[] = [];
  const upgrade = ({ open }: UpgradeOptions) => {
    opened.push(open(socket));
    return Promise.resolve({ status: 101, headers: {}, body: null });
  };
  const request = { url, headers: new Headers(), upgrade };
  const exchange = { mesh: { runtime }, request, headers: {}, proxy: { bodyLimit: 1_000_000 } } as unknown as Exchange;
  await upgradeToResponses(exchange, { serve: respond, reserve: () => () => {} });
  const [events] = opened;
  const ask = () => events!.onMessage('{"type":"response.create","model":"m","input":"Hi"}');
  ask();
  await settle();
  ask(); // the first response has sent its last event, but has not ended
  ends[0]!();
  await settle();
  assertEquals([sent.length, ends.length], [2, 2]);
  ask();
  ask(); // while the third is in progress
  ends[1]!();
  await settle();
  assertEquals(sent.filter((text) => text.includes("response_in_progress")).length, 1);
  await runtime.clock.advance(61_000);
  assertEquals(closed, []);
  ends[2]!();
  await settle();
  await runtime.clock.advance(60_000);
  assertEquals(closed, [1000]);
});
