/**
 * Adapts the JSON Schemas of a chat request to a model.
 * @module
 */
import type { ChatCompletionRequest, JsonObject } from "../../contracts/openai.ts";
import type { ParameterRules } from "../../contracts/provider.ts";
import { completeSchema } from "../../util/complete_schema.ts";
import { isObject } from "../../util/is_object.ts";
import { mapItems, mapMembers } from "../../util/map_members.ts";
import { mergeParameters } from "../../util/merge_parameters.ts";

/**
 * Merges combined parameters of tools, and completes schemas, as the model's rules require.
 *
 * @returns The members that differ.
 */
export function adaptSchemas(
  body: ChatCompletionRequest,
  { combined_parameters: mayBeCombined, incomplete_schemas: mayBeIncomplete }: Pick<
    ParameterRules,
    "combined_parameters" | "incomplete_schemas"
  >,
): JsonObject {
  const complete = (schema: unknown) => mayBeIncomplete === false ? completeSchema(schema) : schema;
  const merge = (schema: unknown) => {
    if (mayBeCombined !== false || !isObject(schema)) return schema;
    const merged = mergeParameters(schema);
    return mayBeIncomplete === false ? asObject(merged) : merged;
  };
  const inFunction = (fn: unknown) => mapMembers(fn, { parameters: (schema) => complete(merge(schema)) });
  const { tools, functions, response_format: format } = body;
  const adapted: JsonObject = {
    tools: mapItems(tools, (tool) => mapMembers(tool, { function: inFunction })),
    functions: mapItems(functions, inFunction),
    response_format: mapMembers(format, { json_schema: (named) => mapMembers(named, { schema: complete }) }),
  };
  return Object.fromEntries(Object.entries(adapted).filter(([name, value]) => value !== body[name]));
}

/** Parameters are an object with properties, none if a tool has no parameters; other types are the client's fault. */
function asObject(schema: JsonObject): JsonObject {
  const { type = "object", properties = {} } = schema;
  const isComplete = type === schema.type && properties === schema.properties;
  return isComplete || type !== "object" || "$ref" in schema ? schema : { ...schema, type, properties };
}
