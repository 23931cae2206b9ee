/**
 * Conversions that all kinds of models share.
 * @module
 */
import type { JsonObject } from "../../contracts/openai.ts";
import { getEngine } from "../../engine/get_engine.ts";
import { isObject } from "../../util/is_object.ts";
import type { MeshClient } from "../client.ts";
import type { CallSettings } from "../options.ts";
import type { CallOptions, ModelFacts } from "./spec.ts";

/** The client of a model, and the name it sends requests to. */
export interface ModelContext {
  readonly client: MeshClient;
  readonly name: string;
}

/** Returns the members that identify a model. */
export function toModelFacts({ name }: ModelContext): ModelFacts {
  return { specificationVersion: "v4", provider: "mesh", modelId: name };
}

/** Converts call options to the settings of a client's call. */
export function toCallSettings({ abortSignal, headers = {} }: CallOptions): CallSettings {
  const set = Object.entries(headers).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return {
    ...(abortSignal === undefined ? {} : { signal: abortSignal }),
    ...(set.length === 0 ? {} : { headers: Object.fromEntries(set) }),
  };
}

/** Returns the request members in `providerOptions.mesh`. */
export function ownOptions({ providerOptions }: Pick<CallOptions, "providerOptions">): JsonObject {
  const own = providerOptions?.mesh;
  return isObject(own) ? own : {};
}

/** Returns time and model for a response that carries neither. */
export function createResponseFacts({ client, name }: ModelContext): { timestamp: Date; modelId: string } {
  return { timestamp: new Date(getEngine(client.mesh).runtime.clock.now()), modelId: name };
}
