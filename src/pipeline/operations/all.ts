/**
 * All operations, by name.
 * @module
 */
import type { OperationName } from "../../contracts/provider.ts";
import type { CheckedOperation } from "../operation.ts";
import { audioTranslation } from "./audio_translation.ts";
import { chat } from "./chat.ts";
import { documents } from "./documents.ts";
import { embeddings } from "./embeddings.ts";
import { image } from "./image.ts";
import { imageEdit } from "./image_edit.ts";
import { moderation } from "./moderation.ts";
import { rerank } from "./rerank.ts";
import { search } from "./search.ts";
import { speech } from "./speech.ts";
import { transcription } from "./transcription.ts";

const all = [
  chat,
  embeddings,
  image,
  imageEdit,
  moderation,
  rerank,
  search,
  speech,
  transcription,
  audioTranslation,
  documents,
];

/** The operations available to callers, by name. */
export const operations: ReadonlyMap<OperationName, CheckedOperation> = new Map(
  all.map((operation) => [operation.name, operation as CheckedOperation]),
);
