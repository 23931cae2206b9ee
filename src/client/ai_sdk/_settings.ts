/**
 * What calls of all kinds have in common.
 * @module
 */
import type { JsonObject } from "../../contracts/openai.ts";
import { engineOf } from "../../engine/engine_of.ts";
import { isObject } from "../../util/is_object.ts";
import type { MeshClient } from "../client.ts";
import type { CallSettings } from "../options.ts";
import type { CallOptions, ModelFacts } from "./spec.ts";

/** What a model asks, and by which name. */
export interface ModelContext {
  readonly client: MeshClient;
  readonly name: string;
}

/** What a model says of itself. */
export function factsOf({ name }: ModelContext): ModelFacts {
  return { specificationVersion: "v4", provider: "mesh", modelId: name };
}

/** The settings of a call. */
export function settingsOf({ abortSignal, headers = {} }: CallOptions): CallSettings {
  const given = Object.entries(headers).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return {
    ...(abortSignal === undefined ? {} : { signal: abortSignal }),
    ...(given.length === 0 ? {} : { headers: Object.fromEntries(given) }),
  };
}

/** Members of the request that `providerOptions.mesh` adds. */
export function ownOptions({ providerOptions }: Pick<CallOptions, "providerOptions">): JsonObject {
  const own = providerOptions?.mesh;
  return isObject(own) ? own : {};
}

/** The members that are given. */
export function given<Members extends object>(members: Members): Partial<Members> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as Partial<Members>;
}

/** When and by whom: an answer that says neither. */
export function responseOf({ client, name }: ModelContext): { timestamp: Date; modelId: string } {
  return { timestamp: new Date(engineOf(client.mesh).runtime.clock.now()), modelId: name };
}
