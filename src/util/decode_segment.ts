/**
 * Percent-decoding of a part of a path.
 * @module
 */

/** The text that a part of a path stands for; with a stray percent sign it stands for itself. */
export function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
