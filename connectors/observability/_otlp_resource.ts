/**
 * The resource of exports: the process that the records are about.
 * @module
 */
import type { MeshParts } from "../../src/contracts/connector.ts";
import type { Runtime } from "../../src/contracts/runtime.ts";
import { newId } from "../../src/util/request_id.ts";
import { toAttributes } from "./_otlp.ts";

/** What identifies the process. */
interface ResourceParts {
  /** The configured name of the service. */
  readonly serviceName: string | undefined;
  readonly env: Runtime["env"];
  readonly mesh: MeshParts | undefined;
}

/**
 * Creates the resource. Attributes of `OTEL_RESOURCE_ATTRIBUTES` override those of the process; the configured name, then
 * `OTEL_SERVICE_NAME`, override its `service.name`.
 *
 * @param parts The configured name, the environment, and the mesh.
 */
export function createResource({ serviceName, env, mesh }: ResourceParts): object {
  const given = parseResourceAttributes(env("OTEL_RESOURCE_ATTRIBUTES") ?? "");
  if (given === undefined) mesh?.warn?.('OTEL_RESOURCE_ATTRIBUTES is ignored: it has to be "key=value,key=value"');
  return {
    attributes: toAttributes({
      "service.name": "modelmesh",
      "service.version": mesh?.version,
      "service.instance.id": mesh?.instanceId ?? newId(),
      ...given,
      ...withName(serviceName ?? env("OTEL_SERVICE_NAME")),
    }),
  };
}

function withName(name: string | undefined): { readonly "service.name"?: string } {
  return name === undefined || name === "" ? {} : { "service.name": name };
}

/**
 * Parses `key=value,key=value`; keys and values are percent-encoded, as in W3C Baggage. Undefined if any of it is
 * invalid: OpenTelemetry then ignores all of it.
 */
function parseResourceAttributes(text: string): Readonly<Record<string, string>> | undefined {
  const pairs = text.split(",").map((pair) => pair.trim()).filter((pair) => pair !== "");
  try {
    return Object.fromEntries(pairs.map((pair) => {
      const end = pair.indexOf("=");
      if (end < 1) throw new TypeError("not an attribute");
      return [pair.slice(0, end), pair.slice(end + 1)].map((part) => decodeURIComponent(part.trim()));
    }));
  } catch {
    return undefined;
  }
}
