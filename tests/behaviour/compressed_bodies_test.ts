/** Compressed request bodies are read within the limits of what they contain. */
import { assertEquals, assertMatch } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { startTestProxy } from "../support/proxy.ts";
import { ok, startUpstream } from "../support/upstream.ts";

const messages = [{ role: "user", content: "Grüezi" }];

async function compress(text: string, format: CompressionFormat): Promise<Uint8Array<ArrayBuffer>> {
  const stream = new Blob([text]).stream().pipeThrough(new CompressionStream(format));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

async function post(url: string, body: BodyInit, encoding: string) {
  const headers = { "content-type": "application/json", "content-encoding": encoding };
  const response = await fetch(url, { method: "POST", headers, body });
  return { status: response.status, headers: response.headers, body: await response.json() };
}

async function open(proxy: Record<string, unknown> = {}) {
  const upstream = await startUpstream(ok());
  const started = await startTestProxy({ upstreams: { a: upstream.url }, config: { proxy } });
  return {
    url: started.url,
    upstream,
    async [Symbol.asyncDispose]() {
      await started[Symbol.asyncDispose]();
      await upstream.close();
    },
  };
}

describe("A compressed body", () => {
  for (const format of ["gzip", "deflate"] as const) {
    it(`of ${format} is read as what it contains, in every dialect`, async () => {
      await using site = await open();
      const bodies: Record<string, unknown> = {
        "/v1/chat/completions": { model: "chat", messages },
        "/v1/messages": { model: "chat", max_tokens: 5, messages },
        "/v1/responses": { model: "chat", input: "Grüezi" },
        "/v1beta/models/chat:generateContent": { contents: [{ role: "user", parts: [{ text: "Grüezi" }] }] },
      };
      for (const [path, body] of Object.entries(bodies)) {
        const { status } = await post(site.url + path, await compress(JSON.stringify(body), format), format);
        assertEquals(status, 200, path);
      }
      const sent = site.upstream.requests.map((request) => request.json().messages[0].content);
      assertEquals(new Set(sent.map((content) => JSON.stringify(content).includes("Grüezi"))), new Set([true]));
      assertEquals(site.upstream.requests.map(({ headers }) => headers["content-encoding"]), Array(4).fill(undefined));
    });
  }

  it("counts by what it contains: a bomb is too large", async () => {
    await using site = await open({ body_limit: "1MiB" });
    const bomb = await compress(`{"model":"chat","messages":[],"x":"${" ".repeat(64 * 1024 * 1024)}"}`, "gzip");
    const { status, body } = await post(`${site.url}/v1/chat/completions`, bomb, "gzip");
    assertEquals([status, body.error.code, site.upstream.calls], [413, "request_too_large", 0]);
  });

  it("that is damaged or cut short is a 400", async () => {
    await using site = await open();
    const whole = await compress(JSON.stringify({ model: "chat", messages }), "gzip");
    for (const damaged of [new TextEncoder().encode("{}"), whole.subarray(0, whole.length - 4)]) {
      const { status, body } = await post(`${site.url}/v1/chat/completions`, damaged, "gzip");
      assertEquals([status, body.error.code, body.error.message], [400, "invalid_value", "The body is not valid gzip"]);
    }
  });

  it("of another coding is a 415 that names what is taken", async () => {
    await using site = await open();
    for (const coding of ["compress", "gzip, gzip", "constructor"]) {
      const { status, headers, body } = await post(`${site.url}/v1/chat/completions`, "{}", coding);
      assertEquals([status, body.error.code], [415, "unsupported_media_type"]);
      assertMatch(body.error.message, /has to use one of: gzip, deflate/);
      assertMatch(headers.get("accept-encoding")!, /^gzip, deflate/);
    }
  });
});
