/**
 * The operation `image`: images from text.
 * @module
 */
import { servesOperation } from "../../capability/operations.ts";
import type { ImageRequest, ImagesResponse } from "../../contracts/images.ts";
import { bodyChecker, checkOptional } from "../check_body.ts";
import type { CheckedOperation } from "../operation.ts";
import {
  checkImageOptions,
  imageMembers,
  inRequestedForm,
  needsOfImages,
  readImageUsage,
  rewordForImages,
  usageInImages,
} from "./_images.ts";

const checkMembers = bodyChecker([...imageMembers, "style"]);

/** Image generation: complete responses. */
export const image: CheckedOperation<ImageRequest, ImagesResponse> = {
  name: "image",
  serves: (leaf) => servesOperation(leaf, "image"),
  check(value) {
    const body = checkMembers(value);
    checkImageOptions(body);
    checkOptional(body, { name: "style", expected: "a string", isValid: (value) => typeof value === "string" });
    return body as unknown as ImageRequest;
  },
  measureNeeds: (body) => needsOfImages(body, []),
  reword: rewordForImages,
  finish: inRequestedForm,
  isEmpty: ({ data }) => data.length === 0,
  usageIn: usageInImages,
  readUsage: readImageUsage,
};
