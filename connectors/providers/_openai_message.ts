/**
 * Messages of OpenAI's dialect as vendors vary them.
 * @module
 */

/**
 * Gives thoughts the name they have in answers of every vendor, and text that comes in parts the form it has there.
 *
 * @param message A message, or a part of one; it is changed.
 * @returns Whether it was another.
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

/** The text of parts of one kind; those of thoughts have parts of their own. */
function textIn(parts: readonly unknown[], kind: string): string {
  return parts.map((part) => {
    const { type, text, thinking } = Object(part);
    if (type !== kind) return "";
    if (kind === "text") return typeof text === "string" ? text : "";
    return Array.isArray(thinking) ? textIn(thinking, "text") : typeof thinking === "string" ? thinking : "";
  }).join("");
}
