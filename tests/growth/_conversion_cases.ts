/**
 * Conversions: of the `ai` package, of parts of messages, and of what is emitted.
 * @module
 */
import { toAttributes } from "../../connectors/observability/_otlp.ts";
import { toSpans } from "../../connectors/observability/_otlp_spans.ts";
import { listDroppedParams } from "../../connectors/providers/_bedrock_request.ts";
import { listEmbeddingInputs } from "../../connectors/providers/_embeddings.ts";
import { listTokenInputs } from "../../connectors/providers/_openai_text.ts";
import { toDataUrl } from "../../connectors/providers/_image_dialects.ts";
import { toContentParts } from "../../src/client/ai_sdk/_response.ts";
import { toChatMessages, toChatRequest } from "../../src/client/ai_sdk/_request.ts";
import { toCallSettings } from "../../src/client/ai_sdk/_settings.ts";
import { toStreamParts } from "../../src/client/ai_sdk/language_model.ts";
import { listMembers } from "../../src/config/schema/tree.ts";
import { parsePartHead } from "../../src/util/multipart.ts";
import { drained, type GrowthCase, prepared, times } from "./_case.ts";

const call = (index: number) => ({ id: `c${index}`, type: "function", function: { name: "f", arguments: "{}" } });
const members = (size: number) => Object.fromEntries(times(size, (index) => [`member_${index}`, index]));

/** Content of a prompt in each role of the `ai` package. */
const promptOf = (size: number) => [
  { role: "system", content: "a" },
  { role: "user", content: times(size, () => ({ type: "text", text: "a" })) },
  {
    role: "assistant",
    content: times(size, (index) => ({ type: "tool-call", toolCallId: `c${index}`, toolName: "f", input: {} })),
  },
  ...times(size, () => ({ role: "user", content: [{ type: "text", text: "a" }] })),
];

const aiSdk: readonly GrowthCase[] = [
  prepared({
    covers: ["src/client/ai_sdk/_request.ts#toChatMessages", "src/client/ai_sdk/_request.ts#toChatRequest"],
    what: "messages and their parts",
    size: 500,
    input: promptOf,
    work: (prompt) => [toChatMessages(prompt as never), toChatRequest({ prompt } as never, "m")],
  }),
  prepared({
    covers: ["src/client/ai_sdk/_response.ts#toContentParts"],
    what: "tool calls",
    size: 2_000,
    input: (size) => ({ choices: [{ message: { content: "a", tool_calls: times(size, call) } }] }),
    work: (completion) => toContentParts(completion as never),
  }),
  prepared({
    covers: ["src/client/ai_sdk/language_model.ts#toStreamParts"],
    what: "chunks with calls",
    size: 1_000,
    input: (size) =>
      times(
        size,
        (index) => ({ choices: [{ delta: { tool_calls: [{ index, ...call(index) }] }, finish_reason: null }] }),
      ),
    work: (chunks) => drained(toStreamParts(ReadableStream.from(chunks) as never, [])),
  }),
  prepared({
    covers: ["src/client/ai_sdk/_settings.ts#toCallSettings"],
    what: "headers",
    size: 2_000,
    input: (size) => Object.fromEntries(times(size, (index) => [`x-${index}`, "a"])),
    work: (headers) => toCallSettings({ headers } as never),
  }),
];

/** Rows of conversions. */
export const conversionCases: readonly GrowthCase[] = [
  ...aiSdk,
  prepared({
    covers: ["connectors/observability/_otlp.ts#toAttributes", "src/config/schema/tree.ts#listMembers"],
    what: "members",
    size: 2_000,
    input: members,
    work: (value) => [toAttributes(value), listMembers(value)],
  }),
  prepared({
    covers: ["connectors/observability/_otlp_spans.ts#toSpans"],
    what: "attempts",
    size: 1_000,
    input: (size) =>
      times(size, (index) => ({ model: `m${index}`, provider: "p", outcome: "ok", startedAt: index, ms: 1 })),
    work: (tries) => toSpans({ pool: "chat", model: "m0", status: 200 } as never, tries as never, 0),
  }),
  prepared({
    covers: ["connectors/providers/_bedrock_request.ts#listDroppedParams"],
    what: "parameters",
    size: 2_000,
    input: (size) => ({ model: "m", messages: [], ...members(size) }),
    work: (body) => listDroppedParams(body as never, { messages: [] }),
  }),
  prepared({
    covers: [
      "connectors/providers/_embeddings.ts#listEmbeddingInputs",
      "connectors/providers/_openai_text.ts#listTokenInputs",
    ],
    what: "inputs",
    size: 2_000,
    input: (size) => times(size, () => "a"),
    work: (input) => [listEmbeddingInputs({ body: { input } } as never), listTokenInputs({ body: { input } } as never)],
  }),
  prepared({
    covers: ["connectors/providers/_image_dialects.ts#toDataUrl"],
    what: "bytes",
    size: 20_000,
    input: (size) => new Uint8Array(size),
    work: (bytes) => toDataUrl({ type: "image/png", bytes }),
  }),
  ...[" ", ";", '"', "name=", "\r\n"].map((text) =>
    prepared({
      covers: ["src/util/multipart.ts#parsePartHead"],
      what: `a head of ${JSON.stringify(text)}`,
      size: 3_000,
      input: (size) => `content-disposition: form-data;${text.repeat(size / text.length)}\r\n\r\n`,
      work: parsePartHead,
    })
  ),
];
