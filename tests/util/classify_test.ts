import { assertEquals } from "@std/assert";
import type { FailureKind } from "../../src/contracts/provider.ts";
import { NetworkError } from "../../src/errors.ts";
import { classifyFault, classifyThrown } from "../../src/util/classify.ts";

Deno.test("classifyFault goes by status, then by code and words", () => {
  const cases: readonly (readonly [number, { code?: string; type?: string; message?: string }, FailureKind])[] = [
    [400, {}, "request"],
    [413, {}, "request"],
    [422, {}, "request"],
    [400, { code: "invalid_api_key" }, "auth"],
    [400, { code: "insufficient_quota" }, "quota_exhausted"],
    [400, { code: "model_not_found" }, "model_not_found"],
    [400, { code: "model_not_supported" }, "model_not_found"],
    [400, { type: "invalid_model" }, "model_not_found"],
    [401, {}, "auth"],
    [403, {}, "auth"],
    [402, {}, "quota_exhausted"],
    [429, {}, "rate_limited"],
    [429, { code: "insufficient_quota" }, "quota_exhausted"],
    [429, { type: "insufficient_quota" }, "quota_exhausted"],
    [404, {}, "misconfigured"],
    [404, { code: "model_not_found" }, "model_not_found"],
    [404, { message: "The model `gpt-9` does not exist" }, "model_not_found"],
    [404, { type: "not_found_error", message: "model: claude-9" }, "model_not_found"],
    [410, {}, "model_not_found"],
    [405, {}, "misconfigured"],
    [415, {}, "misconfigured"],
    [451, {}, "misconfigured"],
    [302, {}, "misconfigured"],
    [408, {}, "server"],
    [409, {}, "server"],
    [425, {}, "server"],
    [498, { code: "capacity_exceeded" }, "server"],
    [500, {}, "server"],
    [503, {}, "server"],
    [529, {}, "server"],
    [200, {}, "server"],
    [200, { code: "429" }, "rate_limited"],
    [200, { code: "rate_limit_exceeded" }, "rate_limited"],
    [200, { type: "overloaded_error" }, "server"],
    [200, { type: "authentication_error" }, "auth"],
    [200, { type: "invalid_request_error" }, "request"],
    [200, { code: "content_filter" }, "request"],
    [200, { code: "insufficient_quota" }, "quota_exhausted"],
  ];
  for (const [status, { code = null, type = "", message = "" }, kind] of cases) {
    assertEquals(
      classifyFault(status, { code, type, message, param: null }),
      kind,
      `${status} ${code} ${type} ${message}`,
    );
  }
});

Deno.test("classifyError takes an unknown error for the provider's fault", () => {
  assertEquals(classifyThrown(new NetworkError("Connection refused", { neverSent: true })), "network");
  assertEquals(classifyThrown(new TypeError("undefined is no function")), "server");
  assertEquals(classifyThrown("junk"), "server");
});
