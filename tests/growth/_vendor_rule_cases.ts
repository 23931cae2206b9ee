/**
 * What adapts requests to the rules of vendors: names and ids of tool calls, order, arguments, schemas.
 * @module
 */
import { markChat, markConverse, markMessages } from "../../connectors/providers/_cache_marks.ts";
import { nativeText } from "../../connectors/providers/_anthropic_native.ts";
import { UpstreamError } from "../../src/errors.ts";
import { sendAccepted } from "../../connectors/providers/_openai_responses.ts";
import type { ChatMessage, JsonObject } from "../../src/contracts/openai.ts";
import { ClientNames, replaceNames } from "../../src/pipeline/client_names.ts";
import { withCalls } from "../../src/pipeline/operations/_chat_tools.ts";
import { completeSchema } from "../../src/util/complete_schema.ts";
import { mergeParameters } from "../../src/util/merge_parameters.ts";
import { renameIdentifiers } from "../../src/util/rename_identifiers.ts";
import { type GrowthCase, prepared, times } from "./_case.ts";
import { chatRequests, completion } from "./_chat_shapes.ts";

const nine = { characters: "alphanumeric", min_length: 9, max_length: 9 } as const;
const word = { characters: "word", max_length: 64 } as const;
const property = (at: number): JsonObject => ({ [`p${at}`]: { type: "string", description: "x".repeat(20) } });

/** Identifiers that a rule rejects, by what there is much of. */
const identifiers: Readonly<Record<string, (size: number) => readonly string[]>> = {
  "ids": (size) => times(size, (at) => `functions.f:${at}`),
  "ids that collapse": (size) => times(size, (at) => `a${String.fromCodePoint(0x4e00 + at)}`),
  "ids that are equal": (size) => times(size, () => "a:b"),
  "a long id": (size) => [":".repeat(20 * size)],
};

/** A conversation whose calls have one id. */
const equalIds = (size: number) =>
  times(size, () => [
    { role: "assistant", tool_calls: times(2, () => ({ id: "call_0", function: { name: "f", arguments: "{" } })) },
    ...times(2, () => ({ role: "tool", tool_call_id: "call_0", content: "" })),
  ]).flat() as unknown as ChatMessage[];

/** Parameters of a tool, by what there is much of. */
const schemas: Readonly<Record<string, (size: number) => JsonObject>> = {
  "alternatives": (size) => ({ anyOf: times(size, (at) => ({ properties: property(at), required: [`p${at}`] })) }),
  "alternatives of one property": (size) => ({ oneOf: times(size, (at) => ({ properties: { a: { const: at } } })) }),
  "parts that all apply": (size) => ({
    allOf: times(size, (at) => ({ properties: property(at), required: ["gone"] })),
  }),
  "references to one schema": (size) => ({
    anyOf: times(size, (at) => ({ allOf: [{ $ref: "#/$defs/A" }, { properties: property(at) }] })),
    $defs: { A: { properties: { a: { description: "x".repeat(1000) } } } },
  }),
  "references to each other": (size) => ({
    anyOf: times(size, () => ({ $ref: "#" })),
    $defs: { A: { anyOf: times(size, () => ({ $ref: "#/$defs/A" })) } },
  }),
  "required names": (size) => ({
    type: "object",
    properties: Object.assign({}, ...times(size, property)),
    required: times(2 * size, (at) => `p${at}`),
    anyOf: times(size, (at) => ({ required: [`p${at}`] })),
  }),
  "arrays in arrays": (size) => times(size, () => 0).reduce((items: JsonObject) => ({ type: "array", items }), {}),
};

/** Native requests of the Messages API, by what there is much of. */
const messages: Readonly<Record<string, (size: number) => JsonObject[]>> = {
  "calls": (size) => times(size, (at) => ({ type: "tool_use", id: `f.${at}`, name: "f", input: { id: ":" } })),
  "blank texts": (size) => times(size, () => ({ type: "text", text: " \n " })),
  "blanks": (size) => [{ type: "text", text: `${" \n".repeat(10 * size)}a` }],
  "a long id": (size) => [{ type: "tool_use", id: "a".repeat(20 * size), name: "f", input: {} }],
};

