/**
 * Files, batches and fine-tuning jobs, whose code is imported with the first call.
 * @module
 */
import type { Infrastructure } from "../../src/contracts/infrastructure.ts";
import type { InfrastructureParts } from "./_openai_infrastructure.ts";

/**
 * The same as `openAiInfrastructure`.
 *
 * @param parts What it is made of.
 */
export function lazyInfrastructure(parts: InfrastructureParts): Infrastructure {
  let made: Promise<Infrastructure> | undefined;
  const load = () => made ??= (async () => (await import("./_openai_infrastructure.ts")).openAiInfrastructure(parts))();
  return {
    facts: parts.facts,
    uploadFile: async (...given) => await (await load()).uploadFile(...given),
    retrieveFile: async (...given) => await (await load()).retrieveFile(...given),
    fileContent: async (...given) => await (await load()).fileContent(...given),
    deleteFile: async (...given) => await (await load()).deleteFile(...given),
    submitBatch: async (...given) => await (await load()).submitBatch(...given),
    retrieveBatch: async (...given) => await (await load()).retrieveBatch(...given),
    cancelBatch: async (...given) => await (await load()).cancelBatch(...given),
    createFineTune: async (...given) => await (await load()).createFineTune(...given),
    retrieveFineTune: async (...given) => await (await load()).retrieveFineTune(...given),
    changeFineTune: async (...given) => await (await load()).changeFineTune(...given),
    listOfFineTune: async (...given) => await (await load()).listOfFineTune(...given),
  };
}
