/** Compressed request bodies are read within the limits of what they contain. */
import { assertEquals, assertMatch } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import zlib from "node:zlib";
import { ask, fileForm, objectStage } from "../../support/_objects.ts";
import { startTestProxy } from "../../support/proxy.ts";
import { ok, startUpstream } from "../../support/upstream.ts";

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

const { brotliCompressSync, zstdCompressSync } = zlib as Partial<typeof zlib>;
const compressors = { br: brotliCompressSync, zstd: zstdCompressSync };

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

  for (const [coding, compressor] of Object.entries(compressors)) {
    it(`of ${coding} is read where the runtime has it, and else a 415`, async () => {
      await using site = await open();
      const text = JSON.stringify({ model: "chat", messages });
      const body = compressor === undefined ? text : new Uint8Array(compressor(text));
      const { status, body: answered } = await post(`${site.url}/v1/chat/completions`, body, coding);
      assertEquals(status, compressor === undefined ? 415 : 200, JSON.stringify(answered));
      if (compressor === undefined) return assertMatch(answered.error.message, /one of: gzip, deflate, br$/);
      assertEquals(site.upstream.requests[0]!.json().messages, messages);
    });
  }

  for (const [coding, compressor] of Object.entries(compressors)) {
    if (compressor === undefined) continue;
    it(`of ${coding} that is a bomb, damaged or cut short is an error, and the proxy goes on`, async () => {
      await using site = await open({ body_limit: "1MiB" });
      const url = `${site.url}/v1/chat/completions`;
      const text = JSON.stringify({ model: "chat", messages });
      const whole = new Uint8Array(compressor(text));
      const bomb = new Uint8Array(compressor(`{"model":"chat","x":"${" ".repeat(8 * 1024 * 1024)}"}`));
      const { status, body } = await post(url, bomb, coding);
      assertEquals([status, body.error.code, site.upstream.calls], [413, "request_too_large", 0]);
      const damaged = await post(url, new TextEncoder().encode(text), coding);
      assertEquals([damaged.status, damaged.body.error.message], [400, `The body is not valid ${coding}`]);
      assertEquals((await post(url, whole.subarray(0, whole.length - 4), coding)).status, 400);
      assertEquals((await post(url, whole, coding)).status, 200);
    });
  }

  it("of a file is stored as what it contains, within the limit of uploads", async () => {
    await using stage = await objectStage(["a"], { proxy: { upload_limit: "1MiB" } });
    const upload = async (text: string, edit = (bytes: Uint8Array<ArrayBuffer>) => bytes) => {
      const form = new Response(fileForm(text, { purpose: "user_data" }));
      const body = edit(await compress(await form.text(), "gzip"));
      const headers = { "content-type": form.headers.get("content-type")!, "content-encoding": "gzip" };
      return await ask(stage.proxy, "files", { body, headers });
    };
    const made = await upload("some notes");
    assertEquals([made.status, [...stage.vendors.a!.files.values()].map(({ text }) => text)], [200, ["some notes"]]);
    assertEquals((await upload(" ".repeat(2 * 1024 * 1024))).json.error.code, "request_too_large");
    const damaged = await upload("some notes", (bytes) => bytes.subarray(0, -9));
    assertEquals([damaged.status, damaged.json.error.message], [400, "The body is not valid gzip"]);
    assertEquals(stage.vendors.a!.files.size, 1);
  });

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