const text = { type: "text", text: "All of this is known" };

/** Requests of the Messages API of any size. */
const markedPrompts: Readonly<Record<string, (size: number) => JsonObject>> = {
  "turns": (size) => ({ messages: times(size, () => ({ role: "user", content: [text, text] })) }),
  "blocks of one turn": (size) => ({ messages: [{ role: "user", content: times(size, () => text) }] }),
  "tools and instructions": (size) => ({
    tools: times(size, (at) => ({ name: `tool-${at}`, input_schema: {} })),
    system: times(size, () => text),
    messages: [{ role: "user", content: "Hi" }],
  }),
  "marks of the client": (size) => ({
    system: "x".repeat(size),
    messages: [{
      role: "user",
      content: [{
        type: "tool_result",
        content: times(size, () => ({ ...text, cache_control: { type: "ephemeral" } })),
      }],
    }],
  }),
};

/** Rows of what adapts requests to the rules of vendors. */
export const vendorRuleCases: readonly GrowthCase[] = [
  ...Object.entries(identifiers).flatMap(([what, input]) =>
    [nine, word].map((rule) =>
      prepared({
        covers: ["src/util/rename_identifiers.ts#renameIdentifiers"],
        what,
        size: 1_000,
        input,
        work: (ids) => renameIdentifiers(ids, rule),
      })
    )
  ),
  ...Object.entries(chatRequests).map(([what, input]) =>
    prepared({
      covers: ["src/pipeline/client_names.ts#replaceNames", "src/pipeline/operations/_chat_tools.ts#withCalls"],
      what,
      size: 500,
      input,
      work: (body) => [
        replaceNames(body, { tool_names: { ...word, starts_with_letter: true }, tool_call_ids: nine }),
        withCalls(body.messages, { user_after_tool: false, invalid_arguments: false, repeated_call_ids: false }),
      ],
    })
  ),
  prepared({
    covers: ["src/pipeline/operations/_chat_tools.ts#withCalls"],
    what: "calls with one id",
    size: 500,
    input: equalIds,
    work: (messages) => withCalls(messages, { repeated_call_ids: false }),
  }),
  prepared({
    covers: ["src/pipeline/client_names.ts#ClientNames"],
    what: "calls",
    size: 1_000,
    input: (size) => {
      const names = new Map(times(size, (at) => [`f.${at}`, `f${at}`]));
      return { body: completion(size), names: new ClientNames(names, names) };
    },
    work: ({ body, names }) => names.restore(body, "message"),
  }),
  ...Object.entries(schemas).map(([what, input]) =>
    prepared({
      covers: ["src/util/merge_parameters.ts#mergeParameters", "src/util/complete_schema.ts#completeSchema"],
      what,
      size: 500,
      input,
      work: (schema) => completeSchema(mergeParameters(schema)),
    })
  ),
  prepared({
    covers: ["connectors/providers/_openai_responses.ts#sendAccepted"],
    what: "calls",
    size: 1_000,
    input: (size) => JSON.stringify({ input: times(size, (at) => ({ call_id: `${"x".repeat(70)}${at}` })) }),
    work: (text) =>
      sendAccepted(text, () => Promise.reject(new UpstreamError("No", { kind: "invalid_response" }))).catch(() => {}),
  }),
  ...Object.entries(messages).map(([what, input]) =>
    prepared({
      covers: ["connectors/providers/_anthropic_native.ts#nativeText"],
      what,
      size: 1_000,
      input: (size) => JSON.stringify({ messages: [{ role: "assistant", content: input(size) }] }),
      work: nativeText,
    })
  ),
  ...Object.entries(markedPrompts).map(([what, input]) =>
    prepared({
      covers: ["Messages", "Converse", "Chat"].map((form) => `connectors/providers/_cache_marks.ts#mark${form}`),
      what,
      size: 500,
      input,
      work: (request) => [
        markMessages(JSON.stringify(request), { model: "claude-sonnet-4-5", ttl: "5m" }),
        markConverse(request, { model: "anthropic.claude-sonnet-4-5", ttl: "1h" }),
        markChat(JSON.stringify(request), { model: "anthropic/claude-sonnet-4.5", ttl: "5m" }),
      ],
    })
  ),
];
