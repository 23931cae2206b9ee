/** `traceparent`: taken from a request, handed to every provider asked for it, and in its record. */
import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { startTestProxy } from "../support/proxy.ts";
import { ok, startUpstream, status } from "../support/upstream.ts";

const trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

describe("The trace of a request", () => {
  it("goes to each provider that is asked, and into the record", async () => {
    await using a = await startUpstream(status(500));
    await using b = await startUpstream(ok());
    await using proxy = await startTestProxy({
      upstreams: { a: a.url, b: b.url },
      pool: { retry: { max_attempts: 1 } },
    });
    const headers = { "content-type": "application/json", traceparent: trace };
    await (await proxy.chat({}, { headers })).text();
    const handed = [...a.requests, ...b.requests].map(({ headers }) => headers.traceparent);
    assertEquals(handed, [trace, trace, trace]);
    const records = proxy.records.flatMap((record) => record.type === "routing" ? [record.traceparent] : []);
    assertEquals(records, [trace]);
  });

  it("is left out where there is none, or none that can be one", async () => {
    await using a = await startUpstream(ok());
    await using proxy = await startTestProxy({ upstreams: { a: a.url } });
    await (await proxy.chat()).text();
    const headers = { "content-type": "application/json", traceparent: `${trace}, ${trace}` };
    await (await proxy.chat({}, { headers })).text();
    assertEquals(a.requests.map(({ headers }) => headers.traceparent), [undefined, undefined]);
  });
});
