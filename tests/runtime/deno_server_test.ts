/** What `Deno.serve` is asked for: each of these takes longer than much of what the proxy does for a request. */
import { assertEquals } from "@std/assert";
import type { PlainRequest, PlainResponse, RequestHandler } from "../../src/contracts/shell.ts";
import { createResponder } from "../../src/runtime/_deno_server.ts";
import { OpenResponses } from "../../src/runtime/_open_responses.ts";
import { until } from "../support/patience.ts";

const info = {
  remoteAddr: { transport: "tcp", hostname: "127.0.0.1", port: 1 },
  completed: Promise.resolve(),
} as const satisfies Deno.ServeHandlerInfo<Deno.NetAddr>;

/** A request whose signal counts how often it is asked for. */
function watched(): { readonly request: Request; readonly client: AbortController; readonly asked: () => number } {
  const request = new Request("http://127.0.0.1/", { method: "POST", body: "{}" });
  const client = new AbortController();
  let asked = 0;
  const get = () => {
    asked++;
    return client.signal;
  };
  Object.defineProperty(request, "signal", { get });
  return { request, client, asked: () => asked };
}

/** Responds to one request, with a server of its own. */
async function respond(request: Request, plain: (request: PlainRequest) => Promise<PlainResponse>): Promise<Response> {
  const handler: RequestHandler = Object.assign(() => Promise.reject(new Error("never called")), { plain });
  const open = new OpenResponses(handler);
  try {
    return await createResponder(handler, open)(request, info);
  } finally {
    open.close();
  }
}

const headers = { "content-type": "application/json" };

Deno.test("a request that is answered soon never asks whether its client has left", async () => {
  const chunks = ["one", "two"];
  const bodies = [
    () => "whole",
    () => ({ read: () => Promise.resolve(chunks.shift()), cancel() {} }),
  ];
  for (const body of bodies) {
    const { request, asked } = watched();
    const response = await respond(request, async (received) => {
      await received.bytes();
      return { status: 200, headers, body: body() };
    });
    assertEquals([response.status, await response.text() !== "", asked()], [200, true, 0]);
  }
});

Deno.test("a request that is pending for a second is given up when its client has left", async () => {
  const { request, client, asked } = watched();
  const response = respond(request, ({ signal }) =>
    new Promise((resolve) => {
      signal.addEventListener("abort", () => resolve({ status: 499, headers, body: null }));
    }));
  assertEquals(asked(), 0);
  await until(() => asked() === 1, "the client is looked at");
  client.abort();
  assertEquals((await response).status, 499);
});

Deno.test("headers of a request are read from the runtime once", async () => {
  const { request } = watched();
  let read = 0;
  const own = new Headers({ host: "127.0.0.1", "x-request-id": "a" });
  Object.defineProperty(request, "headers", {
    get() {
      read++;
      return own;
    },
  });
  const response = await respond(request, ({ headers: received }) => {
    const values = ["host", "x-request-id", "origin"].map((name) => received.get(name));
    const body = JSON.stringify([...values, received.has("origin"), received.has("host")]);
    return Promise.resolve({ status: 200, headers, body });
  });
  assertEquals(await response.json(), ["127.0.0.1", "a", null, false, true]);
  assertEquals([response.headers.get("content-type"), read], ["application/json", 1]);
});
