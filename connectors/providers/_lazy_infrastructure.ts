/**
 * Files, batches and fine-tuning jobs; the implementation is imported with the first call.
 * @module
 */
import type { Infrastructure } from "../../src/contracts/infrastructure.ts";
import type { InfrastructureParts } from "./_openai_infrastructure.ts";

/** A lazy `openAiInfrastructure`. */
export function lazyInfrastructure(parts: InfrastructureParts): Infrastructure {
  let made: Promise<Infrastructure> | undefined;
  const load = () => made ??= (async () => (await import("./_openai_infrastructure.ts")).openAiInfrastructure(parts))();
  type Call = (...given: unknown[]) => Promise<unknown>;
  return new Proxy(parts as unknown as Infrastructure, {
    get: (_, name) =>
      name === "facts"
        ? parts.facts
        : async (...given: unknown[]) => await (await load() as unknown as Record<PropertyKey, Call>)[name]!(...given),
  });
}
