import { assert, assertEquals } from "@std/assert";
import { Stop } from "../../src/runtime/_stop.ts";

Deno.test("Stop calls its listeners once, in their order, and keeps the first reason", () => {
  const stop = new Stop();
  const reported: string[] = [];
  const one = () => void reported.push("one");
  stop.addEventListener("abort", one);
  stop.addEventListener("abort", () => reported.push("two"));
  stop.addEventListener("abort", one);
  stop.abort("why");
  stop.abort("again");
  assertEquals({ reported, aborted: stop.aborted, reason: stop.reason }, {
    reported: ["one", "two"],
    aborted: true,
    reason: "why",
  });
});

Deno.test("Stop forgets a listener", () => {
  const stop = new Stop();
  const reported: string[] = [];
  const gone = () => void reported.push("gone");
  stop.addEventListener("abort", gone);
  stop.removeEventListener("abort", gone);
  stop.abort("why");
  assertEquals(reported, []);
});

Deno.test("Stop becomes an AbortSignal, before it comes and after", () => {
  const before = new Stop();
  const { native } = before;
  assert(native instanceof AbortSignal);
  assert(!native.aborted);
  before.abort("why");
  assertEquals([native.aborted, native.reason], [true, "why"]);
  const after = new Stop();
  after.abort("why");
  assertEquals([after.native.aborted, after.native.reason], [true, "why"]);
  assert(after.native === after.native);
});
