/**
 * Moderation, in OpenAI's shape.
 * @module
 */
import type { RequestBody } from "./body.ts";

/** The body of `POST /v1/moderations`. */
export interface ModerationRequest extends RequestBody {
  /** One text or several, or the texts and images of one input. */
  input: string | (string | { type: string; text?: string; image_url?: { url: string } })[];
}

/** What only texts are examined for. */
export type TextHarm =
  | "harassment"
  | "harassment/threatening"
  | "hate"
  | "hate/threatening"
  | "illicit"
  | "illicit/violent"
  | "sexual/minors";

/** What images are examined for, too. */
export type ImageHarm =
  | "self-harm"
  | "self-harm/instructions"
  | "self-harm/intent"
  | "sexual"
  | "violence"
  | "violence/graphic";

/** What in one input is harmful. */
export interface Moderation {
  /** Whether any category applies. */
  flagged: boolean;
  /** Whether a category applies, by its name. */
  categories: Record<TextHarm | ImageHarm, boolean>;
  /** How sure that is, 0 to 1, by the same names. */
  category_scores: Record<TextHarm | ImageHarm, number>;
  /** To which kinds of input a score applies. */
  category_applied_input_types: Record<TextHarm, "text"[]> & Record<ImageHarm, ("text" | "image")[]>;
}

/** The response to a {@linkcode ModerationRequest}. */
export interface ModerationResponse {
  /** The response's id. */
  id: string;
  /** The concrete model, as its provider names it. */
  model: string;
  /** One for each input. */
  results: Moderation[];
  /** What else a vendor adds. */
  [key: string]: unknown;
}
