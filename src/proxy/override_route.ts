/**
 * `POST /mesh/activate` and `/mesh/deactivate`: manual activation and deactivation of models and providers.
 * @module
 */
import { activate, deactivate, type OverrideTarget } from "../background/manual.ts";
import { UnsupportedRequestError } from "../errors.ts";
import { isObject } from "../util/is_object.ts";
import { readJsonBody } from "./body.ts";
import type { Exchange, RouteEntry } from "./exchange.ts";
import { json } from "./json.ts";

/** Maximum time for the body, which is small, ms. */
const bodyLimitMs = 10_000;

/**
 * Creates the handler of one of the two paths.
 *
 * @param action The effect on the model or provider in the body.
 */
export function override(action: "activate" | "deactivate"): RouteEntry["handle"] {
  return async (exchange) => {
    const { mesh, headers } = exchange;
    const { clock } = mesh.runtime;
    const time = { startedAt: clock.monotonic(), limitMs: bodyLimitMs };
    const target = targetIn((await readJsonBody(exchange, time)).value);
    (action === "activate" ? activate : deactivate)(target, mesh);
    return json({ ...target, status: findOverrideStatus(target, exchange) }, { headers });
  };
}

/** The resulting status: a model remains in standby while one of its limits is exhausted. */
function findOverrideStatus(target: OverrideTarget, { mesh }: Exchange): "active" | "standby" {
  const isActive = "provider" in target
    ? mesh.activeProviders().includes(target.provider)
    : mesh.listModels().some(({ name, status }) => name === target.model && status === "active");
  return isActive ? "active" : "standby";
}

function targetIn(value: unknown): OverrideTarget {
  const wrong = (message: string, param?: string) =>
    new UnsupportedRequestError(message, { code: "invalid_value", ...(param === undefined ? {} : { param }) });
  if (!isObject(value)) throw wrong('The body has to be an object with "model" or "provider"');
  const unknown = Object.keys(value).find((key) => key !== "model" && key !== "provider");
  if (unknown !== undefined) {
    throw wrong(`${JSON.stringify(unknown.slice(0, 64))} is unknown: give "model" or "provider"`, unknown.slice(0, 64));
  }
  const { model, provider } = value;
  if ((model === undefined) === (provider === undefined)) throw wrong('Give one of "model" and "provider"');
  const [param, name] = model === undefined ? ["provider", provider] : ["model", model];
  if (typeof name !== "string" || name === "") throw wrong(`"${param}" has to be a name`, String(param));
  return model === undefined ? { provider: name } : { model: name };
}
