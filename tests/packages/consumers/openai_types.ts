// Types of the package `openai` go into a client, and its responses go where that package's are expected. Compiled, not run.
import type OpenAI from "openai";
import { create } from "@modelmesh/core";

const client = create("chat-completion");

export async function chats(
  whole: OpenAI.Chat.ChatCompletionCreateParamsNonStreaming,
  streamed: OpenAI.Chat.ChatCompletionCreateParamsStreaming,
  either: OpenAI.Chat.ChatCompletionCreateParams,
): Promise<OpenAI.Chat.ChatCompletion> {
  const answer: OpenAI.Chat.ChatCompletion = await client.chat.completions.create(whole);
  const messages: OpenAI.Chat.ChatCompletionMessageParam[] = [...whole.messages];
  const choice = answer.choices[0];
  if (choice !== undefined) messages.push(choice.message);
  await client.chat.completions.create({ messages, model: "chat" });
  for await (const chunk of await client.chat.completions.create(streamed)) take(chunk);
  await client.chat.completions.create(either);
  const own = await client.chat.completions.create({ messages });
  for (const { message } of own.choices) messages.push(message);
  return own;
}

declare function take(chunk: OpenAI.Chat.ChatCompletionChunk): void;

export async function others(
  embedding: OpenAI.EmbeddingCreateParams,
  moderation: OpenAI.ModerationCreateParams,
  image: OpenAI.ImageGenerateParams & { stream?: false | null },
  speech: OpenAI.Audio.SpeechCreateParams,
): Promise<void> {
  const vectors: OpenAI.CreateEmbeddingResponse = await client.embeddings.create(embedding);
  const moderated: OpenAI.ModerationCreateResponse = await client.moderations.create(moderation);
  const images: OpenAI.ImagesResponse = await client.images.generate(image);
  const sound: Response = await client.audio.speech.create(speech);
  console.log(vectors.data.length, moderated.results.length, images.data?.length, sound.status);
}

export async function responds(
  whole: OpenAI.Responses.ResponseCreateParamsNonStreaming,
  streamed: OpenAI.Responses.ResponseCreateParamsStreaming,
): Promise<string> {
  const response = await client.responses.create(whole);
  for await (const event of await client.responses.create(streamed)) console.log(event.type);
  return response.output_text;
}

export async function sounds(params: OpenAI.Audio.TranscriptionCreateParamsNonStreaming, file: File): Promise<string> {
  const heard: OpenAI.Audio.Transcription = await client.audio.transcriptions.create({ file, model: "m" });
  const translated: OpenAI.Audio.Translation = await client.audio.translations.create({ file, language: "de" });
  console.log(params.model, translated.text);
  return heard.text;
}

export async function keeps(
  upload: Omit<OpenAI.FileCreateParams, "file"> & { file: File | Response },
  batch: OpenAI.BatchCreateParams,
  tuning: OpenAI.FineTuning.JobCreateParams,
  finished: OpenAI.Batch,
): Promise<void> {
  const { purpose, ...file } = await client.files.create(upload);
  // the oldest of these packages does not know all purposes yet
  const uploaded: Omit<OpenAI.FileObject, "purpose"> = file;
  const known: Exclude<typeof purpose, "user_data"> extends OpenAI.FileObject["purpose"] ? true : never = true;
  const listed: OpenAI.FileListParams = { purpose, order: "asc", limit: 1 };
  await client.files.list(listed as { purpose: string });
  let made: OpenAI.Batch = await client.batches.create(batch);
  made = await client.batches.retrieve(made.id);
  const job: OpenAI.FineTuning.FineTuningJob = await client.fineTuning.jobs.create(tuning);
  console.log(uploaded.status, known, made.output_file_id, finished.errors?.data?.[0]?.code, job.status);
}
