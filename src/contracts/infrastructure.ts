/**
 * Files, batches and fine-tuning jobs: what a vendor keeps between calls. Shapes are OpenAI's.
 *
 * Source: OpenAI REST API reference, document version 2.3.0.
 * @module
 */
import type { CallOptions, ResponseContent } from "./call.ts";
import type { JsonObject } from "./openai.ts";

/** What a file is for. */
export type FilePurpose =
  | "assistants"
  | "assistants_output"
  | "batch"
  | "batch_output"
  | "fine-tune"
  | "fine-tune-results"
  | "user_data"
  | "vision";

/** A file at a provider. */
export interface FileObject extends JsonObject {
  /** Its id. */
  id: string;
  /** Always `file`. */
  object: "file";
  /** Its size. */
  bytes: number;
  /** Seconds since 1970. */
  created_at: number;
  /** Its name. */
  filename: string;
  /** What it is for. */
  purpose: FilePurpose;
  /** `processed`, where a provider does not say. */
  status: "uploaded" | "processed" | "error";
  /** Seconds since 1970. */
  expires_at?: number;
}

/** The states of a batch; the last four are its end. */
export type BatchStatus =
  | "validating"
  | "in_progress"
  | "finalizing"
  | "cancelling"
  | "completed"
  | "failed"
  | "expired"
  | "cancelled";

/** What is wrong with a batch. */
export interface BatchError {
  /** Its name. */
  code?: string;
  /** In words. */
  message?: string;
  /** The parameter at fault. */
  param?: string | null;
  /** The line of the file, the first one being 1. */
  line?: number | null;
}

/** A batch at a provider. */
export interface Batch extends JsonObject {
  /** Its id. */
  id: string;
  /** Always `batch`. */
  object: "batch";
  /** What its lines ask for, such as `/v1/chat/completions`. */
  endpoint: string;
  /** The file with its requests. */
  input_file_id: string;
  /** Within which time it is to be done, such as `24h`. */
  completion_window: string;
  /** Its state. */
  status: BatchStatus;
  /** Seconds since 1970. */
  created_at: number;
  /** The file with its responses, once there are any. */
  output_file_id?: string;
  /** The file with its failed requests, once there are any. */
  error_file_id?: string;
  /** Why it failed as a whole. */
  errors?: { object?: string; data?: BatchError[] };
  /** How many requests it has, and what became of them. */
  request_counts?: { total: number; completed: number; failed: number };
  /** The caller's own facts. */
  metadata?: Record<string, string> | null;
}

/** The states of a fine-tuning job; the last three are its end. */
export type FineTuningStatus = "validating_files" | "queued" | "running" | "succeeded" | "failed" | "cancelled";

/** A fine-tuning job at a provider. */
export interface FineTuningJob extends JsonObject {
  /** Its id. */
  id: string;
  /** Always `fine_tuning.job`. */
  object: "fine_tuning.job";
  /** The model that is tuned. */
  model: string;
  /** The tuned model's id, once it exists. */
  fine_tuned_model: string | null;
  /** The file it learns from. */
  training_file: string;
  /** The file it is tested with. */
  validation_file: string | null;
  /** Files with its results. */
  result_files: string[];
  /** Its state. */
  status: FineTuningStatus;
  /** Seconds since 1970. */
  created_at: number;
  /** Its end, seconds since 1970. */
  finished_at: number | null;
  /** Why it failed. */
  error: { code: string; message: string; param: string | null } | null;
  /** How it learns. */
  hyperparameters: {
    batch_size?: "auto" | number | null;
    learning_rate_multiplier?: "auto" | number;
    n_epochs?: "auto" | number;
  };
  /** Tokens it has learnt from, once it is over. */
  trained_tokens: number | null;
  /** What makes it repeatable. */
  seed: number;
  /** The account's organization at the vendor. */
  organization_id: string;
}

/** A page of a list. */
export interface ObjectPage<Item = JsonObject> extends JsonObject {
  /** Always `list`. */
  object: "list";
  /** The page. */
  data: Item[];
  /** The id of the first one. */
  first_id?: string | null;
  /** The id of the last one: what the next page comes after. */
  last_id?: string | null;
  /** Whether there are more. */
  has_more: boolean;
}

