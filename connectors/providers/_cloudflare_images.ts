/**
 * Image generation on Cloudflare Workers AI: one image per request, through its native API.
 *
 * Source: developers.cloudflare.com/workers-ai/models/flux-1-schnell.
 * @module
 */
import { checkIsOne, type ImageDialect, omitNames } from "./_image_dialect.ts";

/** Members that no model supports; others, such as `steps`, are passed through. */
const refused = ["size", "quality", "style", "moderation", "background", "output_format", "output_compression"];
/** Members that do not affect the image. */
const neutral = ["model", "n", "response_format", "user"];

/** Image generation. */
export const cloudflareImages: ImageDialect = {
  toPath: (model) => `../run/${model}`,
  write(request) {
    checkIsOne(request);
    const { body, dropped } = omitNames(request.body, refused);
    return { body: omitNames(body, neutral).body, dropped };
  },
  imagesIn: ({ result }) => [{ b64_json: Object(result).image }],
};
