/**
 * The common part of image generation and image editing.
 * @module
 */
import type { BilledUsage } from "../../contracts/usage.ts";
import type { GeneratedImage, ImageOptions, ImagesResponse } from "../../contracts/images.ts";
import type { RequestBody } from "../../contracts/openai.ts";
import type { CompletionResponse, ModelInfo, UploadedFile } from "../../contracts/provider.ts";
import { UpstreamError } from "../../errors.ts";
import type { ModelEntry } from "../../registry/registry.ts";
import { parseDataUrl } from "../../util/data_url.ts";
import { addText, emptyText } from "../request_size.ts";
import { checkOptional, invalid, isNonNegativeInteger, missing, wrongType } from "../check_body.ts";
import { countTokens } from "../estimate.ts";
import type { RequestNeeds, ResponseUsage, Rewording, TakenUsage, UsageContext } from "../operation.ts";
import { refusedBy } from "./_chat_lacks.ts";
import { dropRefused } from "./_rewording.ts";

const stringMembers = ["size", "quality", "output_format", "background", "moderation"] as const;

/** Members of image requests, except those common to all operations. */
export const imageMembers: readonly string[] = [
  ...stringMembers,
  "prompt",
  "n",
  "response_format",
  "output_compression",
];

const maxImages = 10;
const forms: readonly unknown[] = ["url", "b64_json"];

/**
 * Output tokens for a square of 1 024 pixels a side, by quality; other qualities count as the highest. Other sizes
 * count in proportion to their area: 1 056 becomes 1 584 for 1 024 × 1 536.
 *
 * Source: developers.openai.com, image generation guide, table of output tokens.
 */
const tokensPerSquare: Readonly<Record<string, number>> = { low: 272, medium: 1_056 };
const maxTokensPerSquare = 4_160;
const squarePixels = 1_024 * 1_024;
/** The area if the request leaves the size to the model, in squares. */
const unknownArea = 1.5;

/**
 * Validates the common members of image requests.
 *
 * @throws {UnsupportedRequestError} With the invalid field.
 */
export function checkImageOptions(body: RequestBody): void {
  const { prompt, response_format: form } = body;
  if (prompt === undefined || prompt === null) throw missing("prompt");
  if (typeof prompt !== "string") throw wrongType("prompt", "a string", prompt);
  if (prompt.trim() === "") throw invalid('"prompt" must not be empty', "prompt");
  for (const name of stringMembers) {
    checkOptional(body, {
      name,
      expected: "a string",
      isValid: (value) => typeof value === "string",
    });
  }
  checkOptional(body, {
    name: "n",
    expected: `an integer from 1 to ${maxImages}`,
    isValid: (value) => isNonNegativeInteger(value) && value > 0 && value <= maxImages,
  });
  checkOptional(body, {
    name: "output_compression",
    expected: "an integer from 0 to 100",
    isValid: (value) => isNonNegativeInteger(value) && value <= 100,
  });
  checkOptional(body, { name: "stream", expected: "a boolean", isValid: (value) => typeof value === "boolean" });
  if (form !== undefined && form !== null && !forms.includes(form)) {
    throw invalid('"response_format" has to be "url" or "b64_json"', "response_format");
  }
}

/**
 * Estimates the usage of a request, high.
 *
 * @param body A validated body.
 * @param files Images in the request.
 */
export function needsOfImages(body: ImageOptions, files: readonly UploadedFile[]): RequestNeeds {
  const { prompt, n } = body;
  const text = emptyText();
  addText(prompt, text);
  const images = n ?? 1;
  const imageInput = Math.ceil(files.length * maxTokensPerSquare * unknownArea);
  const output = images * tokensPerImage(body);
  return {
    load: {
      input: Math.ceil(countTokens(text)) + imageInput,
      output,
      units: { images, imageInput, imageOutput: output },
    },
    findLack: (model) => findImageLack(model, body, files),
  };
}

function tokensPerImage({ size, quality }: ImageOptions): number {
  const [, width, height] = /^(\d{1,5})x(\d{1,5})$/.exec(size ?? "") ?? [];
  const area = width === undefined ? unknownArea : Number(width) * Number(height) / squarePixels;
  return Math.ceil((tokensPerSquare[quality ?? ""] ?? maxTokensPerSquare) * Math.max(1, area));
}

