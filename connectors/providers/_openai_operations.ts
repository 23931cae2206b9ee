/**
 * The operations other than chat of vendors that shape them as OpenAI does, for declarations: their code is imported with
 * the first request.
 * @module
 */
import type { VendorOperation } from "./_openai_vendor.ts";

/** Embeddings, by `POST /embeddings`. */
export const openAiEmbeddings: VendorOperation = /* @__PURE__ */ lazily(async () =>
  (await import("./_openai_embeddings.ts")).embeddingsBy
);

function lazily(load: () => Promise<VendorOperation>): VendorOperation {
  return (post) => async (request, options) => (await load())(post)(request, options);
}
