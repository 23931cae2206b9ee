/**
 * Adapts the instructions of a conversation, `system` and `developer` messages, to a model.
 * @module
 */
import type { ChatMessage, ContentPart } from "../../contracts/openai.ts";
import type { ParameterRules } from "../../contracts/provider.ts";
import { toText } from "../../util/to_text.ts";

/** Separates joined instructions. */
const separator = "\n\n";

/**
 * Sends `developer` messages as `system`, and joins instructions at the start, as the model's rules require.
 *
 * @returns The same list if nothing changes.
 */
export function withInstructions(
  messages: ChatMessage[],
  { developer_role: hasDeveloper, system }: Pick<ParameterRules, "developer_role" | "system">,
): ChatMessage[] {
  if (!Array.isArray(messages)) return messages;
  const renames = hasDeveloper === false && messages.some((message) => message?.role === "developer");
  const renamed = renames
    ? messages.map((message) => message?.role === "developer" ? { ...message, role: "system" as const } : message)
    : messages;
  return system === "first" ? joined(renamed) : renamed;
}

function joined(messages: ChatMessage[]): ChatMessage[] {
  const instructions = messages.filter(isInstruction);
  const isAlone = instructions.length === 1 && instructions[0] === messages[0];
  if (instructions.length === 0 || isAlone) return messages;
  const [first, ...others] = instructions;
  const content = others.length === 0 ? first!.content : joinedContent(instructions);
  return [{ ...first!, content } as ChatMessage, ...messages.filter((message) => !isInstruction(message))];
}

function isInstruction(message: ChatMessage): boolean {
  return message?.role === "system" || message?.role === "developer";
}

/** Texts become one text; parts are kept, in order. */
function joinedContent(instructions: readonly ChatMessage[]): ChatMessage["content"] {
  const contents = instructions.map(({ content }) => content).filter((content) => content !== "" && content != null);
  if (!contents.some(Array.isArray)) return contents.join(separator);
  return contents.flatMap((content): readonly ContentPart[] =>
    Array.isArray(content) ? content : [{ type: "text" as const, text: toText(content) }]
  );
}