function findImageLack(
  { constraints, parameters, response_formats: formats = [] }: ModelInfo,
  body: ImageOptions,
  files: readonly UploadedFile[],
): string | undefined {
  const { response_format: form } = body;
  if (form && formats.length > 0 && !formats.includes(form)) return `response_format "${form}"`;
  const largest = Math.max(0, ...files.map(({ bytes }) => bytes.length));
  if (largest > (constraints?.max_file_size ?? Infinity)) return `room for a file of ${largest} bytes`;
  if (files.length > (constraints?.max_images ?? Infinity)) return `room for ${files.length} images`;
  return refusedBy(parameters, body);
}

/** Removes `response_format` for a model with only one form, since some reject the parameter. */
export function rewordForImages(body: ImageOptions, model: ModelEntry): Rewording {
  const { edits, dropped } = dropRefused(body, model);
  const isOnlyForm = model.info.response_formats?.length === 1 && "response_format" in body;
  return { edits: isOnlyForm ? { ...edits, response_format: undefined } : edits, dropped };
}

/**
 * Returns images in the requested form. A data URL contains the bytes of `b64_json`.
 *
 * @throws {UpstreamError} `invalid_response` if the provider chose another form.
 */
export function inRequestedForm(
  response: CompletionResponse<ImagesResponse>,
  { response_format: form }: ImageOptions,
): CompletionResponse<ImagesResponse> {
  const { body } = response;
  if (!form || body.data.every((image) => typeof image[form] === "string")) return response;
  return { body: { ...body, data: body.data.map((image) => form === "url" ? wrongForm() : withBytes(image)) } };
}

function withBytes({ url, ...image }: GeneratedImage): GeneratedImage {
  if (image.b64_json !== undefined) return image;
  const parsed = parseDataUrl(url ?? "");
  return parsed === undefined ? wrongForm() : { ...image, b64_json: parsed.data };
}

function wrongForm(): never {
  throw new UpstreamError("The provider's images are not in the form asked for", { kind: "invalid_response" });
}

/** Counts images, in addition to the reported tokens. */
export function usageInImages({ data, usage }: ImagesResponse): ResponseUsage {
  // the results of a batch may be errors
  return { usage: { images: data?.length ?? 0, reported: usage }, written: () => 0 };
}

/**
 * Returns images, and tokens if the model counts them. Tokens are estimated only if the price depends on them.
 *
 * @param answer The result of {@linkcode usageInImages}.
 */
export function readImageUsage({ usage }: ResponseUsage, { model, load }: UsageContext<ImageOptions>): TakenUsage {
  const { images, reported } = Object(usage);
  const { input_tokens: read, output_tokens: written } = Object(reported);
  if (isNonNegativeInteger(read) && isNonNegativeInteger(written) && read + written <= maxTokens) {
    const quantities = { ...readImageParts(reported, { read, written }), input: read, output: written, images };
    return { quantities, tokens: read + written, isEstimated: false };
  }
  const { output: price, image_output = price } = model.pricing?.at(-1) ?? {};
  const isPaidByTokens = image_output !== undefined;
  const quantities = isPaidByTokens ? { input: load.input, output: load.output ?? 0 } : { input: 0, output: 0 };
  return {
    quantities: { ...load.units, ...quantities, images },
    tokens: quantities.input + quantities.output,
    isEstimated: isPaidByTokens,
  };
}

/** Output without details consists of images. */
function readImageParts(
  usage: unknown,
  { read, written }: { readonly read: number; readonly written: number },
): BilledUsage {
  const { input_tokens_details: input, output_tokens_details: output } = Object(usage);
  const { image_tokens, cached_tokens, cached_tokens_details: kinds } = Object(input);
  const { image_tokens: drawn = written } = Object(output);
  const part = (value: unknown, most: number) => isNonNegativeInteger(value) && value <= most ? value : undefined;
  return {
    imageInput: part(image_tokens, read),
    imageOutput: part(drawn, written),
    cached: part(cached_tokens, read),
    cachedImage: part(Object(kinds).image_tokens, read),
  };
}

/** A bound above the tokens of ten images. */
const maxTokens = 10_000_000;
