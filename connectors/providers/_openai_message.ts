/**
 * Normalizes vendors' variations of OpenAI's messages.
 * @module
 */

/**
 * Renames reasoning to `reasoning_content`, and joins text that comes as parts.
 *
 * @param message A message or a delta; modified in place.
 * @returns Whether it was modified.
 */
export function nameThoughts(
  message: { content?: unknown; reasoning?: unknown; reasoning_content?: string | null },
): boolean {
  const { content, reasoning } = message;
  if (Array.isArray(content)) {
    const thoughts = textIn(content, "thinking");
    message.content = textIn(content, "text");
    if (thoughts !== "") message.reasoning_content = thoughts;
    return true;
  }
  if (typeof reasoning !== "string" || message.reasoning_content !== undefined) return false;
  message.reasoning_content = reasoning;
  delete message.reasoning;
  return true;
}

/** Joins the text of parts of one type; reasoning has parts of its own type. */
function textIn(parts: readonly unknown[], kind: string): string {
  return parts.map((part) => {
    const { type, text, thinking } = Object(part);
    if (type !== kind) return "";
    if (kind === "text") return typeof text === "string" ? text : "";
    return Array.isArray(thinking) ? textIn(thinking, "text") : typeof thinking === "string" ? thinking : "";
  }).join("");
}
