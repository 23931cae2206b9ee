import { assertEquals } from "@std/assert";
import { deliveryModes, operationLeaves, servesOperation } from "../../src/capability/operations.ts";
import type { OperationName } from "../../src/contracts/provider.ts";
import { capabilityTree } from "../../src/capability/tree.ts";

const tree = capabilityTree();

function shortLeaves(operation: OperationName): string[] {
  return operationLeaves(tree, operation).map((leaf) => tree.shortName(leaf));
}

Deno.test("operationLeaves() is the contract's table", () => {
  assertEquals(shortLeaves("chat"), [
    ...["chat-completion", "text-completion", "code-generation"],
    ...["json-generation", "schema-constrained-output", "function-call-generation"],
    ...["summarization", "classification", "sentiment-analysis", "entity-extraction"],
    ...["image-captioning", "object-detection", "ocr"],
    ...["table-extraction", "form-extraction"],
    ...["translation", "rewriting", "style-transfer"],
    ...["retrieval-augmented-generation", "grounded-generation"],
    ...["tool-calling", "agent-execution", "multi-turn-conversation"],
    ...["toxicity-detection", "factuality-checking", "quality-scoring"],
  ]);
  assertEquals(shortLeaves("embeddings"), ["text-embeddings", "image-embeddings", "multimodal-embeddings"]);
  assertEquals(shortLeaves("speech"), ["text-to-speech"]);
  assertEquals(shortLeaves("transcription"), ["speech-to-text"]);
  assertEquals(shortLeaves("image"), ["text-to-image"]);
  assertEquals(shortLeaves("image-edit"), ["image-to-image", "inpainting"]);
  assertEquals(shortLeaves("moderation"), ["content-moderation"]);
  assertEquals(shortLeaves("rerank"), ["reranking"]);
  assertEquals(shortLeaves("search"), ["semantic-search", "web-search", "image-search", "code-search"]);
  assertEquals(shortLeaves("documents"), ["document-parsing"]);
});

Deno.test("servesOperation() takes custom leaves by the nodes above them", () => {
  assertEquals(servesOperation("generation.text-generation.poetry", "chat"), true);
  assertEquals(servesOperation("representation.embeddings.sparse", "embeddings"), true);
  assertEquals(servesOperation("legal.contract-review", "chat"), false);
  assertEquals(servesOperation("interaction-design", "chat"), false);
});

Deno.test("no leaf serves two operations", () => {
  const operations: OperationName[] = [
    ...["chat", "embeddings", "speech", "transcription", "image", "image-edit"] as const,
    ...["moderation", "rerank", "search", "documents"] as const,
  ];
  const served = operations.flatMap((operation) => operationLeaves(tree, operation));
  assertEquals(served.length, new Set(served).size);
});

Deno.test("deliveryModes() is the contract's table", () => {
  const modes = Object.fromEntries(tree.leaves().map((leaf) => [tree.shortName(leaf), deliveryModes(leaf).join(" ")]));
  for (const chat of [...shortLeaves("chat"), "text-to-speech"]) assertEquals(modes[chat], "sync stream batch");
  const whole = ["text-to-image", "text-embeddings", "speech-to-text", "document-parsing", "content-moderation"];
  for (const leaf of whole) assertEquals(modes[leaf], "sync batch");
  const others = Object.values(modes).filter((mode) => mode === "sync");
  assertEquals(others.length, tree.leaves().length - whole.length - shortLeaves("chat").length - 1);
  assertEquals(modes["web-search"], "sync");
});
