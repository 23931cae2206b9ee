/** A response that is not JSON, such as sound: what it passes on, and how it ends. */
import { assertEquals, assertRejects } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { NetworkError, StreamInterruptedError, UpstreamError } from "../../src/errors.ts";
import { Connection } from "../../src/pipeline/connection.ts";
import { ContentStream, openContent } from "../../src/pipeline/content_stream.ts";
import { settle, testRuntime } from "../../src/runtime/test.ts";
import { createMember, createModel } from "../support/_members.ts";

const bytesOf = (text: string) => new TextEncoder().encode(text);
const textOf = (bytes: Uint8Array | undefined) => bytes && new TextDecoder().decode(bytes);

/** What a provider sends after the head of its response: bytes, then its end, an error, or nothing any more. */
type Sent = readonly (string | Error | "silence")[];

function createConnection() {
  const runtime = testRuntime();
  const provider = { classifyError: () => "network", isRetryable: () => true };
  const entry = { id: "acme", silenceMs: 100, timeoutMs: 1000 };
  const model = createModel("m", {}, { instance: { vendor: "acme", entry, provider } } as never);
  return { runtime, model, connection: new Connection(runtime, model.instance, { delivery: "stream" }) };
}

async function* createSource(sent: Sent): AsyncGenerator<Uint8Array> {
  for (const item of sent) {
    if (item === "silence") await new Promise<never>(() => {});
    else if (item instanceof Error) throw item;
    else yield bytesOf(item);
  }
}

async function open(sent: Sent) {
  const { runtime, model, connection } = createConnection();
  const seen: string[] = [];
  const content = { type: "audio/mpeg", bytes: createSource(sent) };
  const received = await openContent({ body: {}, content }, connection.stop);
  const stream = new ContentStream({
    result: {
      received,
      connection,
      member: createMember(model),
      settle: (outcome: string) => void seen.push(outcome),
    } as never,
    usage: { usage: undefined, written: () => 0 },
    onInterrupt: () => seen.push("reported"),
    redact: (text) => text,
  });
  return { stream, connection, clock: runtime.clock, seen, empty: received.isEmpty };
}

describe("openContent()", () => {
  it("reads up to the first bytes, which are passed on before all others", async () => {
    const { stream, connection, empty } = await open(["", "one", "two"]);
    assertEquals([empty, textOf(await stream.read()), textOf(await stream.read())], [false, "one", "two"]);
    connection.close();
  });

  it("takes a response without bytes for an empty one", async () => {
    const { connection, empty } = await open(["", ""]);
    assertEquals(empty, true);
    connection.close();
  });

  it("throws what breaks before them: the next model can be asked", async () => {
    await assertRejects(() => open(["", new NetworkError("It broke", { neverSent: false })]), NetworkError);
    const { connection } = createConnection();
    await assertRejects(() => openContent({ body: {} }, connection.stop), UpstreamError, "sent no content");
    connection.close();
  });

  it("takes content that is whole already", async () => {
    const { connection } = createConnection();
    const content = { type: "audio/mpeg", bytes: bytesOf("all of it") };
    const { first } = await openContent({ body: {}, content }, connection.stop);
    assertEquals(textOf(first), "all of it");
    connection.close();
  });
});

describe("Content ends", () => {
  it("complete: the model's success, once", async () => {
    const { stream, connection, seen } = await open(["one"]);
    await stream.read();
    assertEquals([await stream.read(), await stream.read(), seen], [undefined, undefined, ["success"]]);
    connection.close();
  });

  it("interrupted by the provider: the model's failure, reported once", async () => {
    const { stream, connection, seen } = await open(["one", new NetworkError("It broke", { neverSent: false })]);
    await stream.read();
    await assertRejects(() => stream.read(), StreamInterruptedError, "The response was cut short: It broke");
    assertEquals([seen, connection.stop.aborted], [["failure", "reported"], true]);
  });

  it("interrupted by the provider's silence, although its source ignores the end", async () => {
    const { stream, clock, seen } = await open(["one", "silence"]);
    await stream.read();
    const late = assertRejects(() => stream.read(), StreamInterruptedError, "silent for 100 ms");
    await clock.advance(100);
    await late;
    assertEquals(seen, ["failure", "reported"]);
  });

  it("cancelled by its reader: no failure", async () => {
    const { stream, connection, seen } = await open(["one", "two"]);
    await stream.read();
    stream.cancel();
    await settle();
    assertEquals([seen, connection.stop.aborted], [["none"], true]);
  });

  it("stopped by the client's signal: no failure, and reads throw the reason", async () => {
    const { stream, connection, seen } = await open(["one", "silence"]);
    stream.onStop = (reason) => seen.push(`stopped: ${reason}`);
    await stream.read();
    const reading = stream.read().catch((error) => error);
    connection.abort("gone");
    assertEquals([await reading, await stream.read().catch((error) => error)], ["gone", "gone"]);
    assertEquals(seen, ["none", "stopped: gone"]);
  });
});
