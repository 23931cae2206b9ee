/**
 * Vendors whose APIs allow cross-origin requests (CORS).
 * @module
 */
export { anthropic, gemini, groq, mistral, ollama, openai, openrouter } from "../connectors/browser.ts";
export { openAiCompatible, OpenAiCompatibleProvider } from "../connectors/providers/_openai_compatible.ts";
export type {
  OpenAiCompatible,
  Post,
  PostedRequest,
  VendorOperation,
  VendorOperations,
} from "../connectors/providers/_openai_vendor.ts";