/** What is uploaded; no more of its content is in memory than what is on its way. */
export interface FileUpload {
  /** Its name. */
  readonly name: string;
  /** Media type. */
  readonly type: string;
  /** Read once, no faster than the provider takes it. */
  readonly content: AsyncIterable<Uint8Array>;
  /** Further fields of the form, such as `purpose`: those that are known before the content is read. */
  readonly fields: Readonly<Record<string, string>>;
  /** Those that are known afterwards; called once. */
  readonly laterFields: () => Promise<Readonly<Record<string, string>>>;
}

/** What is asked for when a batch is made; files by the provider's own ids. */
export interface BatchRequest {
  /** The file with its requests. */
  input_file_id: string;
  /** What its lines ask for. */
  endpoint: string;
  /** Within which time it is to be done. */
  completion_window: string;
  /** The caller's own facts. */
  metadata?: Record<string, string> | null;
  /** When the files with its results expire, seconds after they were made. */
  output_expires_after?: { anchor: "created_at"; seconds: number };
}

/** What is asked for when a model is tuned; files and model by the provider's own ids. */
export interface FineTuneRequest {
  /** The model. */
  model: string;
  /** What it learns from. */
  training_file: string;
  /** What it is tested with. */
  validation_file?: string | null;
  /** How it learns: `supervised`, `dpo` or `reinforcement`, with its settings. */
  method?: { type: "supervised" | "dpo" | "reinforcement" };
  /** How it learns, where `method` does not say. */
  hyperparameters?: {
    batch_size?: "auto" | number;
    learning_rate_multiplier?: "auto" | number;
    n_epochs?: "auto" | number;
  };
  /** Services that get its progress, too. */
  integrations?: readonly { type: string }[] | null;
  /** What makes it repeatable. */
  seed?: number | null;
  /** Part of the tuned model's name. */
  suffix?: string | null;
  /** The caller's own facts. */
  metadata?: Record<string, string> | null;
}

/** What can be done to a fine-tuning job. */
export type FineTuneAction = "cancel" | "pause" | "resume";

/** What a vendor keeps: data, so that it can be read without a call. */
export interface InfrastructureFacts {
  /** It keeps files. */
  readonly files?: {
    /** Of one file, bytes. */
    readonly maxBytes?: number;
  };
  /** It takes batches. */
  readonly batch?: {
    /** Requests of one batch. */
    readonly maxItems?: number;
    /** Of one batch's file, bytes. */
    readonly maxBytes?: number;
    /** Price relative to that of single requests. @default {1} */
    readonly priceFactor?: number;
  };
  /** It tunes models. */
  readonly fineTuning?: true;
}

/**
 * Spec: Infrastructure. Its calls throw as `complete` of a provider does. Ids are the provider's own; an account sees its
 * own objects only.
 */
export interface Infrastructure {
  /** What it has. */
  readonly facts: InfrastructureFacts;
  /** Uploads a file. */
  uploadFile(upload: FileUpload, options: CallOptions): Promise<FileObject>;
  /** A file's facts. */
  retrieveFile(id: string, options: CallOptions): Promise<FileObject>;
  /** A file's content, as it arrives. */
  fileContent(id: string, options: CallOptions): Promise<ResponseContent>;
  /** Deletes a file. */
  deleteFile(id: string, options: CallOptions): Promise<void>;
  /** Makes a batch. */
  submitBatch(request: BatchRequest, options: CallOptions): Promise<Batch>;
  /** A batch as it is now. */
  retrieveBatch(id: string, options: CallOptions): Promise<Batch>;
  /** Asks for the end of a batch. */
  cancelBatch(id: string, options: CallOptions): Promise<Batch>;
  /** Starts a fine-tuning job. */
  createFineTune(request: FineTuneRequest, options: CallOptions): Promise<FineTuningJob>;
  /** A job as it is now. */
  retrieveFineTune(id: string, options: CallOptions): Promise<FineTuningJob>;
  /** Cancels, pauses or resumes a job. */
  changeFineTune(id: string, action: FineTuneAction, options: CallOptions): Promise<FineTuningJob>;
  /**
   * What a job has done, or its checkpoints.
   *
   * @param path Its id, what of it, and the query as it came: `ftjob-1/events?limit=2`.
   */
  listOfFineTune(path: string, options: CallOptions): Promise<ObjectPage>;
}
