/**
 * Images by Cloudflare Workers AI: one image, by the API of its own.
 *
 * Source: developers.cloudflare.com/workers-ai/models/flux-1-schnell.
 * @module
 */
import { checkIsOne, type ImageDialect, without } from "./_image_dialect.ts";

/** Members that none of its models has; the others, such as `steps`, go to it as they are. */
const refused = ["size", "quality", "style", "moderation", "background", "output_format", "output_compression"];
/** Members of a request that say nothing of the image. */
const neutral = ["model", "n", "response_format", "user"];

/** New images. */
export const cloudflareImages: ImageDialect = {
  pathOf: (model) => `../run/${model}`,
  write(request) {
    checkIsOne(request);
    const { body, dropped } = without(request.body, refused);
    return { body: without(body, neutral).body, dropped };
  },
  imagesIn: ({ result }) => [{ b64_json: Object(result).image }],
};
