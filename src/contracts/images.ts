/**
 * Image requests and responses, in OpenAI's shape.
 *
 * Source: OpenAI REST API reference, document version 2.3.0.
 * @module
 */
import type { RequestBody } from "./openai.ts";

/** Options that image generation and image editing share. */
export interface ImageOptions extends RequestBody {
  /** Description of the images, or of the edit. */
  prompt: string;
  /** Number of images, 1 to 10. @default {1} */
  n?: number | null;
  /** Width and height in pixels, such as `1024x1024`, or `auto`. */
  size?: string | null;
  /** `low`, `medium`, `high`, `auto`, or a value of the vendor's own. */
  quality?: string | null;
  /** Whether images are returned as URLs or inline. The default depends on the model. */
  response_format?: "url" | "b64_json" | null;
  /** Image format: `png`, `jpeg` or `webp`. */
  output_format?: string | null;
  /** Quality of `jpeg` and `webp`, 0 to 100 percent; 100 is the best. */
  output_compression?: number | null;
  /** Background: `transparent`, `opaque` or `auto`. */
  background?: string | null;
}

/** The body of `POST /v1/images/generations`. */
export interface ImageRequest extends ImageOptions {
  /** `vivid`, `natural`, or a value of the vendor's own. */
  style?: string | null;
}

/** The request of `client.images.edit`. */
export interface ImageEditRequest extends ImageOptions {
  /** The image to edit, or several. A `File` is uploaded with its name. */
  image: Blob | readonly Blob[];
  /** Mask image: its transparent areas mark where the first image is edited. */
  mask?: Blob;
}

/** A generated image. */
export interface GeneratedImage {
  /** URL of the image, valid for a limited time. */
  url?: string;
  /** The image bytes, base64. */
  b64_json?: string;
  /** The prompt as the model revised it. */
  revised_prompt?: string;
}

/** Token usage of an image request. */
export interface ImagesUsage {
  /** Input tokens. */
  input_tokens: number;
  /** Output tokens. */
  output_tokens: number;
  /** Input and output tokens. */
  total_tokens: number;
  /** Input tokens by modality. */
  input_tokens_details: { image_tokens: number; text_tokens: number };
  /** Vendor extensions. */
  [key: string]: unknown;
}

/** The response to an image request. */
export interface ImagesResponse {
  /** Unix time, seconds. */
  created: number;
  /** The images. */
  data: GeneratedImage[];
  /** Token usage, on models that count tokens. */
  usage?: ImagesUsage;
  /** Vendor extensions. */
  [key: string]: unknown;
}
