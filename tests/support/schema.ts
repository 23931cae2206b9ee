/**
 * Validates responses against OpenAI's schemas (`tests/fixtures/openai_schema`).
 * @module
 */
import { AssertionError } from "@std/assert";
// deno-lint-ignore no-import-prefix -- an entry of `imports` would be downloaded before every task
import Ajv, { type ErrorObject, type ValidateFunction } from "npm:ajv@8.20.0/dist/2020.js";
import { readFileSync } from "node:fs";

/** Names of the schemas. */
export type SchemaName =
  | "CreateChatCompletionResponse"
  | "CreateChatCompletionStreamResponse"
  | "CreateEmbeddingResponse"
  | "CreateModerationResponse"
  | "CreateTranscriptionResponseJson"
  | "CreateTranscriptionResponseVerboseJson"
  | "ErrorResponse"
  | "ImagesResponse"
  | "ListModelsResponse"
  | "Model"
  | "Response"
  | "ResponseStreamEvent";

const validators = new Map<SchemaName, ValidateFunction>();

/** Validators of other schemas. */
const compiled = new WeakMap<object, ValidateFunction>();

/**
 * Fails unless a value matches a schema of OpenAI's API.
 *
 * @param name Name of the schema.
 * @param value The parsed response.
 * @throws {AssertionError} With every mismatch.
 */
export function assertMatchesSchema(name: SchemaName, value: unknown): void {
  const validate = validators.get(name) ?? compile(name);
  if (validate(value)) return;
  const problems = (validate.errors ?? []).map(describe).join("\n");
  throw new AssertionError(`Not a ${name}:\n${problems}\nin ${JSON.stringify(value, null, 2)}`);
}

/**
 * Lists what a value does not fulfil.
 *
 * @param schema A JSON Schema.
 */
export function listSchemaProblems(schema: Record<string, unknown>, value: unknown): string[] {
  const validate = compiled.get(schema) ?? compileOwn(schema);
  return validate(value) ? [] : (validate.errors ?? []).map(describe);
}

function compileOwn(schema: Record<string, unknown>): ValidateFunction {
  const { $schema: _, ...own } = schema;
  const validate = new Ajv.default({ strict: false, allErrors: true }).compile(own);
  compiled.set(schema, validate);
  return validate;
}

function compile(name: SchemaName): ValidateFunction {
  const ajv = new Ajv.default({ strict: false, allErrors: true, validateFormats: false });
  const validate = ajv.compile(withNulls(findSchema(name)) as Record<string, unknown>);
  validators.set(name, validate);
  return validate;
}

/** Returns a schema. That of a response is part of the one of its events. */
function findSchema(name: SchemaName): Record<string, unknown> {
  if (name === "Response") return { ...findSchema("ResponseStreamEvent"), anyOf: [{ $ref: "#/$defs/Response" }] };
  const file = new URL(`../fixtures/openai_schema/${name}.json`, import.meta.url);
  return JSON.parse(readFileSync(file, "utf8"));
}

/** Converts OpenAPI's `nullable: true`, including on references and enumerations, to JSON Schema. */
export function withNulls(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withNulls);
  if (typeof schema !== "object" || schema === null) return schema;
  const { nullable, ...rest } = schema as Record<string, unknown>;
  // a property may be named `nullable`; its value is then a schema
  const members = typeof nullable === "boolean" || nullable === undefined ? rest : { nullable, ...rest };
  const plain = Object.fromEntries(Object.entries(members).map(([key, value]) => [key, withNulls(value)]));
  return nullable === true ? { anyOf: [plain, { type: "null" }] } : plain;
}

function describe({ instancePath, message, params }: ErrorObject): string {
  return `  ${instancePath === "" ? "/" : instancePath} ${message} ${JSON.stringify(params)}`;
}
