/**
 * What a provider says of a failure is for operators: once in the log, in the record of each request, and as the state of
 * the provider until a call succeeds. Clients see the kind alone.
 */
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import type { RoutingRecord, TraceEntry } from "../../mod.ts";
import { startTestProxy, type TestProxy } from "../support/proxy.ts";
import { ask, fileForm, objectStage } from "../support/_objects.ts";
import { completeResponse, ok, refusingUrl, startUpstream, status } from "../support/upstream.ts";

const words = "Country, region, or territory not supported, says org-7 about key-of-a-0123456789";

/** Collects the warnings about providers. */
function collectWarnings(proxy: TestProxy): TraceEntry[] {
  const warnings: TraceEntry[] = [];
  proxy.mesh.addSink({
    name: "warnings",
    trace: (record: TraceEntry) => {
      if (record.component === "provider" && record.severity === "warning") warnings.push(record);
    },
  } as never);
  return warnings;
}

/** A proxy over two providers, and what it logs. */
async function open(...scripts: Parameters<typeof startUpstream>[0][]) {
  const [a, b] = await Promise.all(scripts.map((script) => startUpstream(script)));
  const proxy = await startTestProxy({
    upstreams: { a: a!.url, ...(b === undefined ? {} : { b: b.url }) },
    pool: { retry: { max_attempts: 0 } },
  });
  const notices = collectWarnings(proxy);
  return {
    proxy,
    notices,
    host: new URL(a!.url).host,
    async providers() {
      return (await (await fetch(`${proxy.url}/mesh/status`)).json()).providers;
    },
    async [Symbol.asyncDispose]() {
      await proxy[Symbol.asyncDispose]();
      for (const upstream of [a, b]) await upstream?.close();
    },
  };
}

const refusing = status(403, { error: { message: words, type: "request_forbidden" } });

