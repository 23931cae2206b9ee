/** `@modelmesh/core/ai-sdk` under Vercel's `ai`: models that embed, draw, speak, listen and rank. */
import { assert, assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { embedMany, generateImage, generateSpeech, rerank, transcribe } from "ai";
import { mesh } from "../../ai_sdk.ts";
import { drawn, images } from "../support/_images.ts";
import { type OperationStage, operationStage } from "../support/_operations.ts";
import { completeResponse, embeddings, json, type Script, status } from "../support/upstream.ts";

/** Two models, of which the first one always fails: what `ai` gets came by a failover. */
function stage(capability: string, script: Script): Promise<OperationStage> {
  const models = Object.fromEntries(["a", "b"].map((name) => [name, { embedding_space: "one" }]));
  return operationStage({ a: status(503), b: script }, {
    capability,
    models: capability === "text-embeddings" ? models : {},
    pool: { retry: { max_attempts: 0 } },
  });
}

describe("the other models of mesh()", () => {
  it("embed", async () => {
    await using scene = await stage("text-embeddings", embeddings());
    const { embeddings: vectors, usage } = await embedMany({
      model: mesh(scene.client).embeddingModel("pool"),
      values: ["red", "green"],
      maxRetries: 0,
    });
    assertEquals(vectors, [[0.1, 0.2, 0.3], [0.1, 0.2, 0.3]]);
    assert(usage.tokens > 0);
  });

  it("draw", async () => {
    await using scene = await stage("text-to-image", images());
    const { images: drawings, warnings } = await generateImage({
      model: mesh(scene.client).imageModel("pool"),
      ...{ prompt: "a red bicycle", n: 2, seed: 3, maxRetries: 0 },
    });
    assertEquals(drawings.map(({ base64 }) => base64), [drawn, drawn]);
    assertEquals(warnings[0], { type: "unsupported", feature: "seed" });
  });

  it("speak", async () => {
    await using scene = await stage("text-to-speech", completeResponse(200, Uint8Array.from([1, 2, 3]), "audio/mpeg"));
    const { audio } = await generateSpeech({
      model: mesh(scene.client).speechModel("pool"),
      ...{ text: "Hi", voice: "alloy", outputFormat: "mp3", maxRetries: 0 },
    });
    assertEquals([...audio.uint8Array], [1, 2, 3]);
  });

  it("listen", async () => {
    const said = {
      text: "Hi",
      language: "english",
      duration: 1.5,
      segments: [{ id: 0, text: "Hi", start: 0, end: 1.5 }],
    };
    await using scene = await stage("speech-to-text", json(said));
    const { text, segments, durationInSeconds } = await transcribe({
      model: mesh(scene.client).transcriptionModel("pool"),
      audio: Uint8Array.from([0x52, 0x49, 0x46, 0x46]),
      providerOptions: { mesh: { response_format: "verbose_json" } },
      maxRetries: 0,
    });
    assertEquals([text, segments, durationInSeconds], ["Hi", [{ text: "Hi", startSecond: 0, endSecond: 1.5 }], 1.5]);
  });

  it("rank", async () => {
    const results = [{ index: 1, relevance_score: 0.9 }, { index: 0, relevance_score: 0.1 }];
    await using scene = await stage("reranking", json({ results }));
    const { ranking } = await rerank({
      model: mesh(scene.client).rerankingModel("pool"),
      ...{ documents: ["a leaf", "a rose"], query: "red", topN: 2, maxRetries: 0 },
    });
    assertEquals(ranking.map(({ originalIndex, score }) => [originalIndex, score]), [[1, 0.9], [0, 0.1]]);
  });
});
