import { assertEquals } from "@std/assert";
import type { RoutingRecord } from "../../src/contracts/events.ts";
import { toRequestLog } from "../../src/observe/request_log.ts";
import { assertLinear } from "../support/effort.ts";

/** The request of a line, which is logged up to so many bytes. */
function logged(request: string, maxPayloadSize: number): string | undefined {
  const payloads = { request: () => request, response: () => undefined };
  const settings = { level: "full", redactSecrets: false, maxPayloadSize } as const;
  const finished = { record: {} as RoutingRecord, outcome: "success", tries: [], payloads } as const;
  return toRequestLog(finished, settings, (text) => text).request;
}

Deno.test("a payload is cut between characters, and keeps those that stand for unreadable ones", () => {
  const cases: readonly (readonly [payload: string, maxBytes: number, logged: string])[] = [
    ["abc", 3, "abc"],
    ["abcd", 3, "abc…"],
    ["aäb", 2, "a…"],
    ["aäb", 3, "aä…"],
    ["😀b", 3, "…"],
    ["\ufffd\ufffdb", 6, "\ufffd\ufffd…"],
  ];
  for (const [payload, maxBytes, expected] of cases) assertEquals(logged(payload, maxBytes), expected, payload);
});

Deno.test("a payload of unreadable characters is cut in one pass", async () => {
  await assertLinear("cutting", 2_000, (size) => logged(`${"\ufffd".repeat(size)}${"x".repeat(9)}`, 3 * size + 1));
});
