/**
 * Requests with the structure of Gemini CLI's.
 * @module
 */
import { type AgentFixture, type AgentRequest, found, intention, picture, task } from "./_agent_requests.ts";
import type { Json } from "./_dialects.ts";

const geminiCalls: AgentFixture["calls"] = [
  { id: "call_1", name: "read_file", input: { file_path: "a.txt" } },
  { id: "call_2", name: "read_file", input: { file_path: "b.txt" } },
];

const geminiSampling = { temperature: 1, topP: 0.95, topK: 64 };
const geminiHeaders = { "x-goog-api-key": "token", "user-agent": "GeminiCLI/0.61.0/chat (linux; x64; terminal)" };
const geminiTask = {
  role: "user",
  parts: [{ text: "<session_context>\nThe folder is /work.\n</session_context>" }, { text: task }],
};

/** The client puts a placeholder where a call of another model has no signature. */
const geminiResults = (hasPicture: boolean): readonly Json[] => [
  {
    role: "model",
    parts: [
      { text: intention },
      ...geminiCalls.map(({ id, name, input }, index) => ({
        functionCall: { id, args: input, name },
        ...(index === 0 ? { thoughtSignature: "skip_thought_signature_validator" } : {}),
      })),
    ],
  },
  {
    role: "user",
    parts: [
      ...geminiCalls.map(({ id, name }, index) => {
        const output = index === 1 && hasPicture ? "Binary content provided (1 item(s))." : `${found[index]}\n`;
        return { functionResponse: { id, name, response: { output } } };
      }),
      ...(hasPicture ? [{ inlineData: { data: picture, mimeType: "image/png" } }] : []),
    ],
  },
];

/** Gemini CLI. */
export const geminiCli: AgentFixture = {
  dialect: "gemini",
  calls: geminiCalls,
  request: ({ turn, stream, hasPicture = false, model = "chat" }) => ({
    path: `/v1beta/models/${model}:${stream ? "streamGenerateContent?alt=sse" : "generateContent"}`,
    headers: geminiHeaders,
    body: {
      contents: [geminiTask, ...(turn === 1 ? [] : geminiResults(hasPicture))],
      systemInstruction: { role: "user", parts: [{ text: "You are an agent in a terminal." }] },
      tools: [{
        functionDeclarations: [
          {
            name: "read_file",
            description: "Reads a file.",
            parametersJsonSchema: {
              type: "object",
              properties: { file_path: { type: "string" }, start_line: { type: "integer", minimum: 1 } },
              required: ["file_path"],
            },
          },
          { name: "enter_plan_mode", description: "Plans.", parametersJsonSchema: { type: "object", properties: {} } },
          {
            name: "activate_skill",
            description: "Activates a skill.",
            parametersJsonSchema: {
              $schema: "http://json-schema.org/draft-07/schema#",
              type: "object",
              properties: { name: { type: "string", enum: ["one", "two"] } },
              required: ["name"],
              additionalProperties: false,
            },
          },
        ],
      }],
      generationConfig: { ...geminiSampling, thinkingConfig: { includeThoughts: true } },
    },
  }),
};

/** Gemini CLI's question which model suits a task; its schema has Gemini's types. */
export const geminiHelper: AgentRequest = {
  path: "/v1beta/models/chat:generateContent",
  headers: geminiHeaders,
  body: {
    contents: [{ ...geminiTask, parts: [geminiTask.parts[0]] }, { ...geminiTask, parts: [geminiTask.parts[1]] }],
    systemInstruction: { role: "user", parts: [{ text: "Say how complex the task is." }] },
    generationConfig: {
      ...geminiSampling,
      responseMimeType: "application/json",
      responseJsonSchema: {
        type: "OBJECT",
        properties: { reason: { type: "STRING", description: "Why." }, score: { type: "INTEGER" } },
        required: ["reason", "score"],
      },
      thinkingConfig: { includeThoughts: true, thinkingLevel: "HIGH" },
    },
  },
};

/** The request of Gemini CLI's tool google_web_search. */
export const geminiSearch: AgentRequest = {
  path: "/v1beta/models/chat:generateContent",
  headers: geminiHeaders,
  body: {
    contents: [{ role: "user", parts: [{ text: "first word" }] }],
    systemInstruction: { role: "user", parts: [{ text: "You are an agent in a terminal." }] },
    tools: [{ googleSearch: {} }],
    generationConfig: { temperature: 0, topP: 1, thinkingConfig: { includeThoughts: true, thinkingLevel: "HIGH" } },
  },
};
