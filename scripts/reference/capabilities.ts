/**
 * The endpoint, the library method, and the vendors with a built-in model of each operation.
 * @module
 */
import { serverConnectors } from "../../connectors/server.ts";
import { operationLeaves } from "../../src/capability/operations.ts";
import { capabilityTree } from "../../src/capability/tree.ts";
import type { ProviderDeclaration } from "../../src/contracts/connector.ts";
import type { OperationName } from "../../src/contracts/provider.ts";

/** A row of the table. */
type Line = readonly [what: string, paths: string, method: string];

const operations: Readonly<Record<Exclude<OperationName, "audio-translation">, Line>> = {
  chat: [
    "chat: text, code, JSON, tools, vision",
    "`/v1/chat/completions`, `/v1/responses`, `/v1/messages`, `/v1beta/models/…`",
    "`chat.completions.create`",
  ],
  embeddings: ["embeddings", "`/v1/embeddings`", "`embeddings.create`"],
  image: ["image generation", "`/v1/images/generations`", "`images.generate`"],
  "image-edit": ["image editing", "`/v1/images/edits`", "`images.edit`"],
  speech: ["text to speech", "`/v1/audio/speech`", "`audio.speech.create`"],
  transcription: [
    "speech to text, translation to English",
    "`/v1/audio/transcriptions`, `/v1/audio/translations`",
    "`audio.transcriptions.create`, `audio.translations.create`",
  ],
  moderation: ["moderation", "`/v1/moderations`", "`moderations.create`"],
  rerank: ["reranking", "`/v1/rerank`", "`rerank.create`"],
  search: ["web search", "`/v1/search`", "`search.create`"],
  documents: ["document parsing (to Markdown)", "`/v1/documents/parse`", "`documents.parse`"],
};

/** The table, as Markdown. */
export function capabilityTable(): string {
  const rows = (Object.keys(operations) as (keyof typeof operations)[]).map((operation) => {
    const [what, paths, method] = operations[operation];
    return `| ${what} | ${paths} | ${method} | ${listVendors(operation).join(", ")} |`;
  });
  const local =
    "Local servers (Ollama, LM Studio, vLLM, LocalAI) and other OpenAI-compatible servers serve the capabilities of their " +
    "models; set them in `models.<name>.capabilities`.";
  return [
    "| Capability | HTTP endpoint | Library method | Vendors with built-in models |",
    "|---|---|---|---|",
    ...rows,
    "",
    local,
  ].join("\n");
}

function listVendors(operation: OperationName): string[] {
  const tree = capabilityTree();
  const leaves = new Set(operationLeaves(tree, operation));
  return serverConnectors.flatMap((connector) => {
    if (connector.kind !== "provider") return [];
    const { vendor, models } = connector as unknown as ProviderDeclaration;
    const serves = models.some(({ capabilities = [], lacks = [] }) =>
      !lacks.includes(operation) && capabilities.some((name) => leaves.has(tree.resolve(name) ?? ""))
    );
    return serves ? [vendor] : [];
  });
}
