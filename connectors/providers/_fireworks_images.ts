/**
 * Image generation on Fireworks AI: one image per request, through the model's workflow endpoint.
 *
 * Source: docs.fireworks.ai/api-reference/generate-a-new-image-from-a-text-prompt.
 * @module
 */
import { checkIsOne, findAspectRatio, type ImageDialect, omitNames } from "./_image_dialect.ts";

const ratios = ["1:1", "21:9", "16:9", "3:2", "5:4", "4:5", "2:3", "9:16", "9:21", "4:3", "3:4"];
const refused = ["quality", "style", "moderation", "background", "output_format", "output_compression"];
/** Members that do not affect the image, or are translated. */
const neutral = ["model", "n", "response_format", "user", "size"];

/** Image generation. */
export const fireworksImages: ImageDialect = {
  toPath: (model) => `workflows/${model.split("/").map(encodeURIComponent).join("/")}/text_to_image`,
  headers: { accept: "application/json" },
  write(request) {
    checkIsOne(request);
    const { body, dropped } = omitNames(request.body, refused);
    const ratio = findAspectRatio(request.body.size, ratios);
    const more = ratio === undefined ? {} : { aspect_ratio: ratio };
    return { body: { ...omitNames(body, neutral).body, ...more }, dropped };
  },
  // one image or a list of one; as base64 or as a data URL
  imagesIn: ({ base64 }) =>
    [base64].flat().map((image) => ({
      b64_json: typeof image === "string" ? image.replace(/^data:[^,]*,/, "") : image,
    })),
};
