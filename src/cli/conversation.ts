/**
 * The conversation of `modelmesh chat` at a terminal.
 * @module
 */
import { MeshError } from "../errors.ts";
import type { CommandParts } from "./command.ts";
import { paintFor } from "./table.ts";

/** A message of a chat. */
export interface ChatMessage {
  readonly role: "system" | "user" | "assistant";
  readonly content: string;
}

/** A chat request. */
export interface ChatBody {
  readonly model: string;
  readonly messages: readonly ChatMessage[];
}

/** Options of a streamed request. */
export interface StreamedAsk {
  /** Cancels it. */
  readonly signal?: AbortSignal;
  /** Called with each part of the response. */
  readonly onText?: (text: string) => void;
}

/** Beginning of a conversation. */
interface Conversation {
  readonly model: string;
  /** Messages before the first line. */
  readonly before: readonly ChatMessage[];
  /** Sends a request, and prints the response. */
  readonly ask: (body: ChatBody, options: StreamedAsk) => Promise<void>;
}

/**
 * Sends each line that is typed, with what was said before it, until the input ends. A failed request ends neither the
 * conversation nor becomes a part of it; of a response that is stopped, what has been printed does.
 */
export async function converse(
  { model, before, ask }: Conversation,
  { shell, runtime }: Pick<CommandParts, "shell" | "runtime">,
): Promise<void> {
  const { stderr } = shell;
  const { dim, bad } = paintFor(stderr, runtime);
  stderr.write(`${dim(`Conversation with ${model}. Ctrl-C stops a response, Ctrl-D ends the conversation`)}\n`);
  const messages = [...before];
  for (let line = await shell.readLine("> "); line !== undefined; line = await shell.readLine("> ")) {
    if (line.trim() === "") continue;
    const question = { role: "user", content: line } as const;
    const stop = new AbortController();
    const cancel = shell.onSignal(["SIGINT"], () => stop.abort());
    let content = "";
    let isPart = true;
    try {
      await ask({ model, messages: [...messages, question] }, {
        signal: stop.signal,
        onText: (text) => void (content += text),
      });
    } catch (error) {
      isPart = stop.signal.aborted && content !== "";
      stderr.write(stop.signal.aborted ? `\n${dim("Stopped")}\n` : `${bad(toMessage(error))}\n`);
    } finally {
      cancel();
    }
    if (isPart) messages.push(question, { role: "assistant", content });
  }
}

/** @throws Any error that is a fault of this program. */
function toMessage(error: unknown): string {
  if (!MeshError.isInstance(error)) throw error;
  return error.message;
}
