/**
 * Percent-decodes a path segment.
 * @module
 */

/** Percent-decodes a path segment. A malformed segment is returned as it is. */
export function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