describe("A provider's own words", () => {
  it("are in one warning per cause, with its host and the status, and without its key", async () => {
    await using scene = await open(refusing, ok());
    for (let count = 0; count < 3; count++) await (await scene.proxy.chat()).text();
    assertEquals(scene.notices.length, 1);
    const { severity, component, provider, host, message, status: code } = scene.notices[0]!;
    assertEquals([severity, component, provider, host, code], ["warning", "provider", "a", scene.host, 403]);
    assertStringIncludes(message, `The provider "a" (${scene.host}) answered 403 (auth): Country, region`);
    assert(!message.includes("0123456789"), message);
  });

  const shapes: Readonly<Record<string, string>> = {
    "a list of one error": JSON.stringify([{ error: { message: words } }]),
    "an error in an error": JSON.stringify({ error: { error: { message: words } } }),
    "a list of errors": JSON.stringify({ success: false, errors: [{ code: 7003, message: words }] }),
    "an object of details": JSON.stringify({ detail: { message: words } }),
    "text beside the name of the error": JSON.stringify({ error: "Forbidden", message: words }),
    "another member": JSON.stringify({ code: 7, msg: words }),
    "a list of texts": JSON.stringify({ message: [words] }),
    "text": words,
    "a page": `<html><head><title>403</title><style>p {}</style></head><body><p>${words}</p></body></html>`,
    "JSON that breaks off": `{"error":{"message":"${words}`,
  };
  for (const [shape, text] of Object.entries(shapes)) {
    it(`are found in ${shape}`, async () => {
      for (const code of [400, 403]) {
        await using scene = await open(status(code, { text }));
        const body = await (await scene.proxy.chat()).text();
        const said = code === 400 ? body : scene.notices.map(({ message }) => message).join();
        assertStringIncludes(said, "Country, region, or territory not supported, says org-7");
        assert(!said.includes("<p>") && !said.includes("0123456789"), said);
      }
    });
  }

  it("are never bytes that are not text", async () => {
    const bytes = new Uint8Array([0x1f, 0x8b, 8, 0, 0x99, 0xff]);
    await using scene = await open(completeResponse(400, bytes, "application/json"));
    assertEquals((await (await scene.proxy.chat()).json()).error.message, "HTTP status 400");
  });

  it("are found in a response with status 200 that is none", async () => {
    for (const body of [{ detail: words }, { object: "error", message: words, code: 500 }, { code: 7, msg: words }]) {
      await using scene = await open(completeResponse(200, JSON.stringify(body), "application/json"), ok());
      await (await scene.proxy.chat()).text();
      assertStringIncludes(scene.notices.map(({ message }) => message).join(), "Country, region");
    }
  });

  it("are in the record's step, cut to 300 characters", async () => {
    await using scene = await open(status(500, { error: { message: "x".repeat(1_000) } }), ok());
    await (await scene.proxy.chat()).text();
    const record = scene.proxy.records.find((one): one is RoutingRecord => one.type === "routing")!;
    assertEquals(record.fallback_chain.map(({ error }) => error?.length), [300, undefined]);
  });

  it("are not in the client's response, which names hosts and kinds", async () => {
    await using scene = await open(refusing, status(500, { error: { message: words } }));
    const { error } = await (await scene.proxy.chat()).json();
    assertMatch(error.message, /: a \(auth, 403, 127\.0\.0\.1:\d+\), b \(server, 500, 127\.0\.0\.1:\d+\)/);
    assert(error.message.includes(`a (auth, 403, ${scene.host})`), error.message);
    assert(!error.message.includes("Country"), error.message);
    const refused = await (await scene.proxy.chat({ model: "a" })).json();
    assertEquals(refused.error.message, `Every provider refused the key configured for it: a (403) at ${scene.host}`);
  });

  it("about a stream that breaks are in the warning, the record and the state, and not in the stream's error", async () => {
    const event = `data: ${JSON.stringify({ error: { message: words, type: "server_error" } })}\n\n`;
    const head = 'data: {"id":"c","choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":null}]}\n\n';
    await using scene = await open(completeResponse(200, head + event, "text/event-stream"));
    const text = await (await scene.proxy.chat({ stream: true })).text();
    assertMatch(text, /"content":"Hi"/);
    const reason = `The response was cut short: the provider responded with an error (server, 200, ${scene.host})`;
    assert(text.includes(reason) && !text.includes("Country"), text);
    assertEquals(scene.notices.map(({ host, kind }) => [host, kind]), [[scene.host, "server"]]);
    assertStringIncludes(scene.notices[0]!.message, "Country, region");
    const record = scene.proxy.records.find((one): one is RoutingRecord => one.type === "routing")!;
    const [{ outcome, error } = { outcome: "" }] = record.fallback_chain;
    assertEquals([outcome, error?.slice(0, 15), record.code], [
      "stream_interrupted",
      "Country, region",
      "stream_interrupted",
    ]);
    assertEquals((await scene.providers())[0].last_error.kind, "server");
  });

  it("about a call for files are in the warning and the state, and not in the client's response", async () => {
    await using stage = await objectStage();
    const { proxy, vendors: { a } } = stage;
    const warnings = collectWarnings(proxy);
    const upload = () => ask(proxy, "files", { body: fileForm("notes", { purpose: "user_data" }) });
    const lastError = async () => (await (await fetch(`${proxy.url}/mesh/status`)).json()).providers[0].last_error;
    for (const code of [401, 500]) {
      a!.instead = () => ({ status: code, body: { error: { message: words } } });
      const { status, json } = await upload();
      assertEquals([status, json.error.message.includes("Country")], [502, false], json.error.message);
      assertEquals((await lastError()).status, code);
    }
    assertEquals(
      warnings.map(({ status, host }) => [status, host]),
      [401, 500].map((code) => [code, new URL(a!.url).host]),
    );
    a!.instead = undefined;
    assertEquals([(await upload()).status, await lastError()], [200, undefined]);
  });

  it("of an address that nothing listens on name the address", async () => {
    const url = await refusingUrl();
    await using proxy = await startTestProxy({ upstreams: { a: url }, pool: { retry: { max_attempts: 0 } } });
    const notices = collectWarnings(proxy);
    await (await proxy.chat()).text();
    assertEquals(notices.map(({ host, kind }) => [host, kind]), [[new URL(url).host, "network"]]);
  });
});

describe("The failure of a provider's last call", () => {
  it("is its state until a call succeeds, while it is active too", async () => {
    await using scene = await open([refusing, ok()], ok());
    await (await scene.proxy.chat()).text();
    const [a, b] = await scene.providers();
    assertEquals([a.status, a.last_error.kind, a.last_error.status, b.last_error], ["active", "auth", 403, undefined]);
    assertMatch(a.last_error.at, /^2026-01-01T/);
    await (await scene.proxy.chat({ model: "a" })).text();
    assertEquals((await scene.providers())[0].last_error, undefined);
  });

  it("is not that of a request's fault", async () => {
    await using scene = await open(status(400));
    await (await scene.proxy.chat()).text();
    assertEquals([(await scene.providers())[0].last_error, scene.notices.length], [undefined, 0]);
  });
});
