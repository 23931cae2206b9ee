/**
 * Moderation, in OpenAI's shape.
 * @module
 */
import type { RequestBody } from "./body.ts";

/** The body of `POST /v1/moderations`. */
export interface ModerationRequest extends RequestBody {
  /** One or several strings, or the text and image parts of one input. */
  input: string | (string | { type: string; text?: string; image_url?: { url: string } })[];
}

/** Categories that are scored for text only. */
export type TextHarm =
  | "harassment"
  | "harassment/threatening"
  | "hate"
  | "hate/threatening"
  | "illicit"
  | "illicit/violent"
  | "sexual/minors";

/** Categories that are scored for text and images. */
export type ImageHarm =
  | "self-harm"
  | "self-harm/instructions"
  | "self-harm/intent"
  | "sexual"
  | "violence"
  | "violence/graphic";

/** The moderation result of one input. */
export interface Moderation {
  /** Whether any category is flagged. */
  flagged: boolean;
  /** Whether each category is flagged. */
  categories: Record<TextHarm | ImageHarm, boolean>;
  /** Score of each category, 0 to 1. */
  category_scores: Record<TextHarm | ImageHarm, number>;
  /** The input types to which each score applies. */
  category_applied_input_types: Record<TextHarm, "text"[]> & Record<ImageHarm, ("text" | "image")[]>;
}

/** The response to a {@linkcode ModerationRequest}. */
export interface ModerationResponse {
  /** The response's id. */
  id: string;
  /** The upstream model id. */
  model: string;
  /** One result per input. */
  results: Moderation[];
  /** Vendor extensions. */
  [key: string]: unknown;
}
