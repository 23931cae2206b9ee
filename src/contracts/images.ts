/**
 * Requests for images and their responses, in OpenAI's shape.
 *
 * Source: OpenAI REST API reference, document version 2.3.0.
 * @module
 */
import type { RequestBody } from "./openai.ts";

/** What requests for new and for edited images have in common. */
export interface ImageOptions extends RequestBody {
  /** What the images show, or how they are changed. */
  prompt: string;
  /** How many, 1 to 10. @default {1} */
  n?: number | null;
  /** Width and height in pixels, such as `1024x1024`, or `auto`. */
  size?: string | null;
  /** `low`, `medium`, `high`, `auto`, or one of the vendor's own. */
  quality?: string | null;
  /** How images come back. As the model does it, when left out: models differ. */
  response_format?: "url" | "b64_json" | null;
  /** `png`, `jpeg` or `webp`. */
  output_format?: string | null;
  /** For `jpeg` and `webp`, percent: 100 is the best. */
  output_compression?: number | null;
  /** `transparent`, `opaque` or `auto`. */
  background?: string | null;
}

/** The body of `POST /v1/images/generations`. */
export interface ImageRequest extends ImageOptions {
  /** `vivid`, `natural`, or one of the vendor's own. */
  style?: string | null;
}

/** The request of `client.images.edit`. */
export interface ImageEditRequest extends ImageOptions {
  /** The image to edit, or several; a `File` is sent with its name. */
  image: Blob | readonly Blob[];
  /** An image whose transparent areas are where the first one is edited. */
  mask?: Blob;
}

/** An image. */
export interface GeneratedImage {
  /** Where it can be fetched, for a while. */
  url?: string;
  /** Its bytes, in Base64. */
  b64_json?: string;
  /** The prompt as the model understood it. */
  revised_prompt?: string;
}

/** Tokens that images took. */
export interface ImagesUsage {
  /** Tokens read. */
  input_tokens: number;
  /** Tokens of the images made. */
  output_tokens: number;
  /** Both together. */
  total_tokens: number;
  /** Of those read: how many were of images, and how many of the text. */
  input_tokens_details: { image_tokens: number; text_tokens: number };
  /** What else a vendor adds. */
  [key: string]: unknown;
}

/** The response to a request for images. */
export interface ImagesResponse {
  /** Unix time, seconds. */
  created: number;
  /** The images. */
  data: GeneratedImage[];
  /** `{input_tokens, output_tokens, total_tokens, …}`, where the model counts tokens. */
  usage?: ImagesUsage;
  /** What else a vendor adds. */
  [key: string]: unknown;
}
