import { assertEquals } from "@std/assert";
import { startTestProxy } from "../support/proxy.ts";
import { startUpstream, status, ok, stream } from "../support/upstream.ts";
Deno.test("probe", async () => {
  await using a = await startUpstream([status(500), status(500), status(500)]);
  await using b = await startUpstream(ok({text:"from b"}));
  await using proxy = await startTestProxy({upstreams:{a:a.url,b:b.url}});
  const r = await proxy.chat();
  console.log(r.status, Object.fromEntries(r.headers), await r.text());
  console.log(a.calls,b.calls, proxy.clock.sleeps, JSON.stringify(proxy.records));
  b.follow(stream({pieces:["x","y"]}));
  const s = await proxy.chat({stream:true}); console.log(await s.text());
});
