import { assertEquals } from "@std/assert";
import type { CommittedStream } from "../../src/pipeline/committed_stream.ts";
import { chatEvents, EventBody } from "../../src/proxy/sse.ts";

Deno.test("a chunk that cannot be written ends the response with an error event, and the provider's call", async () => {
  const calls: string[] = [];
  const stream = {
    isStopped: false,
    read: () => Promise.resolve({ value: { choices: [] } }),
    cancel: () => calls.push("cancel"),
  } as unknown as CommittedStream;
  const writer = chatEvents("r1");
  writer.chunk = () => {
    throw new TypeError("a defect of a translator");
  };
  const body = new EventBody(stream, { writer, onEnd: () => calls.push("end") });
  const event = JSON.parse((await body.read())!.slice("data: ".length));
  assertEquals([event.error.code, event.error.message.includes("defect")], ["internal_error", false]);
  assertEquals([await body.read(), calls], [undefined, ["cancel", "end"]]);
});
