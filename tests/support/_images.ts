/**
 * A scripted provider of images, and requests for them.
 * @module
 */
import { type Behaviour, json } from "./upstream.ts";

/** Base64 of the image that scripted providers draw. */
export const drawn = "iVBORw0KGgo=";

/** Tokens as models that count them report them. */
export const imageUsage = {
  input_tokens: 20,
  output_tokens: 100,
  total_tokens: 120,
  input_tokens_details: { text_tokens: 20, image_tokens: 0 },
};

/**
 * Images, as many as asked for, in JSON or by a form.
 *
 * @param image What each of them is.
 * @param more More members of the answer.
 */
export function images(image: object = { b64_json: drawn }, more: object = {}): Behaviour {
  return {
    play(exchange) {
      const { request } = exchange;
      const isForm = request.headers["content-type"]!.startsWith("multipart/");
      const text = new TextDecoder().decode(request.bytes);
      const n = isForm ? Number(/name="n"\r\n\r\n(\d+)/.exec(text)?.[1] ?? 1) : request.json().n ?? 1;
      return json({ created: 1, data: Array.from({ length: n }, () => image), ...more }).play(exchange);
    },
  };
}

/** A form with a model, a prompt, and fields of a test's own; undefined removes one. */
export function formOf(fields: Readonly<Record<string, string | Blob | readonly Blob[] | undefined>> = {}): FormData {
  const form = new FormData();
  const picture = new File([new Uint8Array([1, 2, 3])], "room.png", { type: "image/png" });
  for (const [name, value] of Object.entries({ model: "pool", prompt: "a red room", image: picture, ...fields })) {
    for (const one of value === undefined ? [] : [value].flat()) form.append(name, one as string);
  }
  return form;
}
